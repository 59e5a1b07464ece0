import { and, desc, eq, isNull, lt, or, sql } from 'drizzle-orm';
import * as v from 'valibot';
import type { Caller, Database } from '../db/database.ts';
import { newId } from '../db/ids.ts';
import { accounts, connections, tokens } from '../db/tables.ts';
import { invalid } from '../errors.ts';
import { fault } from '../log.ts';
import { generateToken, hashToken, type Scope } from './format.ts';

/** What is told about a credential, never its value. Times are milliseconds since 1970. */
export type Token = Omit<typeof tokens.$inferSelect, 'hash' | 'accountId'>;

/** What the edge knows of a credential: the value in KV under its hash. An ingest key carries its feed. */
export const KnownToken = v.variant('scope', [
  v.object({
    scope: v.literal('api'),
    id: v.string(),
    accountId: v.string(),
    expiresAt: v.optional(v.number()),
  }),
  v.object({
    scope: v.literal('ingest'),
    id: v.string(),
    accountId: v.string(),
    connectionId: v.string(),
    provider: v.string(),
    tSP: v.string(),
    incidentTypeMap: v.optional(v.record(v.string(), v.array(v.string()))),
    expiresAt: v.optional(v.number()),
  }),
]);
export type KnownToken = v.InferOutput<typeof KnownToken>;

/** What a new credential is for: an account's API, or the records of one connection. */
export type NewToken = ({ accountId: string } | { connectionId: string }) & {
  name: string;
  /** Milliseconds since 1970. */
  expiresAt?: number | undefined;
};

/**
 * Makes a credential: an ingest key for a connection, or an API token for an account. The `value` in the
 * answer is the only time it is ever seen (spec 5.3).
 *
 * @throws Refusal: invalid, when the account or connection does not exist
 */
export async function issueToken(db: Database, kv: KVNamespace, wanted: NewToken) {
  const scope: Scope = 'connectionId' in wanted ? 'ingest' : 'api';
  const value = generateToken(scope);
  const hash = await hashToken(value);
  const owner =
    'connectionId' in wanted
      ? sql`select account_id, id as connection_id from connections where id = ${wanted.connectionId}`
      : sql`select id as account_id, null as connection_id from accounts where id = ${wanted.accountId}`;
  const inserted = await db.all(sql`
    insert into tokens (id, account_id, connection_id, scope, name, hash, last_four, created_at, expires_at)
    select ${newId()}, account_id, connection_id, ${scope}, ${wanted.name}, ${hash}, ${value.slice(-4)},
      ${Date.now()}, ${wanted.expiresAt ?? null}
    from (${owner}) returning id`);
  if (inserted.length === 0) throw invalid(scope === 'ingest' ? 'Unknown connection' : 'Unknown account');
  const [row] = await db.select().from(tokens).where(eq(tokens.hash, hash));
  if (!row) throw new Error('a token just issued is gone');
  await findToken(db, kv, hash); // so that the edge knows it before it is used
  return { ...present(row), value };
}

/** The credentials of an account that are not revoked, newest first, at most 1,000. */
export async function listTokens(db: Database, accountId: string): Promise<Token[]> {
  const rows = await db
    .select()
    .from(tokens)
    .where(and(eq(tokens.accountId, accountId), isNull(tokens.revokedAt)))
    .orderBy(desc(tokens.createdAt), desc(tokens.id))
    .limit(1000);
  return rows.map(present);
}

/**
 * Revokes a credential with immediate effect: D1 refuses it from now on, whatever KV still says.
 * Revoking one twice is fine. With `accountId`, only a credential of that account is known.
 *
 * @throws Refusal: invalid, when there is no such credential
 */
export async function revokeToken(
  db: Database,
  kv: KVNamespace,
  id: string,
  accountId?: string,
): Promise<Token> {
  const [row] = await db
    .update(tokens)
    .set({ revokedAt: sql`coalesce(revoked_at, ${Date.now()})` })
    .where(and(eq(tokens.id, id), accountId === undefined ? undefined : eq(tokens.accountId, accountId)))
    .returning();
  if (!row) throw invalid('Unknown token');
  await asCache(() => kv.delete(row.hash));
  return present(row);
}

/**
 * Looks a credential up by its hash in D1, for when KV does not know it, and tells KV. Answers undefined
 * for one that is unknown, revoked or expired.
 */
export async function findToken(
  db: Database,
  kv: KVNamespace,
  hash: string,
): Promise<KnownToken | undefined> {
  const now = Date.now();
  const [row] = await db
    .select({ token: tokens, connection: connections })
    .from(tokens)
    .innerJoin(accounts, eq(accounts.id, tokens.accountId))
    .leftJoin(connections, eq(connections.id, tokens.connectionId))
    .where(and(eq(tokens.hash, hash), isNull(tokens.revokedAt)));
  if (!row || (row.token.expiresAt && row.token.expiresAt <= now)) return undefined;
  const known = asKnown(row.token, row.connection);
  const expiration = row.token.expiresAt && Math.ceil(row.token.expiresAt / 1000);
  // KV refuses an expiry less than a minute away; such a token simply stays out of it.
  if (!expiration || expiration > now / 1000 + 61)
    await asCache(() => kv.put(hash, JSON.stringify(known), expiration ? { expiration } : {}));
  return known;
}

/** Forgets what the edge knows of a connection's ingest keys, after the connection has changed. */
export async function forgetIngestKeys(db: Database, kv: KVNamespace, connectionId: string): Promise<void> {
  const rows = await db
    .select({ hash: tokens.hash })
    .from(tokens)
    .where(eq(tokens.connectionId, connectionId));
  await Promise.all(rows.map((row) => asCache(() => kv.delete(row.hash))));
}

/** Someone who calls with a credential. */
export type TokenCaller = Extract<Caller, { tokenId: string }>;

const hour = 3_600_000;

/** True when that a credential is used has not been noted for an hour. */
export const isUseNews = ({ lastUsedAt }: TokenCaller): boolean =>
  lastUsedAt !== undefined && lastUsedAt <= Date.now() - hour;

/** Notes that a credential was used, at most once an hour. Call it off the request's path. */
export async function noteUse(db: Database, caller: TokenCaller): Promise<void> {
  const now = Date.now();
  await db
    .update(tokens)
    .set({ lastUsedAt: now })
    .where(
      and(eq(tokens.id, caller.tokenId), or(isNull(tokens.lastUsedAt), lt(tokens.lastUsedAt, now - hour))),
    );
}

/** KV only makes things faster: when it fails, D1 still answers and refuses, so the work goes on. */
async function asCache(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch {
    fault('warn', { message: 'KV refused a write' });
  }
}

function asKnown(
  token: typeof tokens.$inferSelect,
  connection: typeof connections.$inferSelect | null,
): KnownToken {
  const common = {
    id: token.id,
    accountId: token.accountId,
    ...(token.expiresAt && { expiresAt: token.expiresAt }),
  };
  if (!connection) return { scope: 'api', ...common };
  return {
    scope: 'ingest',
    ...common,
    connectionId: connection.id,
    provider: connection.provider,
    tSP: connection.tsp,
    ...(connection.incidentTypeMap && { incidentTypeMap: connection.incidentTypeMap }),
  };
}

function present({ hash: _hash, accountId: _accountId, ...token }: typeof tokens.$inferSelect): Token {
  return token;
}
