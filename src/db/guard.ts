import { type SQL, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { type Database, openDatabase, refuse, statement, transaction } from './database.ts';
import { noteActivity } from './turns.ts';

/** An account that somebody acts in, and with what right. Trusted only together with `asCaller`'s check. */
export type Caller = { accountId: string } & (
  | { tokenId: string; lastUsedAt?: number } // known once the check has passed; 0: never used
  | { sessionHash: string }
  | { operator: true }
);

/**
 * The guard of all account data. Opens the account's database and runs what `statements` builds as one
 * transaction for `caller`, whose token or session must be active, unexpired and of an active account, or
 * nothing is read or changed (design 4). A `connectionId` that the request names must be the account's. Returns
 * the statements' results.
 *
 * @throws Refusal: unauthenticated, forbidden, invalid, unavailable, or what a `refuseUnless` names
 */
export async function asCaller<const T extends readonly BatchItem<'sqlite'>[]>(
  env: Pick<Env, 'DB'>,
  caller: Caller,
  statements: (db: Database) => T,
  { connectionId, repeatable = false }: { connectionId?: string | undefined; repeatable?: boolean } = {},
) {
  const db = openDatabase(env);
  noteActivity(caller.accountId);
  const check = credentialCheck(db, caller, connectionId);
  const [[found], ...results] = await transaction(db, [check, ...statements(db)] as const, { repeatable });
  if (found && 'tokenId' in caller) caller.lastUsedAt = found.lastUsedAt;
  return results;
}

function credentialCheck(db: Database, caller: Caller, connectionId: string | undefined) {
  const wrongConnection =
    connectionId === undefined
      ? sql.empty()
      : sql`when not ${ownsConnection(caller, connectionId)} then ${refuse('unknown connection')}`;
  if ('operator' in caller)
    return statement<{ lastUsedAt: number }>(
      db,
      sql`select case when 0 then 0 ${wrongConnection} else 0 end as lastUsedAt`,
    );
  const credential =
    'tokenId' in caller
      ? sql`select account_id, revoked_at, expires_at, last_used_at from tokens where id = ${caller.tokenId}`
      : sql`select u.account_id, null as revoked_at, s.expires_at, null as last_used_at
          from sessions s join portal_users u on u.id = s.user_id where s.hash = ${caller.sessionHash}`;
  return statement<{ lastUsedAt: number }>(
    db,
    sql`
    select case
      when c.account_id is null or c.revoked_at is not null or c.expires_at <= ${Date.now()}
        then ${refuse('inactive token')}
      when a.status <> 'active' then ${refuse('suspended account')}
      ${wrongConnection}
      else coalesce(c.last_used_at, 0) end as lastUsedAt
    from (select 1)
    left join (${credential}) c on c.account_id = ${caller.accountId}
    left join accounts a on a.id = c.account_id`,
  );
}

const ownsConnection = (caller: Caller, id: string): SQL =>
  sql`exists (select 1 from connections where id = ${id} and account_id = ${caller.accountId})`;
