import { type SQL, sql } from 'drizzle-orm';
import { hasHomes } from '../homes/homes.ts';
import { openDatabase, statement } from './database.ts';

/*
 * Conditions for work on all accounts of a home, some of which may be moving to another. With a single home they are
 * empty.
 */

/**
 * Excludes accounts on the move: read-only ones, copies, and what was left behind. `accountId` needs its table's name,
 * because `moves` has such a column too.
 */
export const andNotMoving = (env: Env, accountId: SQL): SQL =>
  hasHomes(env)
    ? sql`and not exists (select 1 from moves m where m.account_id = ${accountId} and m.state <> 'cancelling')`
    : sql.empty();

/** The home that an account has moved to from this one; undefined if it lives here. */
export async function homeOfMoved(env: Env, accountId: string): Promise<string | undefined> {
  const [found] = await statement<{ home: string | null }>(openDatabase(env))`
    select home from accounts where id = ${accountId}`;
  return found?.home ?? undefined;
}
