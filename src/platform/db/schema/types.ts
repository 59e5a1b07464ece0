import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';

/** A table whose rows have an id and belong to an account. */
export type AccountTable = SQLiteTable & { id: SQLiteColumn; accountId: SQLiteColumn };

/** What an account may add a day, where operators have set that. */
export type Quotas = { records?: number; bytes?: number; deliveries?: number };

/** What is encrypted: as in `crypto.ts`, which Node programs cannot import. */
export type Sealed = { key: string; iv: string; data: string };

/** A level of an accident, and when it was first received. */
export type ReceivedLevel = { notificationLevel: number; receivedAt: string };
