import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

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
  connection?: { sort: number; id: string } | undefined;
  cursor?: string | undefined;
};

/** A file of an export, such as `trips.parquet`, with the bytes of all its pieces. */
export type ExportFile = { name: string; records: number; bytes: number; pieces: number };

export const exports = sqliteTable(
  'exports',
  {
    id: text().primaryKey(),
    accountId: text('account_id').notNull(),
    /** A user, or an API token. */
    requestedBy: text('requested_by').notNull(),
    /** The only connections that it has; null: all of the account. */
    connectionIds: text('connection_ids', { mode: 'json' }).$type<string[]>(),
    requestedAt: integer('requested_at').notNull(),
    /** Lists, days and formats. */
    wanted: text({ mode: 'json' }).$type<WantedExport>().notNull(),
    /** How far it has come. */
    place: text({ mode: 'json' }).$type<ExportPlace>().notNull().default({}),
    files: text({ mode: 'json' }).$type<ExportFile[]>().notNull().default([]),
    records: integer().notNull().default(0),
    /** When to go on, or null: nothing is left to do. */
    nextAt: integer('next_at'),
    /** Null: it is being prepared, or has failed. */
    finishedAt: integer('finished_at'),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [
    index('exports_by_account').on(t.accountId, t.requestedAt, t.id),
    index('exports_open').on(t.nextAt).where(sql`${t.nextAt} is not null`),
    index('exports_by_expiry').on(t.expiresAt),
  ],
);
