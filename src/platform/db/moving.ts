import { type SQL, sql } from 'drizzle-orm';
import { hasHomes } from '../homes/homes.ts';
import { openDatabase, statement } from './database.ts';

/*
 * Conditions for what works for all accounts of a home: some of these may be on their way to another one.
 * With a single home there are none, and statements are as they were.
 */

/**
 * That this account is not on its way: neither read only, nor a copy, nor what it has left behind. `accountId` names its
 * table, for `moves` has a column of that name as well.
 */
export const andNotMoving = (env: Env, accountId: SQL): SQL =>
  hasHomes(env)
    ? sql`and not exists (select 1 from moves m where m.account_id = ${accountId}
        and (m.role = 'arriving' or m.state not in ('stopped', 'cancelling')))`
    : sql.empty();

/** The home that an account has moved to from this one; undefined if it lives here. */
export async function homeOfMoved(env: Env, accountId: string): Promise<string | undefined> {
  const [found] = await statement<{ home: string | null }>(
    openDatabase(env),
    sql`select home from accounts where id = ${accountId}`,
  );
  return found?.home ?? undefined;
}
