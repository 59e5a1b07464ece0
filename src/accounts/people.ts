import { and, eq, sql } from 'drizzle-orm';
import { following, type Slice, type SliceQuery, sliceOf } from '../platform/db/cursor.ts';
import {
  type Database,
  refuseUnless,
  type Statements,
  write,
  writeReturning,
} from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { newId } from '../platform/db/ids.ts';
import { assigned, readRows, writeRows } from '../platform/db/rows.ts';
import { portalUsers } from '../platform/db/schema/accounts.ts';
import { dayMs, hourMs } from '../platform/durations.ts';
import { invalid } from '../platform/errors.ts';
import type { Role } from '../platform/roles.ts';
import { audit } from './audit/write.ts';
import { removedHash } from './single-sign-on.ts';

/** A person of an account; pending until `confirmedAt`, their first sign-in. */
export type PortalUser = typeof portalUsers.$inferSelect;

/**
 * Adds a pending person, unless they are there, with `alongside` in one transaction; an account's first becomes an admin.
 * @throws Refusal: invalid, when the account does not exist or the person has signed in to it
 */
export async function addPortalUser(
  env: Env,
  caller: Caller,
  email: string,
  role: Role,
  alongside: (db: Database) => Statements,
): Promise<PortalUser> {
  const { accountId } = caller;
  const hash = await removedHash(accountId, email);
  const { users } = await asCaller(env, caller, (db) => ({
    ...addPending(db, caller, { email, role, hash }),
    alongside: alongside(db),
    users: readRows(db, portalUsers)`where email = ${email} and account_id = ${accountId}`,
  }));
  const [user] = users;
  if (user?.confirmedAt === null) return user;
  const message = 'belongs to this account already';
  throw invalid('This address cannot be added', [{ field: 'email', message }]);
}

/** A person to be added, and by which they are known if they were removed. */
type Added = { email: string; role: Role; hash: string };

/** The statements that add a pending person, or give one the new role; an account's first is an admin. */
const addPending = (db: Database, caller: Caller, { email, role, hash }: Added) => {
  const ours = sql`account_id = ${caller.accountId}`;
  return {
    returned: write(db)`delete from removed_people where ${ours} and hash = ${hash}`,
    added: write(db)`
      insert into portal_users (id, account_id, email, created_at, role)
      select ${newId()}, ${caller.accountId}, ${email}, ${Date.now()},
        iif(exists (select 1 from portal_users where ${ours} and email <> ${email}), ${role}, 'admin')
      where true
      on conflict (email, account_id) do update set role = excluded.role
        where confirmed_at is null and role <> excluded.role`,
    audited: audit(db, caller, 'invited', 'portal_users', sql`email = ${email} and changes() > 0`, [
      `role: ${role}`,
    ]),
  };
};

/** A slice of the account's people, pending ones included, in the order they were added. */
export async function listPortalUsers(
  env: Env,
  caller: Caller,
  slice: SliceQuery,
): Promise<Slice<PortalUser>> {
  const which = and(eq(portalUsers.accountId, caller.accountId), following(portalUsers, slice));
  const select = (db: Database) =>
    readRows(db, portalUsers)`where ${which} order by created_at, id limit ${slice.limit + 1}`;
  return sliceOf(await asCaller(env, caller, select), slice);
}

/** The addresses of the account's first 100 people. */
export const listAddresses = async (env: Env, caller: Caller): Promise<string[]> =>
  (await listPortalUsers(env, caller, { limit: 100 })).items.map(({ email }) => email);

export async function findPortalUser(
  env: Env,
  caller: Caller,
  userId: string,
): Promise<PortalUser | undefined> {
  const [user] = await asCaller(
    env,
    caller,
    (db) => readRows(db, portalUsers)`where ${own(caller, userId)}`,
  );
  return user;
}

/** A person's own settings: whether they get alert emails, and their time zone. */
type Preferences = Partial<Pick<PortalUser, 'getsAlerts' | 'timeZone'>>;

/** Sets a person's own settings; the time zone null means the browser's. */
export async function setPreferences(
  env: Env,
  caller: Caller,
  userId: string,
  chosen: Preferences,
): Promise<void> {
  const set = (db: Database) =>
    write(
      db,
    )`update portal_users set ${assigned(portalUsers, chosen)} where ${own(caller, userId)}`;
  await asCaller(env, caller, set, { repeatable: true });
}

/** Changes a role. @throws Refusal: invalid, when no admin would be left who has signed in */
export async function setRole(
  env: Env,
  caller: Caller,
  userId: string,
  role: Role,
): Promise<PortalUser> {
  const { changed } = await asCaller(env, caller, (db) => ({
    allowed: role === 'admin' ? undefined : unlessLastAdmin(db, caller, userId),
    audited: audit(db, caller, 'changed', 'portal_users', sql`id = ${userId} and role <> ${role}`, [
      `role: ${role}`,
    ]),
    changed: writeRows(db, portalUsers)`
      update portal_users set role = ${role} where ${own(caller, userId)}`,
  }));
  return known(changed);
}

/**
 * Removes a person, also the last admin if operators do it, and remembers that: their provider does not add them again.
 * @throws Refusal: invalid
 */
export async function removePortalUser(
  env: Env,
  caller: Caller,
  userId: string,
): Promise<PortalUser> {
  const { accountId } = caller;
  const user = await findPortalUser(env, caller, userId);
  if (!user) throw invalid(unknownUser);
  const hash = await removedHash(accountId, user.email);
  const { removed } = await asCaller(env, caller, (db) => ({
    allowed:
      'operator' in caller
        ? unlessOnlyByLink(db, caller, userId)
        : unlessLastAdmin(db, caller, userId),
    remembered: write(db)`
      insert into removed_people (account_id, hash) values (${accountId}, ${hash}) on conflict do nothing`,
    audited: audit(db, caller, 'deleted', 'portal_users', userId),
    removed: writeRows(db, portalUsers)`delete from portal_users where ${own(caller, userId)}`,
  }));
  return known(removed);
}

function known([user]: PortalUser[]): PortalUser {
  if (!user) throw invalid(unknownUser);
  return user;
}

const unknownUser = 'Unknown user';

const own = ({ accountId }: Caller, userId: string) =>
  sql`id = ${userId} and account_id = ${accountId}`;

/**
 * Refuses to change the last admin who has signed in, or the one who can always use a link. In the change's own
 * transaction, because two may coincide.
 */
const unlessLastAdmin = (db: Database, { accountId }: Caller, userId: string) =>
  refuseUnless(
    db,
    sql`(exists (select 1 from portal_users
      where account_id = ${accountId} and id <> ${userId} and role = 'admin' and confirmed_at is not null)
    or not exists (select 1 from portal_users
      where id = ${userId} and account_id = ${accountId} and role = 'admin' and confirmed_at is not null))
    and not exists (select 1 from single_sign_on where account_id = ${accountId} and link_user_id = ${userId})`,
    'An account needs at least one admin. Choose another first, also for links under Settings → Sign-in.',
  );

/** Refuses to remove the one who can use a link while others must use the provider, which may have failed. */
const unlessOnlyByLink = (db: Database, { accountId }: Caller, userId: string) =>
  refuseUnless(
    db,
    sql`not exists (
      select 1 from single_sign_on s join sign_in_domains d on d.account_id = s.account_id
      where s.account_id = ${accountId} and s.link_user_id = ${userId} and d.proven_at is not null)`,
    'Nobody else of this account can sign in by a link. Turn its single sign-on off first, or have another chosen.',
  );

/** How many people an account can invite in 24 hours. */
export const maxInvitationsPerDay = 20;

/** How long an address gets no second invitation email, from any account. */
export const quietMs = hourMs;

export const pendingMs = 14 * dayMs;

/**
 * Invites a person with a role. The result is the same for unknown, known and recently emailed
 * addresses, so that callers learn nothing about them. Returns whether to send the email.
 * @throws Refusal: invalid, when the account has sent its invitations of the day
 */
export async function invite(
  env: Env,
  caller: Caller,
  { email, role }: { email: string; role: Role },
): Promise<boolean> {
  const { accountId } = caller;
  const now = Date.now();
  const ours = sql`account_id = ${accountId}`;
  const hash = await removedHash(accountId, email);
  const { invited } = await asCaller(env, caller, (db) => ({
    old: write(db)`delete from invitations where ${ours} and id in (
      select id from invitations where ${ours} and sent_at <= ${now - dayMs})`,
    allowed: refuseUnless(
      db,
      sql`(select count(*) from invitations where ${ours}) < ${maxInvitationsPerDay}`,
      `An account can invite at most ${maxInvitationsPerDay} people a day. Try again tomorrow.`,
    ),
    unused: write(db)`
      delete from portal_users where ${ours} and confirmed_at is null and created_at <= ${now - pendingMs}`,
    ...addPending(db, caller, { email, role, hash }),
    // Whoever has the address now at the provider is accepted with that.
    accepted: write(db)`update portal_users set subject = null where ${ours} and email = ${email}`,
    invited: writeReturning<{ emailed: number }>(db)`
      insert into invitations (account_id, id, email, sent_at, emailed)
      select ${accountId}, ${newId()}, ${email}, ${now}, not exists (
        select 1 from invitations where email = ${email} and emailed and sent_at > ${now - quietMs})
      returning emailed`,
  }));
  return invited[0]?.emailed === 1;
}
