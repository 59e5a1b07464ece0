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

/** Of a connection: 1 healthy, 2 warning, 3 unavailable, 4 degraded. */
export type HealthStatus = 1 | 2 | 3 | 4;

/** What is encrypted: as in `crypto.ts`, which Node programs cannot import. */
export type Sealed = { key: string; iv: string; data: string };

/** A level of an accident, and when it was first received. */
export type ReceivedLevel = { notificationLevel: number; receivedAt: string };
