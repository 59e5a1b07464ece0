import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { type Failure, Refusal } from '../errors.ts';
import { markActive } from '../fair-queue.ts';
import { noteRequestsPerMinute } from '../raised-limits.ts';
import { may, type Role, roles } from '../roles.ts';
import {
  type Database,
  jsonList,
  onlyReads,
  type Results,
  refuse,
  type Statement,
  type Statements,
  transaction,
} from './database.ts';
import { accounts } from './schema/accounts.ts';
import { deletions } from './schema/jobs.ts';
import { openDatabase } from './system.ts';

/** Who acts in an account, and by what right. Valid only together with the check of `asCaller`. */
export type Caller = {
  accountId: string;
  /** What is written before every change of this caller, in its transaction, or refuses it. */
  alongside?: (db: Database) => Statement;
} & (
  | (KnownScope & { tokenId: string; check?: PassedCheck; reader?: Reader | undefined })
  | { operator: true; connectionIds?: string[] | undefined }
  | { credential: Credential; needs?: Role | undefined } // the minimum role; any if missing
);

/** A credential that is no token: a person's session, a link, a claim on work. */
export type Credential = {
  /** SQL for its `account_id` and the `role` of its person, if it is valid now. */
  row: () => SQL;
  /** How it is refused otherwise. */
  refusal: Failure;
  /** Whether it can change nothing. */
  readOnly?: true;
  /** SQL for who acts by it, `id` and `name`, as the audit log calls them. */
  who: SQL;
};

/**
 * What a token was found to be good for: the connection of an ingest key, the connections that an API token is limited
 * to, and whether it only reads.
 */
type KnownScope = {
  connectionId?: string | undefined;
  connectionIds?: string[] | undefined;
  readOnly?: boolean | undefined;
};

/** That a token has been checked, and when it was last used, in milliseconds since 1970; 0: never. */
type PassedCheck = { lastUsedAt: number };

/** How the lists of a request are read where that is not as usual: from a replica of the database. */
export type Reader = {
  /** @throws Refusal: as `asCaller`; never because of a replica alone */
  read<const S extends Statements>(
    env: Env,
    caller: Caller,
    statements: (db: Database) => S,
    connectionId?: string,
  ): Promise<Results<S>>;
  /** Reads nothing older than what the reader has seen, as a bookmark says. */
  continueFrom(bookmark: string): void;
  /** The bookmark of what was read; undefined before. */
  bookmark(): string | undefined;
  /** Reads the newest data for the rest of the request. Returns false if it does so already. */
  usePrimary(): boolean;
};

/**
 * The guard of all account data: runs `statements` as one transaction for `caller`. Their token or session must be
 * valid and of an active account, a person must have the required role, and a `connectionId` must be the account's, or
 * nothing is read or changed. Returns results by name.
 * @throws Refusal: unauthenticated, forbidden, not allowed, invalid, unavailable, or what a `refuseUnless` names
 */
export async function asCaller<const S extends Statements>(
  env: Env,
  caller: Caller,
  statements: (db: Database) => S,
  options: GuardOptions = {},
): Promise<Results<S>> {
  markActive(caller.accountId);
  const { check, results } = await guarded(env, openDatabase(env), caller, statements, options);
  if ('tokenId' in caller) caller.check = check;
  return results;
}

type GuardOptions = {
  connectionId?: string | undefined;
  repeatable?: boolean | undefined;
  /** What else is refused, as `when … then …` about the account `a`. */
  refused?: SQL | undefined;
  /** Whether an operator may write although the account is being deleted. */
  evenIfDeleted?: boolean;
};

/** Whether a caller's credential can change nothing. */
export const isReadOnly = (caller: Caller): boolean =>
  'credential' in caller && caller.credential.readOnly === true;

/** Runs `asCaller` in any copy of the database; `check` is what that copy has of the credential. */
export async function guarded<const S extends Statements>(
  env: Env,
  db: Database,
  caller: Caller,
  statements: (db: Database) => S,
  { connectionId, repeatable, refused: also, evenIfDeleted = false }: GuardOptions,
): Promise<{ check: PassedCheck; results: Results<S> }> {
  const results = statements(db);
  const writes = !onlyReads(results);
  if (writes && isReadOnly(caller)) throw new Refusal({ kind: 'not allowed' });
  const refused = sql`
    ${whenStatus('moved')} ${whenStatus('moving')}
    ${writes && 'operator' in caller && !evenIfDeleted ? isBeingDeleted(caller) : sql.empty()}`;
  const all = {
    checks: credentialCheck(db, caller, connectionId, refused, also),
    alongside: writes ? caller.alongside?.(db) : undefined,
    results,
  };
  try {
    const { checks, results } = await transaction(db, all, { repeatable });
    const [row] = checks;
    if ('tokenId' in caller) noteRequestsPerMinute(caller.accountId, row?.perMinute ?? null);
    return { check: { lastUsedAt: row?.value ?? 0 }, results };
  } catch (error) {
    throw (await withCell(env, caller, error)) ?? error;
  }
}

/** How the accounts are refused that are not active. One that moves is suspended for some minutes. */
const refusals = {
  suspended: { kind: 'forbidden', reason: 'Account is suspended' },
  moving: { kind: 'unavailable', retryAfter: 10 },
  moved: { kind: 'moved', cells: [] },
} satisfies Record<string, Failure>;

/** @throws Refusal, as `asCaller`, unless an account with this status is active */
export function refuseInactive(status: 'active' | keyof typeof refusals): void {
  if (status !== 'active') throw new Refusal(refusals[status]);
}

const whenStatus = (status: keyof typeof refusals): SQL =>
  sql`when a.status = ${status} then ${refuse(refusals[status])}`;

/** The statement that refuses those accounts that are not active, as `asCaller` does. */
export const refuseUnlessActive = (db: Database, accountIds: SQL) =>
  // A refusal is SQL alone.
  db.all(sql`
    select case ${whenStatus('moving')} ${whenStatus('suspended')} end
    from accounts a where a.id in (${accountIds})`);

/** The condition that an account is active: jobs skip the others. */
export const ofActiveAccount = (accountId: SQL): SQL =>
  sql`exists (select 1 from accounts where accounts.id = ${accountId} and accounts.status = 'active')`;

export const unknownAccount = 'Unknown account';

/** The refusal of an account that has moved names its cell; undefined for any other error. */
async function withCell(
  env: Env,
  { accountId }: Caller,
  error: unknown,
): Promise<Refusal | undefined> {
  if (!(error instanceof Refusal) || error.failure.kind !== 'moved') return undefined;
  const db = openDatabase(env);
  const found = await transaction(
    db,
    db
      .select({ cell: accounts.cell })
      .from(accounts)
      .where(and(eq(accounts.id, accountId), eq(accounts.status, 'moved'))),
  );
  return new Refusal({ kind: 'moved', cells: found.flatMap(({ cell }) => cell ?? []) });
}

const isBeingDeleted = ({ accountId }: Caller): SQL => sql`
  when exists (select 1 from deletions where id = ${accountId} and step is not null)
    then ${refuse('This account is being deleted')}`;

function credentialCheck(
  db: Database,
  caller: Caller,
  connectionId: string | undefined,
  refused: SQL,
  also = sql.empty(),
) {
  const inactive =
    'operator' in caller
      ? sql`when a.id is null then ${refuse(unknownAccount)}`
      : sql`when c.account_id is null then ${refuse(refusalOf(caller))}
          ${whenStatus('suspended')}`;
  const own = and(
    sql`id = ${connectionId} and account_id = ${caller.accountId}`,
    isWithin(caller, sql`id`),
  );
  const whenNotOwn =
    connectionId === undefined
      ? sql.empty()
      : sql`when not exists (select 1 from connections where ${own})
          then ${refuse('Invalid connection id')}`;
  // Raw for speed: it is part of every request.
  return db.all<{ value: number; perMinute: number | null }>(sql`
    select case
      ${refused}
      ${inactive}
      ${missingRole(caller)}
      ${also}
      ${whenNotOwn}
      else coalesce(c.last_used_at, 0) end as value,
      a.quotas->>'requestsPerMinute' as perMinute
    from (select 1)
    left join ${credentialOf(caller)} c on c.account_id = ${caller.accountId}
    left join accounts a on a.id = ${caller.accountId}`);
}

const refusalOf = (caller: Caller): Failure =>
  'credential' in caller ? caller.credential.refusal : { kind: 'unauthenticated' };

/** What is refused because another invocation does it by now. */
export const lostLease: Failure = { kind: 'unavailable', retryAfter: 60 };

/** A caller's credential, if it is active. */
function credentialOf(caller: Caller): SQL {
  if ('tokenId' in caller)
    return sql`(
      select account_id, last_used_at, null as role from tokens
      where id = ${caller.tokenId} and revoked_at is null
        and coalesce(expires_at > ${Date.now()}, true)
        and connection_id is ${caller.connectionId ?? null} and read_only = ${Number(caller.readOnly ?? false)}
        and connection_ids is ${caller.connectionIds ? JSON.stringify(caller.connectionIds) : null})`;
  return 'credential' in caller
    ? sql`(select account_id, null as last_used_at, role from ${caller.credential.row()})`
    : sql`(select null as account_id, null as last_used_at, null as role)`;
}

/** The condition that a caller who is limited to some connections may use this one; for others there is none. */
export function isWithin(caller: Caller, connectionId: SQL | SQLiteColumn): SQL | undefined {
  const ids = 'credential' in caller ? undefined : caller.connectionIds;
  return ids && sql`${connectionId} in ${jsonList(ids)}`;
}

/** Checked again here, because a role may have changed since the request was authenticated. */
function missingRole(caller: Caller): SQL {
  const needed = 'credential' in caller ? caller.needs : undefined;
  if (needed === undefined || needed === 'viewer') return sql.empty();
  const enough = roles.filter((role) => may(role, needed));
  return sql`when c.role not in ${jsonList(enough)} then ${refuse({ kind: 'not allowed' })}`;
}

/** The account's connections that are being deleted, usually none: their records are in no list. */
export const connectionsBeingDeleted = (db: Database, { accountId }: Caller) =>
  db
    .select({ id: deletions.id })
    .from(deletions)
    .where(and(eq(deletions.accountId, accountId), eq(deletions.kind, 'connection')));

/** The condition that a record is of none of these, for statements that read few records. */
export const notBeingDeleted = (connectionId: SQL | SQLiteColumn): SQL =>
  sql`not exists (select 1 from deletions where deletions.id = ${connectionId})`;
