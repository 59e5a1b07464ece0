import { type SQL, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { may, type Role, roles } from '../roles.ts';
import { type Database, jsonList, openDatabase, refuse, statement, transaction } from './database.ts';
import { noteActivity } from './turns.ts';

/** An account that somebody acts in, and with what right. Trusted only together with `asCaller`'s check. */
export type Caller = { accountId: string } & (
  | { tokenId: string; lastUsedAt?: number } // known once the check has passed; 0: never used
  | { sessionHash: string; needs?: Role | undefined } // the least role that they must have; without it any will do
  | { operator: true }
  | { pull: { connectionId: string; claim: string } } // while the claim is ours
);

/**
 * The guard of all account data. Opens the account's database and runs what `statements` builds as one
 * transaction for `caller`, whose token or session must be active, unexpired and of an active account, and whose
 * person must have the role that this needs, or nothing is read or changed (design 4). A `connectionId` that the
 * request names must be the account's. Returns the statements' results.
 *
 * @throws Refusal: unauthenticated, forbidden, not allowed, invalid, unavailable, or what a `refuseUnless` names
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
  if ('pull' in caller)
    return statement<{ lastUsedAt: number }>(
      db,
      sql`
      select case
        when p.connection_id is null then ${refuse('lost turn')}
        when a.status <> 'active' then ${refuse('suspended account')}
        else 0 end as lastUsedAt
      from (select 1)
      left join pulls p on p.connection_id = ${caller.pull.connectionId} and p.claim = ${caller.pull.claim}
      left join accounts a on a.id = p.account_id`,
    );
  const credential =
    'tokenId' in caller
      ? sql`select account_id, revoked_at, expires_at, last_used_at, null as role from tokens where id = ${caller.tokenId}`
      : sql`select u.account_id, null as revoked_at, s.expires_at, null as last_used_at, u.role
          from sessions s join portal_users u on u.id = s.user_id where s.hash = ${caller.sessionHash}`;
  return statement<{ lastUsedAt: number }>(
    db,
    sql`
    select case
      when c.account_id is null or c.revoked_at is not null or c.expires_at <= ${Date.now()}
        then ${refuse('inactive token')}
      when a.status <> 'active' then ${refuse('suspended account')}
      ${missingRole(caller)}
      ${wrongConnection}
      else coalesce(c.last_used_at, 0) end as lastUsedAt
    from (select 1)
    left join (${credential}) c on c.account_id = ${caller.accountId}
    left join accounts a on a.id = c.account_id`,
  );
}

/** A role may have been taken from somebody since their request was let in. */
function missingRole(caller: Caller): SQL {
  const needed = 'sessionHash' in caller ? caller.needs : undefined;
  if (needed === undefined || needed === 'viewer') return sql.empty();
  const enough = roles.filter((role) => may(role, needed));
  return sql`when c.role not in ${jsonList(enough)} then ${refuse('missing role')}`;
}

const ownsConnection = (caller: Caller, id: string): SQL =>
  sql`exists (select 1 from connections where id = ${id} and account_id = ${caller.accountId})`;
