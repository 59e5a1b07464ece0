import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { createMiddleware } from 'hono/factory';
import { findSession, type Session, sessionMs } from '../accounts/sessions.ts';
import type { App, Context } from '../http/context.ts';
import { seeOther } from '../http/redirect.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** Behind `signedIn`: who is signed in. */
    session: Session;
  }
}

/** Admits people who are signed in and redirects others to the sign-in page. Looks the session up each time. */
export const signedIn = createMiddleware<App>(async (c, next) => {
  const secret = getCookie(c, cookieName, onlyHere(c).prefix);
  const session = secret ? await findSession(c.env, secret) : undefined;
  if (!session) return seeOther(c, '/portal/sign-in');
  c.set('session', session);
  c.set('caller', { sessionHash: session.hash, accountId: session.user.accountId });
  return await next();
});

/** Gives the browser a session by its secret. */
export const startSession = (c: Context, secret: string): void =>
  setCookie(c, cookieName, secret, {
    ...onlyHere(c),
    httpOnly: true,
    sameSite: 'Lax',
    maxAge: sessionMs / 1000,
  });

/** Makes the browser forget its session. */
export const forgetSession = (c: Context): void => {
  deleteCookie(c, cookieName, onlyHere(c));
};

const cookieName = 'session';

/** A `__Host-` cookie is bound to this host and to https. Over http, which only local runs use, browsers refuse it. */
const onlyHere = (c: Context): { prefix?: 'host' } =>
  new URL(c.req.url).protocol === 'https:' ? { prefix: 'host' } : {};
