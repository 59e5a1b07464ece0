import { and, eq, isNull, sql } from 'drizzle-orm';
import * as v from 'valibot';
import { config } from '../../platform/config.ts';
import { following, type Slice, type SliceQuery, sliceOf } from '../../platform/db/cursor.ts';
import {
  type Database,
  jsonList,
  read,
  refuseUnless,
  type Statements,
  write,
} from '../../platform/db/database.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';
import { newId } from '../../platform/db/ids.ts';
import { readRows, writeRows } from '../../platform/db/rows.ts';
import { connections, tokens } from '../../platform/db/schema/accounts.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { untilCachesExpire } from '../../platform/db/token-cache.ts';
import { hourMs } from '../../platform/durations.ts';
import { invalid } from '../../platform/errors.ts';
import { TextLists } from '../../platform/fields.ts';
import { inTime } from '../../platform/in-time.ts';
import { fault } from '../../platform/log.ts';
import { audit, creatorOfToken } from '../audit/write.ts';
import { generateToken, hashToken, type Scope } from './format.ts';

/** A credential without its value. Times are milliseconds since 1970. */
export type Token = Omit<typeof tokens.$inferSelect, 'hash' | 'accountId'>;

/** What KV holds under a credential's hash. Only an ingest key has a connection. */
export const KnownToken = v.object({
  id: v.string(),
  accountId: v.string(),
  readOnly: v.optional(v.boolean()),
  connectionIds: v.optional(v.array(v.string())),
  expiresAt: v.optional(v.number()),
  connection: v.optional(
    v.object({
      connectionId: v.string(),
      provider: v.string(),
      tSP: v.string(),
      incidentTypeMap: v.optional(TextLists),
    }),
  ),
});
export type KnownToken = v.InferOutput<typeof KnownToken>;

/** A new credential: an API token, or with a connection an ingest key. */
export type NewToken = {
  connectionId?: string | undefined;
  name: string;
  readOnly?: boolean | undefined;
  /** The only connections that an API token may use. */
  connectionIds?: string[] | undefined;
  /** Milliseconds since 1970. */
  expiresAt?: number | undefined;
};

/**
 * Issues an ingest key for a connection, otherwise an API token, in the transaction of what comes `before`.
 * @throws Refusal: invalid
 */
export async function issueToken(
  env: Env,
  caller: Caller,
  wanted: NewToken,
  before: (db: Database) => Statements = () => undefined,
) {
  const { connectionId, connectionIds: ids, name, readOnly = false, expiresAt = null } = wanted;
  const scope: Scope = connectionId === undefined ? 'api' : 'ingest';
  const value = await generateToken(scope, config(env).headerKeys, config(env).cell);
  const hash = await hashToken(value);
  const owner =
    connectionId === undefined
      ? sql`select id as account_id, null as connection_id from accounts where id = ${caller.accountId}`
      : sql`select account_id, id as connection_id from connections
          where id = ${connectionId} and account_id = ${caller.accountId}`;
  const add = (db: Database) => ({
    before: before(db),
    room: refuseIfFull(db, caller, connectionId),
    known: ids && ownsAll(db, caller, ids),
    added: write(db)`
      insert into tokens (
        id, account_id, connection_id, connection_ids, scope, read_only, name, hash, last_four, created_at, expires_at)
      select ${newId()}, account_id, connection_id, ${ids ? JSON.stringify(ids) : null}, ${scope},
        ${Number(readOnly)}, ${name}, ${hash}, ${value.slice(-4)}, ${Date.now()}, ${expiresAt}
      from (${owner})`,
    rows: readRows(db, tokens)`where hash = ${hash}`,
    audited: audit(
      db,
      caller,
      'created',
      'tokens',
      sql`hash = ${hash}`,
      ids ? ['connectionIds'] : [],
    ),
  });
  const { rows } = await asCaller(env, caller, add);
  const [row] = rows;
  if (!row) throw invalid(scope === 'ingest' ? 'Unknown connection' : 'Unknown account');
  await storeInKv(env, hash);
  return { ...visible(row), value };
}

const ownsAll = (db: Database, { accountId }: Caller, ids: string[]) =>
  refuseUnless(
    db,
    sql`(select count(*) from connections where id in ${jsonList(ids)} and account_id = ${accountId}) = ${ids.length}`,
    'Invalid connection ids',
  );

export const maxApiTokens = 200;
export const maxIngestKeys = 20;

/** Checked in the transaction that adds one, so that no race exceeds the limit. */
function refuseIfFull(db: Database, { accountId }: Caller, connectionId: string | undefined) {
  const isApi = connectionId === undefined;
  const of = isApi
    ? sql`account_id = ${accountId} and scope = 'api'`
    : sql`connection_id = ${connectionId}`;
  const max = isApi ? maxApiTokens : maxIngestKeys;
  const most = isApi
    ? `An account can have at most ${max} active API tokens`
    : `A connection can have at most ${max} active ingest keys`;
  const active = sql`${of} and revoked_at is null and (expires_at is null or expires_at > ${Date.now()})`;
  return refuseUnless(
    db,
    sql`(select count(*) from (select 1 from tokens where ${active} limit ${max})) < ${max}`,
    `${most}. Revoke one that is not used any more.`,
  );
}

/** A credential, who created it if the audit log knows, and the names of connections that it is limited to. */
export type CreatedToken = Token & { createdBy: string | null; names: string };

/** A slice of the account's credentials that are not revoked, newest first; of one scope or connection. */
export async function listTokens(
  env: Env,
  caller: Caller,
  slice: SliceQuery,
  { scope, connectionId }: { scope?: Scope; connectionId?: string } = {},
): Promise<Slice<CreatedToken>> {
  const createdBy = creatorOfToken(sql`tokens.id`, sql`tokens.account_id`);
  const names = sql<string>`(select json_group_array(coalesce(c.name, c.tsp)) from json_each(tokens.connection_ids) i
    cross join connections c on c.id = i.value)`;
  const which = and(
    activeOf(caller),
    scope && eq(tokens.scope, scope),
    connectionId === undefined ? undefined : eq(tokens.connectionId, connectionId),
    following(tokens, slice, 'newest first'),
  );
  const select = (db: Database) => readRows(db, tokens, { createdBy, names })`
    where ${which} order by created_at desc, id desc limit ${slice.limit + 1}`;
  return sliceOf((await asCaller(env, caller, select)).map(visible), slice);
}

/** A credential of the account; undefined if it does not exist or was revoked. */
export async function findTokenById(
  env: Env,
  caller: Caller,
  id: string,
): Promise<Token | undefined> {
  const which = and(activeOf(caller), eq(tokens.id, id));
  const [row] = await asCaller(env, caller, (db) => readRows(db, tokens)`where ${which}`);
  return row && visible(row);
}

const activeOf = (caller: Caller) =>
  and(eq(tokens.accountId, caller.accountId), isNull(tokens.revokedAt));

/** Revokes a credential; with replicas, returns once no cache has it. @throws Refusal: invalid */
export async function revokeToken(env: Env, caller: Caller, id: string): Promise<Token> {
  const { revoked } = await asCaller(env, caller, (db) => ({
    audited: audit(db, caller, 'revoked', 'tokens', sql`id = ${id} and revoked_at is null`),
    revoked: writeRows(db, tokens)`
      update tokens set revoked_at = coalesce(revoked_at, ${Date.now()})
      where id = ${id} and account_id = ${caller.accountId}`,
  }));
  const [row] = revoked;
  if (!row) throw invalid('Unknown token');
  // `/ingest` checks its key on the primary in the transaction that writes: no cache to wait for.
  const expired = row.scope === 'api' ? untilCachesExpire(env) : undefined;
  await Promise.all([forgetTokens(env, [row.hash]), expired]);
  return visible(row);
}

/** Looks up a credential by its hash in D1. Undefined if unknown, revoked or expired. */
export async function findToken(env: Env, hash: string): Promise<KnownToken | undefined> {
  const now = Date.now();
  const { provider, tsp, incidentTypeMap } = connections;
  const [row] = await readRows(openDatabase(env), tokens, { provider, tSP: tsp, incidentTypeMap })`
    join accounts on accounts.id = tokens.account_id
    left join connections on connections.id = tokens.connection_id
    where hash = ${hash} and revoked_at is null`;
  if (!row || (row.expiresAt && row.expiresAt <= now)) return undefined;
  const { id, accountId, readOnly, connectionId } = row;
  const [connectionIds, expiresAt] = [row.connectionIds ?? undefined, row.expiresAt ?? undefined];
  const known: KnownToken = { id, accountId, readOnly, connectionIds, expiresAt };
  if (connectionId === null) return known;
  const map = row.incidentTypeMap ?? undefined;
  return {
    ...known,
    connection: { connectionId, provider: row.provider, tSP: row.tSP, incidentTypeMap: map },
  };
}

async function storeInKv(env: Env, hash: string): Promise<void> {
  const known = await findToken(env, hash);
  const expiration = known?.expiresAt && Math.ceil(known.expiresAt / 1000);
  // KV refuses an expiry less than a minute away; such a token is not stored there.
  if (known && (!expiration || expiration > Date.now() / 1000 + 61))
    await bestEffort(() =>
      env.TOKENS.put(hash, JSON.stringify(known), expiration ? { expiration } : {}),
    );
}

/** Updates KV for a connection's ingest keys after the connection has changed. */
export async function refreshIngestKeys(
  env: Env,
  caller: Caller,
  connectionId: string,
): Promise<void> {
  const keys = (db: Database) => read<{ hash: string }>(db)`
    select hash from tokens where connection_id = ${connectionId} and revoked_at is null`;
  const rows = await asCaller(env, caller, keys);
  await Promise.all(rows.map(({ hash }) => storeInKv(env, hash)));
}

/** Deletes credentials from KV by their hashes. May fail: D1 refuses them in any case. */
export const forgetTokens = async (env: Env, hashes: string[]): Promise<void> => {
  await Promise.all(hashes.map((hash) => bestEffort(() => env.TOKENS.delete(hash))));
};

export type TokenCaller = Extract<Caller, { tokenId: string }>;

/** Whether the last recorded use is an hour old. */
export const isUseDue = ({ check }: TokenCaller): boolean =>
  check !== undefined && check.lastUsedAt <= Date.now() - hourMs;

/** Records that a credential was used, at most once an hour. Call it off the request's path. */
export async function recordUse(env: Env, caller: TokenCaller): Promise<void> {
  const now = Date.now();
  await write(openDatabase(env))`
    update tokens set last_used_at = ${now}
    where id = ${caller.tokenId} and coalesce(last_used_at, 0) < ${now - hourMs}`;
}

/** KV is a cache: D1 has the truth. It allows one write per key and second, hence the retry. */
async function bestEffort(write: () => Promise<void>): Promise<void> {
  await inTime(write())
    .catch(() => scheduler.wait(1_100).then(() => inTime(write())))
    .catch(() => fault('warn', 'KV refused a write', {}));
}

const visible = <T extends typeof tokens.$inferSelect>({
  hash: _hash,
  accountId: _accountId,
  ...token
}: T) => token;

const tokensPerChunk = 100;

/** The statements that revoke all ingest keys of a connection. They return the hashes of these. */
export const revokeKeysOf = (db: Database, connectionId: string, now: number) => {
  const active = sql`connection_id = ${connectionId} and revoked_at is null`;
  return {
    keys: read<{ hash: string }>(db)`select hash from tokens where ${active}`,
    revoked: write(db)`update tokens set revoked_at = ${now} where ${active}`,
  };
};

/** Deletes the credentials of the account or connection, from KV first. */
export async function removeTokens(
  env: Env,
  { accountId, connectionId }: { accountId: string; connectionId: string | null },
): Promise<string | undefined> {
  const db = openDatabase(env);
  const ofConnection =
    connectionId === null ? sql.empty() : sql`and connection_id = ${connectionId}`;
  const found = await read<{ id: string; hash: string }>(db)`
    select id, hash from tokens where account_id = ${accountId} ${ofConnection} limit ${tokensPerChunk}`;
  await forgetTokens(
    env,
    found.map(({ hash }) => hash),
  );
  await write(db)`delete from tokens where id in ${jsonList(found.map(({ id }) => id))}`;
  return found.length < tokensPerChunk ? undefined : '';
}
