import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { connections } from '../../core/platform/db/schema/accounts.ts';

/** Something wrong with records of a connector, without their values. */
export type IngestProblem = {
  kind: string | null;
  field?: string | undefined;
  message: string;
  /** In how many records since it was first kept. */
  records: number;
  /** The last call that had it, its first record there, and when. */
  requestId: string;
  index: number;
  at: number;
};

/** How many records of a connector were rejected on a day (UTC), and how many warnings there were. */
export type ProblemDay = { day: string; rejected: number; warnings: number };

export const ingestProblems = sqliteTable('ingest_problems', {
  connectionId: text('connection_id')
    .primaryKey()
    .references(() => connections.id, { onDelete: 'cascade' }),
  version: integer().notNull(),
  rejected: text({ mode: 'json' }).$type<IngestProblem[]>().notNull(),
  warned: text({ mode: 'json' }).$type<IngestProblem[]>().notNull(),
  days: text({ mode: 'json' }).$type<ProblemDay[]>().notNull(),
});
