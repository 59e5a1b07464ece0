import { and, eq, isNull, lt, or, sql } from 'drizzle-orm';
import * as v from 'valibot';
import { transaction } from '../../platform/db/database.ts';
import type { Caller } from '../../platform/db/guard.ts';
import { accounts, connections, tokens } from '../../platform/db/schema/accounts.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { hourMs } from '../../platform/durations.ts';
import { TextLists } from '../../platform/fields.ts';
import { inTime } from '../../platform/in-time.ts';
import { fault } from '../../platform/log.ts';

/* Which credentials are known: D1 has the truth, and KV a copy that is near the caller. */

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

/** Looks up a credential by its hash in D1. Undefined if unknown, revoked or expired. */
export async function findToken(env: Env, hash: string): Promise<KnownToken | undefined> {
  const db = openDatabase(env);
  const [row] = await transaction(
    db,
    db
      .select({
        id: tokens.id,
        accountId: tokens.accountId,
        readOnly: tokens.readOnly,
        connectionIds: tokens.connectionIds,
        expiresAt: tokens.expiresAt,
        connection: {
          connectionId: sql<string>`${connections.id}`.as('connection_id'),
          provider: connections.provider,
          tSP: connections.tsp,
          incidentTypeMap: connections.incidentTypeMap,
        },
      })
      .from(tokens)
      .innerJoin(accounts, eq(accounts.id, tokens.accountId))
      .leftJoin(connections, eq(connections.id, tokens.connectionId))
      .where(and(eq(tokens.hash, hash), isNull(tokens.revokedAt))),
  );
  if (!row || (row.expiresAt && row.expiresAt <= Date.now())) return undefined;
  const { id, accountId, readOnly, connection } = row;
  const [connectionIds, expiresAt] = [row.connectionIds ?? undefined, row.expiresAt ?? undefined];
  const known: KnownToken = { id, accountId, readOnly, connectionIds, expiresAt };
  if (!connection) return known;
  const incidentTypeMap = connection.incidentTypeMap ?? undefined;
  return { ...known, connection: { ...connection, incidentTypeMap } };
}

/** Has KV know a credential as D1 has it, if it is valid. May fail: then D1 is asked. */
export const storeInKv = (env: Env, hash: string): Promise<void> =>
  bestEffort(async () => {
    const known = await findToken(env, hash);
    const expiration = known?.expiresAt && Math.ceil(known.expiresAt / 1000);
    // KV refuses an expiry less than a minute away; such a token is not stored there.
    if (known && (!expiration || expiration > Date.now() / 1000 + 61))
      await env.TOKENS.put(hash, JSON.stringify(known), expiration ? { expiration } : {});
  });

/** Deletes credentials from KV by their hashes. May fail: D1 refuses them in any case. */
export const forgetTokens = async (env: Env, hashes: string[]): Promise<void> => {
  await Promise.all(hashes.map((hash) => bestEffort(() => env.TOKENS.delete(hash))));
};

/** KV is a cache: D1 has the truth. It allows one write per key and second, hence the retry. */
async function bestEffort(write: () => Promise<void>): Promise<void> {
  await inTime(write())
    .catch(() => scheduler.wait(1_100).then(() => inTime(write())))
    .catch(() => fault('warn', 'KV refused a write', {}));
}

export type TokenCaller = Extract<Caller, { tokenId: string }>;

/** Whether the last recorded use is an hour old. */
export const isUseDue = ({ check }: TokenCaller): boolean =>
  check !== undefined && check.lastUsedAt <= Date.now() - hourMs;

/** Records that a credential was used, at most once an hour, and corrects KV. Call it off the request's path. */
export async function recordUse(
  env: Env,
  caller: TokenCaller,
  hash: string,
  known: KnownToken,
): Promise<void> {
  const now = Date.now();
  const db = openDatabase(env);
  const isDue = or(isNull(tokens.lastUsedAt), lt(tokens.lastUsedAt, now - hourMs));
  await transaction(
    db,
    db
      .update(tokens)
      .set({ lastUsedAt: now })
      .where(and(eq(tokens.id, caller.tokenId), isDue)),
  );
  // KV may have missed a change, or hold one that a restore has undone.
  if (JSON.stringify(await findToken(env, hash)) !== JSON.stringify(known))
    await storeInKv(env, hash);
}
