import { createMiddleware } from 'hono/factory';
import * as v from 'valibot';
import { asCaller, openDatabase } from '../db/database.ts';
import { Refusal } from '../errors.ts';
import { hashToken, isWellFormed, type Scope } from '../tokens/format.ts';
import { findToken, isUseNews, KnownToken, noteUse, type TokenCaller } from '../tokens/service.ts';
import type { App, Context } from './context.ts';

/** The rate limit, as `wrangler.toml` sets it: calls in so many seconds, per credential. */
const limit = { calls: 600, seconds: 60 };

/**
 * Lets pass who holds a credential of `scope` (spec 5, design 4). KV says who calls; that the credential is
 * still good is checked by the first batch of `asCaller`, before anything of the account is read.
 *
 * @throws Refusal: unauthenticated, forbidden, rate limited
 */
export const authenticate = (scope: Scope) =>
  createMiddleware<App>(async (c, next) => {
    const value = c.req.header('x-api-key')?.trim() ?? '';
    if (!isWellFormed(value)) throw new Refusal({ kind: 'unauthenticated' });
    const hash = await hashToken(value);
    c.header('RateLimit-Policy', `"token";q=${limit.calls};w=${limit.seconds}`);
    const [atTheEdge, allowed] = await Promise.all([
      knownAtTheEdge(c.env.TOKENS, hash),
      withinLimit(c.env.TOKEN_LIMIT, hash),
    ]);
    if (!allowed) throw rateLimited();
    const token = atTheEdge ?? (await lookUp(c, hash));
    if (token.expiresAt && token.expiresAt <= Date.now()) throw new Refusal({ kind: 'unauthenticated' });
    const caller: TokenCaller = { tokenId: token.id, accountId: token.accountId };
    const db = openDatabase(c.env.DB);
    if (token.scope !== scope) {
      await asCaller(db, caller, []); // a revoked one is 401 here too
      throw new Refusal({ kind: 'forbidden' });
    }
    c.set('token', token);
    c.set('caller', caller);
    await next();
    // A body refused before D1 was asked: whether the token is good comes before what was wrong with it.
    if (caller.lastUsedAt === undefined) await asCaller(db, caller, []);
    if (isUseNews(caller)) c.executionCtx.waitUntil(noteUse(db, caller).catch(() => {})); // the next use notes it
  });

/** Counts one more try by this client's address. @throws Refusal: rate limited */
export async function limitUnknown(c: Context): Promise<void> {
  const address = c.req.header('cf-connecting-ip') ?? 'unknown';
  if (!(await withinLimit(c.env.UNKNOWN_LIMIT, address))) throw rateLimited();
}

/** A limiter that fails lets everybody pass: it protects the service, and must not be what stops it. */
export const withinLimit = (limiter: RateLimit, key: string): Promise<boolean> =>
  limiter.limit({ key }).then(
    ({ success }) => success,
    () => true,
  );

const rememberedMs = 60_000;
const mostRemembered = 1000;
const remembered = new Map<string, { token: KnownToken; until: number }>();

/**
 * What this isolate or KV knows of a credential. Both only say who calls, which never changes; whether the
 * credential is still good is D1's to say. Whatever goes wrong with KV, D1 is asked instead.
 */
async function knownAtTheEdge(kv: KVNamespace, hash: string): Promise<KnownToken | undefined> {
  const known = remembered.get(hash);
  if (known && known.until > Date.now()) return known.token;
  try {
    const entry = v.safeParse(KnownToken, await kv.get(hash, { type: 'json', cacheTtl: 60 }));
    if (!entry.success) return undefined;
    if (remembered.size >= mostRemembered) remembered.clear();
    remembered.set(hash, { token: entry.output, until: Date.now() + rememberedMs });
    return entry.output;
  } catch {
    return undefined;
  }
}

async function lookUp(c: Context, hash: string): Promise<KnownToken> {
  await limitUnknown(c);
  const token = await findToken(openDatabase(c.env.DB), c.env.TOKENS, hash);
  if (!token) throw new Refusal({ kind: 'unauthenticated' });
  return token;
}

const rateLimited = () => {
  const elapsed = (Date.now() / 1000) % limit.seconds;
  return new Refusal({ kind: 'rate limited', retryAfter: Math.ceil(limit.seconds - elapsed) });
};
