import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';

/** A table whose rows have an id and belong to an account. */
export type AccountTable = SQLiteTable & { id: SQLiteColumn; accountId: SQLiteColumn };

/** What an account may add a day, and how many requests a minute its tokens may make, where operators have set that. */
export type Quotas = {
  records?: number;
  bytes?: number;
  deliveries?: number;
  requestsPerMinute?: number;
};

/** A row's position in a list. */
type Position = { sort: number; id: string };

/** A file of an archived day: some thousands of its rows, in order. Files never change. */
export type ArchivedFile = {
  file: string;
  rows: number;
  bytes: number;
  first: Position;
  last: Position;
};

/** Which lists are exported, in which formats, and from when (inclusive) until when (exclusive), in RFC 3339. */
export type WantedExport = {
  lists: string[];
  formats: ('csv' | 'parquet')[];
  from?: string | undefined;
  to?: string | undefined;
};

/** Where an export goes on: in which of its lists, in a page of a connection or after it. */
export type ExportPlace = {
  list?: number;
  connection?: Position | undefined;
  cursor?: string | undefined;
};

/** A file of an export, such as `trips.parquet`, with the bytes of all its pieces. */
export type ExportFile = { name: string; records: number; bytes: number; pieces: number };

/** Of a connection: 1 healthy, 2 warning, 3 unavailable, 4 degraded. */
export type HealthStatus = 1 | 2 | 3 | 4;

/** What is encrypted: as in `crypto.ts`, which Node programs cannot import. */
export type Sealed = { key: string; iv: string; data: string };

/** A level of an accident, and when it was first received. */
export type ReceivedLevel = { notificationLevel: number; receivedAt: string };
