import { sql } from 'drizzle-orm';
import { type Remover, rowsPerChunk, untilNone } from '../../platform/db/chunks.ts';
import { openDatabase } from '../../platform/db/database.ts';

/** Deletes the counts of an account that is deleted. Nothing counts it again. */
export const removeCounts: Remover = (env, { accountId }) =>
  untilNone(openDatabase(env), [
    sql`delete from event_counting where account_id = ${accountId}`,
    sql`delete from event_counts_due where account_id = ${accountId}`,
    sql`delete from event_counts where (account_id, hours, start) in (
      select account_id, hours, start from event_counts where account_id = ${accountId} limit ${rowsPerChunk})`,
  ]);
