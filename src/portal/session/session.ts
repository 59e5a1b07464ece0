import { and, eq, gt, ne, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { deleteCookie, setCookie } from 'hono/cookie';
import { createMiddleware } from 'hono/factory';
import type { Account, Units } from '../../accounts/accounts.ts';
import { refuseIfMoved } from '../../accounts/owner.ts';
import type { PortalUser } from '../../accounts/people.ts';
import { isSecret, secretIn, withCell } from '../../accounts/secrets.ts';
import { sessionMs } from '../../accounts/sessions.ts';
import { hashToken } from '../../accounts/tokens/format.ts';
import { openDatabase, statement } from '../../platform/db/database.ts';
import { accounts, portalUsers, sessions } from '../../platform/db/tables.ts';
import { hourMs } from '../../platform/durations.ts';
import { Refusal } from '../../platform/errors.ts';
import { type App, type Context, seeOther } from '../../platform/http/context.ts';
import { limit } from '../../platform/http/limits.ts';
import { cookieOptions, sessionCookie, sessionCookieOf } from '../../platform/http/session-cookie.ts';
import { countedHours } from '../../webhooks/deliveries/read/counts.ts';
import { type Attention, attentionOf } from './attention.ts';
import { roleFor } from './rights.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** Set by `signedIn`. */
    session: Session;
  }
}

/**
 * Admits people who are signed in and redirects others to the sign-in page. Looks the session up each time, unless the
 * cookie's checksum shows that it is junk.
 *
 * @throws Refusal: rate limited; forbidden, while the account is suspended
 */
export const signedIn = createMiddleware<App>(async (c, next) => {
  const cookie = sessionCookieOf(c.req.raw);
  const session = cookie ? await sessionOf(c, cookie) : undefined;
  if (!session) return seeOther(c, '/portal/sign-in');
  if (session.status === 'suspended') throw new Refusal({ kind: 'forbidden' });
  c.set('session', session);
  c.set('caller', { sessionHash: session.hash, accountId: session.user.accountId, needs: roleFor(c) });
  return await next();
});

async function sessionOf(c: Context, cookie: string): Promise<Session | undefined> {
  const secret = secretIn(cookie);
  if ((await hashWithinLimit(c, secret)) === undefined) return undefined;
  const session = await findSession(c.env, secret, watchedBy(c));
  if (!session) await refuseIfMoved(c.env);
  // The account has moved here since they signed in.
  else if (cookie !== withCell(c.env, secret)) startSession(c, secret);
  return session;
}

/**
 * The hash of the request's session, which may have ended; undefined if there is none.
 *
 * @throws Refusal: rate limited
 */
export async function sessionHashOf(c: Context): Promise<string | undefined> {
  const cookie = sessionCookieOf(c.req.raw);
  return cookie ? hashWithinLimit(c, secretIn(cookie)) : undefined;
}

/**
 * The webhook or connection of a page; undefined for pages about the account. The page itself refuses another
 * account's.
 */
export function watchedBy(c: Context): Watched | undefined {
  const [, list = '', id] =
    /^\/portal\/(webhook|connection)s\/([0-9a-f-]{36})(?:\/|$)/.exec(c.req.path) ?? [];
  return id === undefined ? undefined : { of: list, id };
}

async function hashWithinLimit(c: Context, secret: string): Promise<string | undefined> {
  if (!(await isSecret(c.env, 'session', secret))) return undefined;
  const hash = await hashToken(secret);
  await limit(c.env, 'TOKEN_LIMIT', hash);
  return hash;
}

export const startSession = (c: Context, secret: string): void =>
  setCookie(c, sessionCookie, withCell(c.env, secret), {
    ...cookieOptions(c.req.raw),
    httpOnly: true,
    sameSite: 'Lax',
    maxAge: sessionMs / 1000,
  });

export const forgetSession = (c: Context): void => {
  deleteCookie(c, sessionCookie, cookieOptions(c.req.raw));
};

/**
 * A session: its person, the account's name, what needs attention, and the hash of its secret. `version` is that of the
 * watched page, from before the page is read.
 */
export type Session = {
  user: PortalUser;
  account: string;
  status: Account['status'];
  units: Units;
  attention: Attention;
  version: string;
  hash: string;
};

/** The session of `secret`, with the menu's counts, in one query. `watched` is by default the account. */
async function findSession(env: Env, secret: string, watched?: Watched): Promise<Session | undefined> {
  const hash = await hashToken(secret);
  const now = Date.now();
  const [found] = await openDatabase(env)
    .select({
      user: portalUsers,
      account: accounts.name,
      status: accounts.status,
      units: accounts.units,
      attention: attentionOf(accounts.id, now),
      version: sql<string | number | null>`${versionOf(watched ?? { of: 'account', id: accounts.id }, now)}`,
    })
    .from(sessions)
    .innerJoin(portalUsers, eq(portalUsers.id, sessions.userId))
    .innerJoin(accounts, and(eq(accounts.id, portalUsers.accountId), ne(accounts.status, 'moved')))
    .where(and(eq(sessions.hash, hash), gt(sessions.expiresAt, now)));
  return found && { ...found, version: String(found.version ?? ''), hash };
}

/**
 * The subject of a page: an account, whose records change; a webhook, whose deliveries end; or a connection, which also
 * pulls without changes.
 */
export type Watched = { of: string; id: string };

/** SQL for a text that changes whenever the subject does; null before its first change. Reads one row, or four. */
export function versionOf({ of, id }: { of: string; id: string | SQLWrapper }, now: number): SQL {
  if (of === 'webhook')
    return sql`(select json_array(hour, delivered, failed, retried) from webhook_hours
      where webhook_id = ${id} and slot = ${Math.floor(now / hourMs) % countedHours})`;
  if (of === 'connection')
    return sql`(select json_array(${newestChange(sql`c.account_id`)}, c.health_status, c.last_pulled_at, p.paused_at,
        p.refused_at)
      from connections c left join pulls p on p.connection_id = c.id where c.id = ${id})`;
  return newestChange(id);
}

const newestChange = (accountId: string | SQLWrapper): SQL =>
  sql`(select max(seq) from changes where account_id = ${accountId})`;

/** The version of the subject, if the session has not ended. Reads two rows. */
export async function readVersion(
  env: Env,
  watched: Watched,
  sessionHash: string,
): Promise<string | undefined> {
  const now = Date.now();
  const [found] = await statement<{ version: string | number | null }>(openDatabase(env))`
    select ${versionOf(watched, now)} as version from sessions
    where hash = ${sessionHash} and expires_at > ${now}`;
  return found && String(found.version ?? '');
}
