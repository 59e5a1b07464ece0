import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/* What jobs keep: archiving, deletions, the database's size, and moves to another home. */

/** Drivers that were erased, by the id that their records would have. */
export const erasedDrivers = sqliteTable(
  'erased_drivers',
  {
    id: text().primaryKey(),
    accountId: text('account_id').notNull(),
    connectionId: text('connection_id').notNull(),
    erasedAt: integer('erased_at').notNull(),
  },
  (t) => [index('erased_drivers_by_connection').on(t.connectionId)],
);

/** Accounts and connections that are being deleted, and drivers that are being erased. */
export const deletions = sqliteTable(
  'deletions',
  {
    id: text().primaryKey(),
    kind: text({ enum: ['account', 'connection', 'driver'] }).notNull(),
    accountId: text('account_id').notNull(),
    connectionId: text('connection_id'),
    requestedAt: integer('requested_at').notNull(),
    dueAt: integer('due_at').notNull(),
    step: text(),
    cursor: text().notNull().default(''),
    email: text(),
  },
  (t) => [index('deletions_by_account').on(t.accountId, t.kind), index('deletions_due').on(t.dueAt)],
);

/** Which days of a connection lie in the archive, and in which files. */
export const archivedDays = sqliteTable(
  'archived_days',
  {
    kind: text().notNull(),
    accountId: text('account_id').notNull(),
    connectionId: text('connection_id').notNull(),
    day: integer().notNull(),
    state: text({ enum: ['writing', 'moving', 'done'] }).notNull(),
    parts: text({ mode: 'json' }).$type<unknown[]>().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.kind, t.connectionId, t.day] }),
    index('archived_days_by_account').on(t.accountId, t.kind, t.day, t.connectionId),
    index('archived_days_open').on(t.kind, t.connectionId, t.day),
  ],
);

export const archivedLately = sqliteTable(
  'archived_lately',
  {
    kind: text().notNull(),
    id: text().notNull(),
    accountId: text('account_id').notNull(),
    connectionId: text('connection_id').notNull(),
    day: integer().notNull(),
    changedAt: integer('changed_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.kind, t.id] }),
    index('archived_lately_by_age').on(t.changedAt),
    index('archived_lately_by_owner').on(t.accountId, t.connectionId),
  ],
);

/** Jobs that run, or wait to be run, and other work that one at a time may do; a lease that has lapsed is nobody's. */
export const jobs = sqliteTable('jobs', {
  name: text().primaryKey(),
  holder: text(),
  leasedUntil: integer('leased_until').notNull().default(0),
});

export const databaseSizes = sqliteTable('database_sizes', {
  day: integer().primaryKey(),
  bytes: integer().notNull(),
});

/** Accounts on their way to another home, in the one and in the other. */
export const moves = sqliteTable('moves', {
  accountId: text('account_id').primaryKey(),
  role: text({ enum: ['leaving', 'arriving'] }).notNull(),
  home: text().notNull(),
  state: text().notNull(),
  turn: integer().notNull().default(0),
  claimedUntil: integer('claimed_until').notNull().default(0),
  cursor: text().notNull().default('{}'),
  total: integer().notNull().default(0),
  copied: integer().notNull().default(0),
  problem: text(),
  wasHere: integer('was_here').notNull().default(0),
  startedAt: integer('started_at').notNull(),
  writableAt: integer('writable_at'),
});
