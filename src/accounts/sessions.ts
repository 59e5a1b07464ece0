import { and, eq, gt, inArray, type SQL, sql } from 'drizzle-orm';
import { config } from '../platform/config.ts';
import {
  breaksUnique,
  type Database,
  jsonList,
  openDatabase,
  refuseUnless,
  statement,
  transaction,
} from '../platform/db/database.ts';
import { portalUsers, sessions, signInLinks } from '../platform/db/tables.ts';
import { dayMs, minuteMs } from '../platform/durations.ts';
import { invalid } from '../platform/errors.ts';
import { askHomes } from '../platform/homes/each.ts';
import { hasHomes, nameOf, otherHomes } from '../platform/homes/homes.ts';
import { ownerOf } from './owner.ts';
import type { PortalUser } from './people.ts';
import { isSecret, newSecret, withHome } from './secrets.ts';
import { hashToken } from './tokens/format.ts';

export const linkMs = 15 * 60_000;

export const sessionMs = 14 * dayMs;

/** A link's secret, and the account that it opens; `pending` if the person has never signed in to it. */
export type SignInLink = { secret: string; account: string; pending: boolean };

/** How many accounts a person can get links for at a time. */
export const maxLinks = 5;

/**
 * Creates single-use links, valid for 15 minutes: one for the account that the address belongs to, or one for each
 * account that invited it, the newest five. With `accountId`, for that account only.
 */
export async function createSignInLinks(env: Env, email: string, accountId?: string): Promise<SignInLink[]> {
  const found = await askHomes(env, (home) => peopleWith(home, email, accountId));
  const owned = found.filter(([, people]) => people.some(({ pending }) => pending === 0));
  const inHomes = owned.length > 0 ? owned.slice(0, 1) : found;
  const links = await Promise.all(inHomes.map(([home, people]) => linksFor(home, people)));
  return links.flat().slice(0, maxLinks);
}

type Addressed = { id: string; account: string; pending: number };

/** The people with this address in a home, newest first. */
const peopleWith = (env: Env, email: string, accountId: string | undefined): Promise<Addressed[]> =>
  openDatabase(env).all<Addressed>(sql`
    select u.id, a.name as account, u.confirmed_at is null as pending
    from portal_users u join accounts a on a.id = u.account_id and a.home is null
    where u.email = ${email} ${accountId === undefined ? sql.empty() : sql`and u.account_id = ${accountId}`}
      and (u.confirmed_at is not null or not exists (
        select 1 from portal_users where email = ${email} and confirmed_at is not null))
    order by u.created_at desc, u.id desc limit ${maxLinks}`);

async function linksFor(env: Env, people: Addressed[]): Promise<SignInLink[]> {
  const links = await Promise.all(
    people.map(async ({ id, account, pending }) => {
      const secret = await newSecret(env, 'sign-in link');
      return { secret, account, pending: pending === 1, userId: id, hash: await hashToken(secret) };
    }),
  );
  if (links.length === 0) return [];
  const expiresAt = Date.now() + linkMs;
  const db = openDatabase(env);
  await transaction(db, [
    db.insert(signInLinks).values(links.map(({ hash, userId }) => ({ hash, userId, expiresAt }))),
    ...unlessFrozen(env, db, sql`id in ${jsonList(links.map(({ userId }) => userId))}`),
  ]);
  return links.map(({ secret, account, pending }) => ({
    secret: withHome(nameOf(env), secret),
    account,
    pending,
  }));
}

/**
 * The URL of a sign-in link, with the configured origin: a request's Host header cannot be trusted.
 *
 * @throws Refusal: invalid, when the origin is not configured
 */
export function signInUrl(env: Env, { secret }: SignInLink): string {
  const { origin } = config(env);
  if (!origin) throw invalid('ORIGIN is not set, so that there are no links. Run npm run deploy again.');
  return `${origin}/portal/sign-in/${secret}`;
}

/** With several homes, refuses while the account of these people is frozen. */
const unlessFrozen = (env: Env, db: Database, people: SQL) =>
  hasHomes(env)
    ? [
        refuseUnless(
          db,
          sql`not exists (select 1 from accounts where frozen
            and id in (select account_id from portal_users where ${people}))`,
          'account being moved',
        ),
      ]
    : [];

/**
 * Uses a link and starts a session; the first sign-in makes the address belong to the account. Returns the session's
 * secret, or undefined if the link is invalid or the address belongs to another account by now. Junk is refused without
 * I/O. A link may name a home that its account has left. The same form, by its `key`, starts the same session again
 * within a minute: its secret is made of both.
 *
 * @throws Refusal: unavailable, while the account is being moved
 */
export async function signIn(env: Env, link: string, key = ''): Promise<string | undefined> {
  if (!(await isSecret(env, 'sign-in link', link))) return undefined;
  const hash = await hashToken(link);
  const bytes = key ? Uint8Array.fromHex(await hashToken(`${link} ${key}`)) : undefined;
  for (const home of [env, ...otherHomes(env).map(([, other]) => other)]) {
    const secret = await newSecret(home, 'session', bytes);
    if (await signInAt(home, hash, secret)) return secret;
  }
  return undefined;
}

/** Returns whether the session has been started, by this request or by the same form within the last minute. */
async function signInAt(env: Env, hash: string, secret: string): Promise<boolean> {
  const now = Date.now();
  const db = openDatabase(env);
  const session = await hashToken(secret);
  const link = and(eq(signInLinks.hash, hash), gt(signInLinks.expiresAt, now));
  const user = db.select({ id: signInLinks.userId }).from(signInLinks).where(link);
  try {
    const [[used], , , [started]] = await transaction(db, [
      user,
      // From now on the address belongs to this account: a unique index allows one.
      db
        .update(portalUsers)
        .set({ lastSignInAt: now, confirmedAt: sql`coalesce(confirmed_at, ${now})` })
        .where(inArray(portalUsers.id, user)),
      statement(db)`
        insert into sessions (hash, user_id, expires_at)
        select ${session}, user_id, ${now + sessionMs} from sign_in_links where hash = ${hash} and expires_at > ${now}`,
      db
        .select({ hash: sessions.hash })
        .from(sessions)
        .where(and(eq(sessions.hash, session), gt(sessions.expiresAt, now + sessionMs - minuteMs))),
      ...unlessFrozen(env, db, sql`id in (select user_id from sign_in_links where hash = ${hash})`),
      db.delete(signInLinks).where(eq(signInLinks.hash, hash)),
    ]);
    const isElsewhere = used && hasHomes(env) && (await belongsElsewhere(env, used.id, now));
    return started !== undefined && !isElsewhere;
  } catch (error) {
    if (!breaksUnique(error, 'portal_users.email')) throw error;
    await db.delete(signInLinks).where(eq(signInLinks.hash, hash));
    return false;
  }
}

/**
 * Whether an address that was just confirmed belongs to an account in another home; then the sign-in does not count.
 * Asked after the write, so that of two simultaneous sign-ins neither misses the other.
 *
 * @throws Refusal: unavailable, when a home does not respond
 */
async function belongsElsewhere(env: Env, userId: string, now: number): Promise<boolean> {
  const db = openDatabase(env);
  const [joined] = await db
    .select({ email: portalUsers.email })
    .from(portalUsers)
    .where(and(eq(portalUsers.id, userId), eq(portalUsers.confirmedAt, now)));
  if (!joined) return false;
  let owned = true;
  try {
    const asked = otherHomes(env).map(([, home]) => ownerOf(home, joined.email));
    owned = (await Promise.all(asked)).some(Boolean);
  } finally {
    if (owned)
      await transaction(db, [
        db.delete(sessions).where(eq(sessions.userId, userId)),
        db.update(portalUsers).set({ confirmedAt: null }).where(eq(portalUsers.id, userId)),
      ]);
  }
  return owned;
}

/** Ends one session, or with `everywhere` all sessions of its user. */
export async function signOut(
  env: Env,
  session: { user: PortalUser; hash: string },
  everywhere: boolean,
): Promise<void> {
  const which = everywhere ? eq(sessions.userId, session.user.id) : eq(sessions.hash, session.hash);
  const db = openDatabase(env);
  await transaction(db, [
    db.delete(sessions).where(which),
    ...unlessFrozen(env, db, sql`id = ${session.user.id}`),
  ]);
}
