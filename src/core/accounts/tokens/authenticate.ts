import { createMiddleware } from 'hono/factory';
import * as v from 'valibot';
import { config } from '../../platform/config.ts';
import { asCaller } from '../../platform/db/guard.ts';
import { minuteMs } from '../../platform/durations.ts';
import { Refusal } from '../../platform/errors.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { limit, limitByAddress } from '../../platform/http/limits.ts';
import { inTime } from '../../platform/in-time.ts';
import { tokenLimiterOf } from '../../platform/raised-limits.ts';
import { type Limiter, rateLimits } from '../../platform/rate-limits.ts';
import { remembered } from '../../platform/remembered.ts';
import { refuseIfMoved } from '../accounts.ts';
import { hashToken, isRecognised, isWellFormed, type Scope } from './format.ts';
import { findToken, isUseDue, KnownToken, recordUse, type TokenCaller } from './known.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** Set by `authenticate`. */
    token: KnownToken;
  }
}

/**
 * Authenticates holders of a credential of `scope`; a read-only token may only GET. KV says who
 * calls; the first batch of `asCaller` checks that the credential is still valid. Unrecognised
 * credentials are rate limited by address before any lookup.
 * @throws Refusal: unauthenticated, forbidden, rate limited
 */
export const authenticate = (scope: Scope) =>
  createMiddleware<App>(async (c, next) => {
    const value = c.req.header('x-api-key')?.trim() ?? '';
    if (!isWellFormed(value)) throw new Refusal({ kind: 'unauthenticated' });
    const hash = await hashToken(value);
    const limiter = tokenLimiterOf(known.get(hash)?.accountId);
    showPolicy(c, limiter);
    const isOurs =
      known.get(hash) !== undefined || (await isRecognised(value, config(c.env).encryptionKeys));
    const token = await findCredential(c, hash, isOurs, limiter);
    if (!token || (token.expiresAt && token.expiresAt <= Date.now()))
      throw new Refusal({ kind: 'unauthenticated' });
    const { id: tokenId, accountId, connection, connectionIds, readOnly } = token;
    const scoped = { connectionId: connection?.connectionId, connectionIds, readOnly }; // D1 compares it
    const caller: TokenCaller = { tokenId, accountId, ...scoped, reader: c.get('reader')?.() };
    const check = () => asCaller(c.env, caller, () => []);
    const isScope = scope === (connection ? 'ingest' : 'api');
    if (!isScope || (readOnly && !/^(?:GET|HEAD)$/.test(c.req.method))) {
      await check();
      throw new Refusal({ kind: 'forbidden' });
    }
    c.set('token', token);
    c.set('caller', caller);
    await next();
    // A body that was refused before D1 was read: an invalid token is reported first.
    if (!caller.check) await check();
    const checked = tokenLimiterOf(accountId);
    if (checked !== limiter) showPolicy(c, checked);
    if (isUseDue(caller))
      c.executionCtx.waitUntil(recordUse(c.env, caller, hash, token).catch(() => {})); // recorded with the next use
  });

/** Limits tests and replays per token and per account, as the portal does. */
export const limitActions = createMiddleware<App>(async (c, next) => {
  await limit(c.env, 'ACTION_LIMIT', c.get('token').id);
  await limit(c.env, 'ACCOUNT_ACTION_LIMIT', c.get('caller').accountId);
  await next();
});

/** A credential, if it exists. One that is not `ours` is nearly always junk: its address is limited first. */
async function findCredential(c: Context, hash: string, ours: boolean, limiter: Limiter) {
  if (!ours) await limitByAddress(c, 'UNKNOWN_LIMIT');
  const [atTheEdge] = await Promise.all([
    knownAtTheEdge(c.env.TOKENS, hash),
    ours && limit(c.env, limiter, hash),
  ]);
  const token = atTheEdge ?? (await findStored(c.env, hash));
  if (!token && ours) await refuseIfMoved(c.env);
  if (token && !ours) await limit(c.env, limiter, hash);
  return token;
}

async function findStored(env: Env, hash: string): Promise<KnownToken | undefined> {
  const token = await findToken(env, hash);
  return token && remember(hash, token);
}

function showPolicy(c: Context, limiter: Limiter): void {
  const { calls, seconds } = rateLimits[limiter];
  c.header('RateLimit-Policy', `"token";q=${calls};w=${seconds}`);
}

const kvMs = 1000;
/** KV may have cached that it does not know a credential. */
const known = remembered<KnownToken>();
const remember = (hash: string, token: KnownToken): KnownToken => known.set(hash, token, minuteMs);

/** What this isolate or KV knows of a credential; D1 decides whether it is valid. */
async function knownAtTheEdge(kv: KVNamespace, hash: string): Promise<KnownToken | undefined> {
  const token = known.get(hash);
  if (token) return token;
  try {
    const entry = v.safeParse(
      KnownToken,
      await inTime(kv.get(hash, { type: 'json', cacheTtl: 60 }), kvMs),
    );
    return entry.success ? remember(hash, entry.output) : undefined;
  } catch {
    return undefined;
  }
}
