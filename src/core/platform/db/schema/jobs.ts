import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const jobs = sqliteTable('jobs', {
  name: text().primaryKey(),
  holder: text(),
  leasedUntil: integer('leased_until').notNull().default(0),
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
