import { getCookie, setCookie } from 'hono/cookie';
import { createMiddleware } from 'hono/factory';
import { findSession, type Session, sessionMs } from '../accounts/sessions.ts';
import type { App, Context } from '../http/context.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** In the portal: who is signed in. */
    session: Session;
  }
}

/** Browsers keep a `__Host-` cookie to this host and https; on http, which is local, they would refuse it. */
const cookieName = (c: Context) => (isSecure(c) ? '__Host-session' : 'session');
const isSecure = (c: Context) => new URL(c.req.url).protocol === 'https:';

/** Gives the browser a session, or with an empty value takes it away. */
export function setSession(c: Context, value: string): void {
  setCookie(c, cookieName(c), value, {
    path: '/',
    httpOnly: true,
    secure: isSecure(c),
    sameSite: 'Lax',
    maxAge: value ? sessionMs / 1000 : 0,
  });
}

/** Lets pass who is signed in; others are led to the sign-in page. Checks the session on each request. */
export const signedIn = createMiddleware<App>(async (c, next) => {
  const value = getCookie(c, cookieName(c));
  const session = value ? await findSession(c.env, value) : undefined;
  if (!session) return c.redirect('/portal/sign-in', 303);
  c.set('session', session);
  c.set('caller', { sessionHash: session.hash, accountId: session.user.accountId });
  return await next();
});

/** A form's fields: the last value of each, and all values of those that repeat. */
export async function formOf(
  c: Context,
): Promise<{ one: (name: string) => string; all: (name: string) => string[] }> {
  const form = await c.req.parseBody({ all: true });
  const all = (name: string) => [form[name] ?? []].flat().filter((value) => typeof value === 'string');
  return { one: (name) => all(name).at(-1) ?? '', all };
}
