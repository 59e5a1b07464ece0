import { and, desc, eq, gt, inArray, not, notExists, notInArray, type SQL, sql } from 'drizzle-orm';
import { refuseIfMoved } from '../core/accounts/accounts.ts';
import { hashToken } from '../core/accounts/tokens/format.ts';
import { originOf } from '../core/platform/config.ts';
import {
  breaksUnique,
  type Database,
  jsonList,
  refuseUnless,
  transaction,
} from '../core/platform/db/database.ts';
import { type Caller, refuseUnlessActive } from '../core/platform/db/guard.ts';
import { accounts } from '../core/platform/db/schema/accounts.ts';
import { openDatabase } from '../core/platform/db/system.ts';
import { dayMs, minuteMs } from '../core/platform/durations.ts';
import { refusalIn } from '../core/platform/errors.ts';
import type { PortalUser } from './people.ts';
import { isSecret, newSecret, withCell } from './secrets.ts';
import { portalUsers, sessions, signInLinks } from './tables.ts';

export const linkMs = 15 * 60_000;

/** How long the link of an invitation works. */
export const invitationMs = 7 * dayMs;

export const sessionMs = 14 * dayMs;

/** A link's secret, and the account that it opens; `pending` if the person has never signed in to it. */
export type SignInLink = { secret: string; account: string; pending: boolean };

export const maxLinks = 20;

/** How many times an address can ask for links while they are valid, and in a day. */
const linkRequests = { valid: 5, day: 20 };
const tooOften = { kind: 'rate limited', retryAfter: linkMs / 1000 } as const;

/** SQL for whether a row of `portal_users` may not sign in by a link. */
export type Excluded = (db: Database) => SQL;

/**
 * Creates single-use links, valid for 15 minutes, or a week if they invite: one for each account of the person, or for
 * `accountId` alone. A form makes them once, by its `key`, and none if the address has asked too often, nor for people who are
 * `excluded` from links.
 * @throws Refusal: unavailable, while one of the accounts moves
 */
export async function createSignInLinks(
  env: Env,
  email: string,
  accountId?: string,
  form?: { key: string; excluded: Excluded | undefined },
  isInvitation = false,
): Promise<SignInLink[]> {
  const db = openDatabase(env);
  const people = await transaction(
    db,
    db
      .select({
        id: portalUsers.id,
        account: accounts.name,
        confirmedAt: portalUsers.confirmedAt,
      })
      .from(portalUsers)
      .innerJoin(
        accounts,
        and(
          eq(accounts.id, portalUsers.accountId),
          notInArray(accounts.status, ['suspended', 'moved']),
        ),
      )
      .where(
        and(
          eq(portalUsers.email, email),
          accountId === undefined ? undefined : eq(portalUsers.accountId, accountId),
          form?.excluded && not(form.excluded(db)),
        ),
      )
      .orderBy(desc(portalUsers.lastSignInAt), desc(portalUsers.createdAt), desc(portalUsers.id))
      .limit(maxLinks),
  );
  if (people.length === 0) return [];
  const links = await Promise.all(
    people.map(async ({ id: userId, account, confirmedAt }) => {
      const secret = await newSecret(env, 'sign-in link');
      const ofForm = form?.key ? await hashToken(`${userId} ${form.key}`) : null;
      const hash = await hashToken(secret);
      return {
        secret,
        account,
        pending: confirmedAt === null,
        row: { userId, form: ofForm, hash },
      };
    }),
  );
  const now = Date.now();
  const theirs = inArray(portalUsers.id, jsonList(people.map(({ id }) => id)));
  const made = await transaction(db, [
    db.insert(signInLinks).values(
      links.map(({ pending, row }) => ({
        ...row,
        expiresAt: now + (isInvitation && pending ? invitationMs : linkMs),
      })),
    ),
    refuseUnlessActive(db, accountsOf(db, theirs)),
    form ? countRequest(db, theirs, now) : [],
  ]).catch((error: unknown) => {
    const isTooOften = refusalIn(error)?.failure.kind === tooOften.kind;
    if (!isTooOften && !breaksUnique(error, 'sign_in_links.form')) throw error;
  });
  if (!made) return [];
  return links.map(({ secret, account, pending }) => ({
    secret: withCell(env, secret),
    account,
    pending,
  }));
}

/** Counts a request for links of these people, unless there were too many. */
function countRequest(db: Database, people: SQL, now: number) {
  const { linksAt } = portalUsers;
  const since = (ms: number) =>
    sql`(select count(*) from json_each(${linksAt}) where value > ${now - ms})`;
  const { valid, day } = linkRequests;
  const isOver = sql`(${since(linkMs)} >= ${valid} or ${since(dayMs)} >= ${day})`;
  return [
    refuseUnless(db, notExists(peopleWhere(db, and(people, isOver))), tooOften),
    db
      .update(portalUsers)
      .set({
        linksAt: sql`(
          select json_group_array(value) from (
            select value from json_each(${linksAt}) where value > ${now - dayMs}
            union all
            select ${now}))`,
      })
      .where(people),
  ];
}

const peopleWhere = (db: Database, which: SQL | undefined) =>
  db.select({ id: portalUsers.id }).from(portalUsers).where(which);

/** The URL of a sign-in link; a request's Host cannot be trusted. @throws Refusal: invalid */
export const signInUrl = (env: Env, { secret }: SignInLink): string =>
  `${originOf(env)}/portal/sign-in/link?secret=${secret}`; // a path would be logged

const accountsOf = (db: Database, people: SQL): SQL =>
  db.select({ accountId: portalUsers.accountId }).from(portalUsers).where(people).getSQL();

/**
 * Uses a link and starts a session. Returns its secret, or undefined if the link is invalid, or the person is
 * `excluded` from links; junk is refused without I/O. The same form, by its `key`, starts the same session again within
 * a minute.
 * @throws Refusal: forbidden or unavailable, while the account is suspended; moved, if it may have been
 */
export async function signIn(
  env: Env,
  link: string,
  excluded: Excluded | undefined,
  key = '',
): Promise<string | undefined> {
  if (!(await isSecret(env, 'sign-in link', link))) return undefined;
  const hash = await hashToken(link);
  const bytes = key ? Uint8Array.fromHex(await hashToken(`${link} ${key}`)) : undefined;
  const secret = await newSecret(env, 'session', bytes);
  const session = await hashToken(secret);
  const now = Date.now();
  const db = openDatabase(env);
  const ofLink = inArray(
    portalUsers.id,
    db
      .select({ userId: signInLinks.userId })
      .from(signInLinks)
      .where(and(eq(signInLinks.hash, hash), gt(signInLinks.expiresAt, now))),
  );
  const mayUse = and(ofLink, excluded && not(excluded(db)));
  const { started } = await transaction(db, {
    allowed: refuseUnlessActive(db, accountsOf(db, ofLink)),
    confirmed: db
      .update(portalUsers)
      .set({
        lastSignInAt: now,
        confirmedAt: sql`coalesce(${portalUsers.confirmedAt}, ${now})`,
      })
      .where(mayUse),
    added: addSession(db, { hash: session, expiresAt: now + sessionMs }, mayUse),
    started: db
      .select({ hash: sessions.hash })
      .from(sessions)
      .where(and(eq(sessions.hash, session), gt(sessions.expiresAt, now + sessionMs - minuteMs))),
    used: db.delete(signInLinks).where(eq(signInLinks.hash, hash)),
  });
  if (started.length > 0) return secret;
  await refuseIfMoved(env);
  return undefined;
}

/** The statement that adds a session of the person whom a condition finds. */
export const addSession = (
  db: Database,
  { hash, expiresAt }: { hash: string; expiresAt: number },
  which: SQL | undefined,
) =>
  db.insert(sessions).select(
    db
      .select({
        hash: sql<string>`${hash}`.as('hash'),
        userId: portalUsers.id,
        expiresAt: sql<number>`${expiresAt}`.as('expires_at'),
      })
      .from(portalUsers)
      .where(which),
  );

/** Ends one session, or with `everywhere` all sessions of its user. */
export async function signOut(
  env: Env,
  session: { user: PortalUser; hash: string },
  everywhere: boolean,
): Promise<void> {
  const { user, hash } = session;
  const db = openDatabase(env);
  await transaction(
    db,
    db.delete(sessions).where(everywhere ? eq(sessions.userId, user.id) : eq(sessions.hash, hash)),
  );
}

/** Who has the session with this hash, in their account. */
export const callerOf = (accountId: string, hash: string): Caller => ({
  accountId,
  credential: {
    row: () => sql`(
      select u.account_id, u.role from sessions s join portal_users u on u.id = s.user_id
      where s.hash = ${hash} and s.expires_at > ${Date.now()})`,
    refusal: { kind: 'unauthenticated' },
    who: sql`(
      select u.id, u.email as name from sessions s join portal_users u on u.id = s.user_id
      where s.hash = ${hash})`,
  },
});
