import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { connections } from './accounts.ts';
import type { ArchivedFile, ExportFile, ExportPlace, WantedExport } from './types.ts';

export const archivedDays = sqliteTable(
  'archived_days',
  {
    kind: text().notNull(),
    accountId: text('account_id').notNull(),
    connectionId: text('connection_id')
      .notNull()
      .references(() => connections.id),
    /** Days since 1970, UTC. */
    day: integer().notNull(),
    /** From 0. */
    piece: integer().notNull(),
    parts: text({ mode: 'json' }).$type<ArchivedFile[]>().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.connectionId, t.kind, t.day, t.piece] }),
    index('archived_days_by_account').on(t.accountId, t.kind, t.day, t.connectionId),
  ],
);

export const jobs = sqliteTable('jobs', {
  name: text().primaryKey(),
  holder: text(),
  leasedUntil: integer('leased_until').notNull().default(0),
});

export const databaseSizes = sqliteTable('database_sizes', {
  /** Days since 1970, UTC. */
  day: integer().primaryKey(),
  bytes: integer().notNull(),
});

export const deletions = sqliteTable(
  'deletions',
  {
    /** Of the account, connection or driver. */
    id: text().primaryKey(),
    kind: text({ enum: ['account', 'connection', 'driver', 'copy'] }).notNull(),
    accountId: text('account_id').notNull(),
    /** Null for an account. */
    connectionId: text('connection_id'),
    requestedAt: integer('requested_at').notNull(),
    /** Not before then, nor again before then if it has failed. */
    dueAt: integer('due_at').notNull(),
    /** Null until it has begun. */
    step: text(),
    /** How far a step has come that looks through a table. */
    cursor: text().notNull().default(''),
    /** Of the driver, to be looked for. */
    email: text(),
    /** Why its step failed, until that is done. */
    problem: text(),
  },
  (t) => [
    index('deletions_by_account').on(t.accountId, t.kind),
    index('deletions_due').on(t.dueAt),
  ],
);

export const moves = sqliteTable('moves', {
  accountId: text('account_id').primaryKey(),
  state: text().notNull(),
  /** See src/operator/moves/part.ts. */
  move: text().notNull(),
});

export const exports = sqliteTable(
  'exports',
  {
    id: text().primaryKey(),
    accountId: text('account_id').notNull(),
    /** A user. */
    requestedBy: text('requested_by').notNull(),
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
