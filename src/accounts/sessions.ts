import { and, eq, gt, sql } from 'drizzle-orm';
import { openDatabase, statement, transaction } from '../db/database.ts';
import { accounts, portalUsers, sessions, signInLinks } from '../db/tables.ts';
import { hashToken } from '../tokens/format.ts';
import type { PortalUser } from './people.ts';
import { isSecret, newSecret } from './secrets.ts';

/** A session: whose it is, the account's name, and the hash of its secret. */
export type Session = { user: PortalUser; account: string; hash: string };

const linkMs = 15 * 60_000;

/** How long a session lasts. */
export const sessionMs = 14 * 24 * 3_600_000;

/** Creates a single-use link, valid for 15 minutes, if a portal user has this address. Returns its secret part. */
export async function createSignInLink(env: Env, email: string): Promise<string | undefined> {
  const secret = await newSecret(env, 'sign-in link');
  const inserted = await openDatabase(env).all(sql`
    insert into sign_in_links (hash, user_id, expires_at)
    select ${await hashToken(secret)}, id, ${Date.now() + linkMs} from portal_users where email = ${email}
    returning user_id`);
  return inserted.length > 0 ? secret : undefined;
}

/**
 * Uses a link up and opens a session. Returns the session's secret, or undefined if the link is not valid. Junk is
 * told without asking the database.
 */
export async function signIn(env: Env, link: string): Promise<string | undefined> {
  if (!(await isSecret(env, 'sign-in link', link))) return undefined;
  const now = Date.now();
  const db = openDatabase(env);
  const [used] = await db
    .delete(signInLinks)
    .where(eq(signInLinks.hash, await hashToken(link)))
    .returning();
  if (!used || used.expiresAt <= now) return undefined;
  const secret = await newSecret(env, 'session');
  await transaction(db, [
    db.insert(sessions).values({
      hash: await hashToken(secret),
      userId: used.userId,
      expiresAt: now + sessionMs,
    }),
    db.update(portalUsers).set({ lastSignInAt: now }).where(eq(portalUsers.id, used.userId)),
    statement(db, sql`delete from sessions where expires_at <= ${now}`),
    statement(db, sql`delete from sign_in_links where expires_at <= ${now}`),
  ]);
  return secret;
}

/** The session that `secret` opens; undefined if there is none, or its account is suspended. */
export async function findSession(env: Env, secret: string): Promise<Session | undefined> {
  const hash = await hashToken(secret);
  const [found] = await openDatabase(env)
    .select({ user: portalUsers, account: accounts.name })
    .from(sessions)
    .innerJoin(portalUsers, eq(portalUsers.id, sessions.userId))
    .innerJoin(accounts, and(eq(accounts.id, portalUsers.accountId), eq(accounts.status, 'active')))
    .where(and(eq(sessions.hash, hash), gt(sessions.expiresAt, Date.now())));
  return found && { ...found, hash };
}

/** Ends one session, or with `everywhere` all sessions of its user. */
export async function signOut(
  env: Env,
  session: { user: PortalUser; hash: string },
  everywhere: boolean,
): Promise<void> {
  const which = everywhere ? eq(sessions.userId, session.user.id) : eq(sessions.hash, session.hash);
  await openDatabase(env).delete(sessions).where(which);
}
