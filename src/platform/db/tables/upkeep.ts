import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/* What archiving and erasing keep. */

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
