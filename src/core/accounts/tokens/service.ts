import { and, desc, eq, getTableColumns, gt, inArray, isNull, lt, or, sql } from 'drizzle-orm';
import { config } from '../../platform/config.ts';
import { following, type Slice, type SliceQuery, sliceOf } from '../../platform/db/cursor.ts';
import {
  type Database,
  jsonList,
  refuseUnless,
  type Statements,
  transaction,
} from '../../platform/db/database.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';
import { newId } from '../../platform/db/ids.ts';
import { untilChecksLapse } from '../../platform/db/reads.ts';
import { connections, tokens } from '../../platform/db/schema/accounts.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { audit, creatorOfToken } from '../audit/write.ts';
import { generateToken, hashToken, type Scope } from './format.ts';
import { forgetTokens, storeInKv } from './known.ts';

/** A credential without its value. Times are milliseconds since 1970. */
export type Token = Omit<typeof tokens.$inferSelect, 'hash' | 'accountId'>;

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
  const value = await generateToken(scope, config(env).encryptionKeys, config(env).cell);
  const hash = await hashToken(value);
  const add = (db: Database) => ({
    before: before(db),
    room: refuseIfFull(db, caller, connectionId),
    known: ids && ownsAll(db, caller, ids, 'Invalid connection ids'),
    connection:
      connectionId === undefined
        ? undefined
        : ownsAll(db, caller, [connectionId], 'Unknown connection'),
    added: db.insert(tokens).values({
      id: newId(),
      accountId: caller.accountId,
      connectionId,
      connectionIds: ids,
      scope,
      readOnly,
      name,
      hash,
      lastFour: value.slice(-4),
      createdAt: Date.now(),
      expiresAt,
    }),
    rows: db.select(visible).from(tokens).where(eq(tokens.hash, hash)),
    audited: audit(
      db,
      caller,
      'created',
      'tokens',
      eq(tokens.hash, hash),
      ids ? ['connectionIds'] : [],
    ),
  });
  const { rows } = await asCaller(env, caller, add);
  await storeInKv(env, hash);
  return { ...(rows[0] as Token), value }; // it was just added
}

/** The columns of a credential that are shown. */
const { hash: _hash, accountId: _accountId, ...visible } = getTableColumns(tokens);

const ownsAll = (db: Database, { accountId }: Caller, ids: string[], refusal: string) => {
  const own = and(inArray(connections.id, jsonList(ids)), eq(connections.accountId, accountId));
  return refuseUnless(db, eq(db.$count(connections, own), ids.length), refusal);
};

export const maxApiTokens = 200;
export const maxIngestKeys = 20;

/** Checked in the transaction that adds one, so that no race exceeds the limit. */
function refuseIfFull(db: Database, { accountId }: Caller, connectionId: string | undefined) {
  const isApi = connectionId === undefined;
  const of = isApi
    ? and(eq(tokens.accountId, accountId), eq(tokens.scope, 'api'))
    : eq(tokens.connectionId, connectionId);
  const max = isApi ? maxApiTokens : maxIngestKeys;
  const most = isApi
    ? `An account can have at most ${max} active API tokens`
    : `A connection can have at most ${max} active ingest keys`;
  const isActive = and(
    of,
    isNull(tokens.revokedAt),
    or(isNull(tokens.expiresAt), gt(tokens.expiresAt, Date.now())),
  );
  const active = db.select({ id: tokens.id }).from(tokens).where(isActive).limit(max).as('active');
  return refuseUnless(
    db,
    lt(db.$count(active), max),
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
  const createdBy = creatorOfToken(sql`${tokens.id}`, sql`${tokens.accountId}`).as('created_by');
  const which = and(
    activeOf(caller),
    scope && eq(tokens.scope, scope),
    connectionId === undefined ? undefined : eq(tokens.connectionId, connectionId),
    following(tokens, slice, 'newest first'),
  );
  const select = (db: Database) =>
    db
      .select({ ...visible, createdBy, names: namesOfConnections.as('names') })
      .from(tokens)
      .where(which)
      .orderBy(desc(tokens.createdAt), desc(tokens.id))
      .limit(slice.limit + 1);
  return sliceOf(await asCaller(env, caller, select), slice);
}

/** The names of the connections that a token is limited to, as JSON. */
const namesOfConnections = sql<string>`(
  select json_group_array(coalesce(c.name, c.tsp))
  from json_each(tokens.connection_ids) i
  cross join connections c on c.id = i.value)`;

/** A credential of the account; undefined if it does not exist or was revoked. */
export async function findTokenById(
  env: Env,
  caller: Caller,
  id: string,
): Promise<Token | undefined> {
  const which = and(activeOf(caller), eq(tokens.id, id));
  const select = (db: Database) => db.select(visible).from(tokens).where(which);
  const [row] = await asCaller(env, caller, select);
  return row;
}

const activeOf = (caller: Caller) =>
  and(eq(tokens.accountId, caller.accountId), isNull(tokens.revokedAt));

/** Revokes a credential; with replicas, returns once no cache has it. @throws Refusal: invalid */
export async function revokeToken(env: Env, caller: Caller, id: string): Promise<Token> {
  const { revoked } = await asCaller(env, caller, (db) => ({
    audited: audit(
      db,
      caller,
      'revoked',
      'tokens',
      and(eq(tokens.id, id), isNull(tokens.revokedAt)),
    ),
    revoked: db
      .update(tokens)
      .set({ revokedAt: sql`coalesce(${tokens.revokedAt}, ${Date.now()})` })
      .where(and(eq(tokens.id, id), eq(tokens.accountId, caller.accountId)))
      .returning({ ...visible, hash: tokens.hash }),
    known: refuseUnless(db, sql`changes() > 0`, 'Unknown token'),
  }));
  const { hash, ...token } = revoked[0] as (typeof revoked)[number]; // it is known
  // `/ingest` checks its key on the primary in the transaction that writes: no cache to wait for.
  const expired = token.scope === 'api' ? untilChecksLapse(env) : undefined;
  await Promise.all([forgetTokens(env, [hash]), expired]);
  return token;
}

const tokensPerChunk = 100;

const isKeyOf = (connectionId: string) =>
  and(eq(tokens.connectionId, connectionId), isNull(tokens.revokedAt));

/** The statement that selects the ingest keys of a connection. */
export const selectKeys = (db: Database, connectionId: string) =>
  db.select({ hash: tokens.hash }).from(tokens).where(isKeyOf(connectionId));

/** The statements that revoke all ingest keys of a connection. They return the hashes of these. */
export const revokeKeysOf = (db: Database, connectionId: string, now: number) => ({
  keys: selectKeys(db, connectionId),
  revoked: db.update(tokens).set({ revokedAt: now }).where(isKeyOf(connectionId)),
});

/** Deletes the credentials of the account or connection, from KV first. */
export async function removeTokens(
  env: Env,
  { accountId, connectionId }: { accountId: string; connectionId: string | null },
): Promise<string | undefined> {
  const db = openDatabase(env);
  const ofConnection = connectionId === null ? undefined : eq(tokens.connectionId, connectionId);
  const found = await transaction(
    db,
    db
      .select({ id: tokens.id, hash: tokens.hash })
      .from(tokens)
      .where(and(eq(tokens.accountId, accountId), ofConnection))
      .limit(tokensPerChunk),
  );
  await forgetTokens(
    env,
    found.map(({ hash }) => hash),
  );
  const ids = jsonList(found.map(({ id }) => id));
  await transaction(db, db.delete(tokens).where(inArray(tokens.id, ids)));
  return found.length < tokensPerChunk ? undefined : '';
}
