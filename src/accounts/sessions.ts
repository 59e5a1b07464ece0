import { type SQL, sql } from 'drizzle-orm';
import { originOf } from '../platform/config.ts';
import {
  breaksUnique,
  type Database,
  jsonList,
  read,
  refuseUnless,
  transaction,
  write,
} from '../platform/db/database.ts';
import { refuseUnlessActive } from '../platform/db/guard.ts';
import { openDatabase } from '../platform/db/system.ts';
import { dayMs, minuteMs } from '../platform/durations.ts';
import { refusalIn } from '../platform/errors.ts';
import { refuseIfMoved } from './accounts.ts';
import type { PortalUser } from './people.ts';
import { isSecret, newSecret, withCell } from './secrets.ts';
import { mustUseProvider } from './single-sign-on.ts';
import { hashToken } from './tokens/format.ts';

export const linkMs = 15 * 60_000;

export const sessionMs = 14 * dayMs;

/** A link's secret, and the account that it opens; `pending` if the person has never signed in to it. */
export type SignInLink = { secret: string; account: string; pending: boolean };

export const maxLinks = 20;

/** How many times an address can ask for links while they are valid, and in a day. */
export const linkRequests = { valid: 5, day: 20 };
const tooOften = { kind: 'rate limited', retryAfter: linkMs / 1000 } as const;

/**
 * Creates single-use links, valid for 15 minutes: one for each account of the person, or for `accountId`
 * alone. The form with this `key` makes them once, and none if the address has asked too often, nor for accounts
 * whose provider signs the person in.
 * @throws Refusal: unavailable, while one of the accounts moves
 */
export async function createSignInLinks(
  env: Env,
  email: string,
  accountId?: string,
  key?: string,
): Promise<SignInLink[]> {
  const db = openDatabase(env);
  const people = await read<{ id: string; account: string; pending: number }>(db)`
    select u.id, a.name as account, u.confirmed_at is null as pending
    from portal_users u join accounts a on a.id = u.account_id and a.status not in ('suspended', 'moved')
    where u.email = ${email} ${accountId === undefined ? sql.empty() : sql`and u.account_id = ${accountId}`}
      and (${key === undefined} or not ${mustUseProvider(sql`u`)})
    order by u.last_sign_in_at desc, u.created_at desc, u.id desc limit ${maxLinks}`;
  if (people.length === 0) return [];
  const links = await Promise.all(
    people.map(async ({ id, account, pending }) => {
      const secret = await newSecret(env, 'sign-in link');
      const form = key ? await hashToken(`${id} ${key}`) : null;
      return {
        secret,
        account,
        pending: pending === 1,
        userId: id,
        form,
        hash: await hashToken(secret),
      };
    }),
  );
  const now = Date.now();
  const expiresAt = now + linkMs;
  const theirs = sql`id in ${jsonList(links.map(({ userId }) => userId))}`;
  const made = await transaction(db, [
    write(db)`
      insert into sign_in_links (hash, user_id, form, expires_at)
      select value->>'hash', value->>'userId', value->>'form', ${expiresAt}
      from json_each(${JSON.stringify(links.map(({ hash, userId, form }) => ({ hash, userId, form })))})`,
    refuseUnlessActive(db, accountsOf(theirs)),
    key === undefined ? [] : countRequest(db, theirs, now),
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
  const since = (ms: number) =>
    sql`(select count(*) from json_each(links_at) where value > ${now - ms})`;
  const { valid, day } = linkRequests;
  const isOver = sql`${since(linkMs)} >= ${valid} or ${since(dayMs)} >= ${day}`;
  return [
    refuseUnless(
      db,
      sql`not exists (select 1 from portal_users where ${people} and (${isOver}))`,
      tooOften,
    ),
    write(db)`
      update portal_users set links_at = (
        select json_group_array(value) from (
          select value from json_each(links_at) where value > ${now - dayMs} union all select ${now}))
      where ${people}`,
  ];
}

/** The URL of a sign-in link; a request's Host cannot be trusted. @throws Refusal: invalid */
export const signInUrl = (env: Env, { secret }: SignInLink): string =>
  `${originOf(env)}/portal/sign-in/link?secret=${secret}`; // a path would be logged

const accountsOf = (people: SQL): SQL => sql`select account_id from portal_users where ${people}`;

/**
 * Uses a link and starts a session. Returns its secret, or undefined if the link is invalid, or the person must use a
 * provider; junk is refused without I/O. The same form, by its `key`, starts the same session again within a minute.
 * @throws Refusal: forbidden or unavailable, while the account is suspended; moved, if it may have been
 */
export async function signIn(env: Env, link: string, key = ''): Promise<string | undefined> {
  if (!(await isSecret(env, 'sign-in link', link))) return undefined;
  const hash = await hashToken(link);
  const bytes = key ? Uint8Array.fromHex(await hashToken(`${link} ${key}`)) : undefined;
  const secret = await newSecret(env, 'session', bytes);
  const session = await hashToken(secret);
  const now = Date.now();
  const db = openDatabase(env);
  const ofLink = sql`id in (select user_id from sign_in_links where hash = ${hash} and expires_at > ${now})`;
  const mayUse = sql`${ofLink} and not ${mustUseProvider(sql`portal_users`)}`;
  const { started } = await transaction(db, {
    allowed: refuseUnlessActive(db, accountsOf(ofLink)),
    confirmed: write(db)`
      update portal_users set last_sign_in_at = ${now}, confirmed_at = coalesce(confirmed_at, ${now})
      where ${mayUse}`,
    added: write(db)`
      insert into sessions (hash, user_id, expires_at)
      select ${session}, id, ${now + sessionMs} from portal_users where ${mayUse}`,
    started: read(db)`
      select 1 from sessions where hash = ${session} and expires_at > ${now + sessionMs - minuteMs}`,
    used: write(db)`delete from sign_in_links where hash = ${hash}`,
  });
  if (started.length > 0) return secret;
  await refuseIfMoved(env);
  return undefined;
}

/** Ends one session, or with `everywhere` all sessions of its user. */
export async function signOut(
  env: Env,
  session: { user: PortalUser; hash: string },
  everywhere: boolean,
): Promise<void> {
  const { user, hash } = session;
  const db = openDatabase(env);
  await write(
    db,
  )`delete from sessions where ${everywhere ? sql`user_id = ${user.id}` : sql`hash = ${hash}`}`;
}
