import { and, eq, sql } from 'drizzle-orm';
import * as v from 'valibot';
import { type Database, statement, transaction } from '../db/database.ts';
import { newId } from '../db/ids.ts';
import { accounts, portalUsers, sessions, signInLinks } from '../db/tables.ts';
import { invalid } from '../errors.ts';
import { hashToken } from '../tokens/format.ts';

/** A person of an account, as the portal and the operators see one. */
export type PortalUser = typeof portalUsers.$inferSelect;

/** An e-mail address, in the form in which it is kept. */
export const Email = v.pipe(
  v.string(),
  v.trim(),
  v.toLowerCase(),
  v.maxLength(320, 'can be at most 320 characters'),
  v.email('must be an e-mail address'),
);

/** A session: whose it is, the account's name, and the hash of its secret. */
export type Session = { user: PortalUser; account: string; hash: string };

const linkMs = 15 * 60_000;
export const sessionMs = 14 * 24 * 3_600_000;

const secret = () =>
  crypto.getRandomValues(new Uint8Array(32)).toBase64({ alphabet: 'base64url', omitPadding: true });

/**
 * Adds a person to an account.
 *
 * @throws Refusal: invalid, when the account does not exist or the address is somebody's already
 */
export async function addUser(db: Database, accountId: string, email: string): Promise<PortalUser> {
  const [account] = await db.select().from(accounts).where(eq(accounts.id, accountId));
  if (!account) throw invalid('Unknown account');
  const user: PortalUser = { id: newId(), accountId, email, createdAt: Date.now(), lastSignInAt: null };
  const [added] = await db.insert(portalUsers).values(user).onConflictDoNothing().returning();
  if (!added)
    throw invalid('This address cannot be added', [{ field: 'email', message: 'is in use already' }]);
  return user;
}

/** The people of an account, in the order in which they came. */
export const listUsers = (db: Database, accountId: string): Promise<PortalUser[]> =>
  db
    .select()
    .from(portalUsers)
    .where(eq(portalUsers.accountId, accountId))
    .orderBy(portalUsers.createdAt, portalUsers.id)
    .limit(1000);

/** Removes a person, with all sessions, from an account. @throws Refusal: invalid, for nobody of the account */
export async function removeUser(db: Database, accountId: string, userId: string): Promise<PortalUser> {
  const own = and(eq(portalUsers.id, userId), eq(portalUsers.accountId, accountId));
  const [removed] = await db.delete(portalUsers).where(own).returning();
  if (!removed) throw invalid('Unknown user');
  return removed;
}

/** Makes a single-use link for 15 minutes, if anybody has this address. Answers its secret part. */
export async function makeSignInLink(db: Database, email: string): Promise<string | undefined> {
  const value = secret();
  const inserted = await db.all(sql`
    insert into sign_in_links (hash, user_id, expires_at)
    select ${await hashToken(value)}, id, ${Date.now() + linkMs} from portal_users where email = ${email}
    returning user_id`);
  return inserted.length > 0 ? value : undefined;
}

/** Uses a link up, and opens a session. Answers the session's secret; undefined when the link is not good. */
export async function signIn(db: Database, link: string): Promise<string | undefined> {
  const now = Date.now();
  const [used] = await db
    .delete(signInLinks)
    .where(eq(signInLinks.hash, await hashToken(link)))
    .returning();
  if (!used || used.expiresAt <= now) return undefined;
  const value = secret();
  await transaction(db, [
    db.insert(sessions).values({
      hash: await hashToken(value),
      userId: used.userId,
      expiresAt: now + sessionMs,
    }),
    db.update(portalUsers).set({ lastSignInAt: now }).where(eq(portalUsers.id, used.userId)),
    statement(db, sql`delete from sessions where expires_at <= ${now}`),
    statement(db, sql`delete from sign_in_links where expires_at <= ${now}`),
  ]);
  return value;
}

/** Whose session this is, and the session's hash; undefined when it is none, or of a suspended account. */
export async function findSession(db: Database, value: string): Promise<Session | undefined> {
  const hash = await hashToken(value);
  const [found] = await db
    .select({ user: portalUsers, account: accounts.name })
    .from(sessions)
    .innerJoin(portalUsers, eq(portalUsers.id, sessions.userId))
    .innerJoin(accounts, and(eq(accounts.id, portalUsers.accountId), eq(accounts.status, 'active')))
    .where(and(eq(sessions.hash, hash), sql`${sessions.expiresAt} > ${Date.now()}`));
  return found && { ...found, hash };
}

/** Ends one session, or with `everywhere` all of its user's. */
export async function signOut(
  db: Database,
  session: { user: PortalUser; hash: string },
  everywhere: boolean,
) {
  const which = everywhere ? eq(sessions.userId, session.user.id) : eq(sessions.hash, session.hash);
  await db.delete(sessions).where(which);
}
