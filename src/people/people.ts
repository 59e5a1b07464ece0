import { and, eq, exists, isNotNull, ne, notExists, or, type SQL, sql } from 'drizzle-orm';
import { audit } from '../core/accounts/audit/write.ts';
import { hashToken } from '../core/accounts/tokens/format.ts';
import { following, type Slice, type SliceQuery, sliceOf } from '../core/platform/db/cursor.ts';
import {
  type Database,
  excluded,
  refuseUnless,
  type Statements,
} from '../core/platform/db/database.ts';
import { asCaller, type Caller } from '../core/platform/db/guard.ts';
import { newId } from '../core/platform/db/ids.ts';
import { invalid } from '../core/platform/errors.ts';
import type { Role } from '../core/platform/roles.ts';
import { auditedPerson, portalUsers, removedPeople } from './tables.ts';

/** A person of an account; pending until `confirmedAt`, their first sign-in. */
export type PortalUser = typeof portalUsers.$inferSelect;

/** What is written in the same transaction. */
export type Alongside = (db: Database) => Statements;

/**
 * Adds a pending person, unless they are there, with `alongside` in one transaction; an account's first becomes an admin.
 * @throws Refusal: invalid, when the account does not exist or the person has signed in to it
 */
export async function addPortalUser(
  env: Env,
  caller: Caller,
  email: string,
  role: Role,
  alongside: Alongside,
): Promise<PortalUser> {
  const { accountId } = caller;
  const hash = await removedHash(accountId, email);
  const { users } = await asCaller(env, caller, (db) => ({
    ...addPending(db, caller, { email, role, hash }),
    alongside: alongside(db),
    users: db
      .select()
      .from(portalUsers)
      .where(and(eq(portalUsers.email, email), isOf(accountId))),
  }));
  const [user] = users;
  if (user?.confirmedAt === null) return user;
  const message = 'belongs to this account already';
  throw invalid('This address cannot be added', [{ field: 'email', message }]);
}

/** By which somebody who was removed is known. */
export const removedHash = (accountId: string, email: string): Promise<string> =>
  hashToken(`${accountId} ${email}`);

/** The condition that a person is of an account. */
export const isOf = (accountId: string) => eq(portalUsers.accountId, accountId);

/** A person to be added, and by which they are known if they were removed. */
type Added = { email: string; role: Role; hash: string };

/** The statements that add a pending person, or give one the new role; an account's first is an admin. */
export const addPending = (db: Database, caller: Caller, { email, role, hash }: Added) => {
  const { accountId } = caller;
  const another = db
    .select({ id: portalUsers.id })
    .from(portalUsers)
    .where(and(isOf(accountId), ne(portalUsers.email, email)));
  return {
    returned: db
      .delete(removedPeople)
      .where(and(eq(removedPeople.accountId, accountId), eq(removedPeople.hash, hash))),
    added: db
      .insert(portalUsers)
      .values({
        id: newId(),
        accountId,
        email,
        createdAt: Date.now(),
        role: sql`iif(${exists(another)}, ${role}, 'admin')`,
      })
      .onConflictDoUpdate({
        target: [portalUsers.email, portalUsers.accountId],
        set: { role: excluded(portalUsers.role) },
        setWhere: sql`${portalUsers.confirmedAt} is null
          and ${portalUsers.role} <> ${excluded(portalUsers.role)}`,
      }),
    audited: audit(
      db,
      caller,
      'invited',
      auditedPerson,
      and(eq(portalUsers.email, email), sql`changes() > 0`),
      [`role: ${role}`],
    ),
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
    db
      .select()
      .from(portalUsers)
      .where(which)
      .orderBy(portalUsers.createdAt, portalUsers.id)
      .limit(slice.limit + 1);
  return sliceOf(await asCaller(env, caller, select), slice);
}

/** The addresses of the account's first 1,000 people, in alphabetical order. */
export const listAddresses = async (env: Env, caller: Caller): Promise<string[]> =>
  (await listPortalUsers(env, caller, { limit: 1000 })).items.map(({ email }) => email).toSorted();

/** The condition that an account has a person with this address. */
export const isPerson = (db: Database, accountId: string, email: string): SQL =>
  exists(
    db
      .select({ id: portalUsers.id })
      .from(portalUsers)
      .where(and(eq(portalUsers.accountId, accountId), eq(portalUsers.email, email))),
  );

/** The statement by which an account that has moved leaves no person behind, nor their sessions. */
export const removePeople = (db: Database, accountId: string) =>
  db.delete(portalUsers).where(eq(portalUsers.accountId, accountId));

export async function findPortalUser(
  env: Env,
  caller: Caller,
  userId: string,
): Promise<PortalUser | undefined> {
  const [user] = await asCaller(env, caller, (db) =>
    db.select().from(portalUsers).where(own(caller, userId)),
  );
  return user;
}

/** A person's own settings: whether they get alert emails, and their time zone. */
type Preferences = Partial<Pick<PortalUser, 'getsAlerts' | 'timeZone'>>;

/** Sets a person's own settings, with `alongside` in one transaction; the time zone null means the browser's. */
export async function setPreferences(
  env: Env,
  caller: Caller,
  userId: string,
  chosen: Preferences,
  alongside: Alongside = () => [],
): Promise<void> {
  const set = (db: Database) => [
    db.update(portalUsers).set(chosen).where(own(caller, userId)),
    alongside(db),
  ];
  await asCaller(env, caller, set, { repeatable: true });
}

/** Makes the statement that refuses to change a person, for other reasons than that of the last admin. */
export type Guard = (db: Database, caller: Caller, userId: string) => Statements;

/** Changes a role. @throws Refusal: invalid, when no admin would be left who has signed in, or as `guard` */
export async function setRole(
  env: Env,
  caller: Caller,
  userId: string,
  role: Role,
  guard: Guard,
): Promise<PortalUser> {
  const { changed } = await asCaller(env, caller, (db) => ({
    allowed:
      role === 'admin'
        ? undefined
        : [unlessLastAdmin(db, caller, userId), guard(db, caller, userId)],
    audited: audit(
      db,
      caller,
      'changed',
      auditedPerson,
      and(eq(portalUsers.id, userId), ne(portalUsers.role, role)),
      [`role: ${role}`],
    ),
    changed: db.update(portalUsers).set({ role }).where(own(caller, userId)).returning(),
    known: refuseUnlessKnown(db),
  }));
  return changed[0] as PortalUser; // they are known
}

/**
 * Removes a person, also the last admin if operators do it, and remembers that: their provider does not add them again.
 * @throws Refusal: invalid
 */
export async function removePortalUser(
  env: Env,
  caller: Caller,
  userId: string,
  guard: Guard,
): Promise<PortalUser> {
  const { accountId } = caller;
  const user = await findPortalUser(env, caller, userId);
  if (!user) throw invalid(unknownUser);
  const hash = await removedHash(accountId, user.email);
  await asCaller(env, caller, (db) => ({
    allowed: [
      'operator' in caller ? undefined : unlessLastAdmin(db, caller, userId),
      guard(db, caller, userId),
    ],
    remembered: db.insert(removedPeople).values({ accountId, hash }).onConflictDoNothing(),
    audited: audit(db, caller, 'deleted', auditedPerson, userId),
    removed: db.delete(portalUsers).where(own(caller, userId)),
    known: refuseUnlessKnown(db),
  }));
  return user;
}

const refuseUnlessKnown = (db: Database) => refuseUnless(db, sql`changes() > 0`, unknownUser);

const unknownUser = 'Unknown user';

const own = ({ accountId }: Caller, userId: string) =>
  and(eq(portalUsers.id, userId), isOf(accountId));

/** Refuses to change the last admin who has signed in, in the change's own transaction, because two may coincide. */
const unlessLastAdmin = (db: Database, caller: Caller, userId: string) => {
  const admins = (which: SQL | undefined) =>
    db.select({ id: portalUsers.id }).from(portalUsers).where(and(which, isAdmin));
  return refuseUnless(
    db,
    or(
      exists(admins(and(isOf(caller.accountId), ne(portalUsers.id, userId)))),
      notExists(admins(own(caller, userId))),
    ),
    needsAdmin,
  );
};

/** Whether a person is an admin who has signed in. */
export const isAdmin = and(eq(portalUsers.role, 'admin'), isNotNull(portalUsers.confirmedAt));

export const needsAdmin =
  'An account needs at least one admin. Choose another first, also for links under Settings → Sign-in.';

/** The statement that sets when the daily summary of some people is due; null for off. */
export const setSummaryDue = (
  db: Database,
  due: Partial<Pick<PortalUser, 'summaryDueAt' | 'summaryZone'>>,
  which: SQL | undefined,
) =>
  db
    .update(portalUsers)
    .set(due)
    .where(which ?? sql`false`);
