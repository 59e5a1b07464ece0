import { type SQL, sql } from 'drizzle-orm';
import { change, type Database, openDatabase } from '../../platform/db/database.ts';
import { type Remover, rowsPerChunk, untilNone } from '../../platform/jobs/chunks.ts';

/** Deletes the counts of an account that is deleted. Nothing counts it again. */
export const removeCounts: Remover = (env, { accountId }) =>
  untilNone(openDatabase(env), [
    sql`delete from event_counting where account_id = ${accountId}`,
    marksOf(accountId),
    sql`delete from event_counts where (account_id, hours, start) in (
      select account_id, hours, start from event_counts where account_id = ${accountId} limit ${rowsPerChunk})`,
  ]);

/** The statement that forgets which hours of an account are to be counted again. */
export const removeMarks = (db: Database, accountId: string) => change(db, marksOf(accountId));

const marksOf = (accountId: string): SQL => sql`delete from event_counts_due where account_id = ${accountId}`;
