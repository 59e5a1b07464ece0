import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { connections } from '../../core/platform/db/schema/accounts.ts';

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
