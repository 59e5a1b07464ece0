import { deleteCookie, setCookie } from 'hono/cookie';
import { createMiddleware } from 'hono/factory';
import { refuseIfMoved } from '../../core/accounts/accounts.ts';
import { hashToken } from '../../core/accounts/tokens/format.ts';
import { refuseInactive } from '../../core/platform/db/guard.ts';
import { Refusal } from '../../core/platform/errors.ts';
import { type App, type Context, seeOther } from '../../core/platform/http/context.ts';
import { limit } from '../../core/platform/http/limits.ts';
import { cookieOptions, sessionCookie, sessionCookieOf } from '../../people/http/session-cookie.ts';
import { callerOfLook, lookIn } from '../../people/looks.ts';
import { isSecret, secretIn, withCell } from '../../people/secrets.ts';
import { callerOf, sessionMs } from '../../people/sessions.ts';
import { connectionSql } from '../added.ts';
import { findLook, findSession, type Session, type Watched } from '../read/find-session.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** Set by `signedIn`. */
    session: Session;
  }
}

/**
 * Admits people who are signed in and redirects others. Looks the session up each time, unless the
 * cookie's checksum shows that it is junk.
 * @throws Refusal: rate limited; forbidden or unavailable, while the account is suspended
 */
export const signedIn = createMiddleware<App>(async (c, next) => {
  const session = (await lookOf(c)) ?? (await sessionOf(c));
  if (!session) return seeOther(c, '/portal/sign-in');
  refuseInactive(session.status);
  c.set('session', session);
  const { accountId } = session.user;
  const mayChange = c.req.path === '/portal/sign-out' || /^(?:GET|HEAD)$/.test(c.req.method);
  if (session.look && !mayChange) throw new Refusal({ kind: 'not allowed' });
  c.set('caller', session.look ? callerOfLook(accountId) : callerOf(accountId, session.hash));
  return await next();
});

/** The session of an operator who looks at the portal. */
async function lookOf(c: Context): Promise<Session | undefined> {
  const secret = secretIn(sessionCookieOf(c.req.raw) ?? '');
  const look = await lookIn(c.env, secret);
  if (!look) return undefined;
  const hash = await hashToken(secret);
  await limit(c.env, 'TOKEN_LIMIT', hash);
  return findLook(c.env, look, hash, connectionSql(c));
}

async function sessionOf(c: Context): Promise<Session | undefined> {
  const hash = await sessionHashOf(c);
  if (hash === undefined) return undefined;
  const session = await findSession(c.env, hash, connectionSql(c), watchedBy(c));
  if (!session) await refuseIfMoved(c.env);
  const cookie = sessionCookieOf(c.req.raw) ?? '';
  const secret = secretIn(cookie);
  // The account has moved here since they signed in.
  if (session && cookie !== withCell(c.env, secret)) startSession(c, secret);
  return session;
}

/** The hash of the request's session, which may have ended, if any. @throws Refusal: rate limited */
export async function sessionHashOf(c: Context): Promise<string | undefined> {
  const secret = secretIn(sessionCookieOf(c.req.raw) ?? '');
  if (!(await isSecret(c.env, 'session', secret))) return undefined;
  const hash = await hashToken(secret);
  await limit(c.env, 'TOKEN_LIMIT', hash);
  return hash;
}

/** The webhook or connection of a page, whose own page refuses another account's; otherwise undefined. */
export function watchedBy(c: Context): Watched | undefined {
  const [, list = '', id] =
    /^\/portal\/(webhook|connection)s\/([0-9a-f-]{36})(?:\/|$)/.exec(c.req.path) ?? [];
  return id === undefined ? undefined : { of: list, id };
}

export const startSession = (c: Context, secret: string, ms = sessionMs): void =>
  setCookie(c, sessionCookie, withCell(c.env, secret), {
    ...cookieOptions(c.req.raw),
    httpOnly: true,
    sameSite: 'Lax',
    maxAge: ms / 1000,
  });

export const forgetSession = (c: Context): void => {
  deleteCookie(c, sessionCookie, cookieOptions(c.req.raw));
};
