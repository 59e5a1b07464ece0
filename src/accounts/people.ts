import { and, eq, isNotNull, type SQL, sql } from 'drizzle-orm';
import * as v from 'valibot';
import { note } from '../audit/note.ts';
import { type Database, refuseUnless, statement } from '../db/database.ts';
import { asCaller, type Caller } from '../db/guard.ts';
import { newId } from '../db/ids.ts';
import { following, type Slice, type SliceQuery, sliceOf } from '../db/slices.ts';
import { portalUsers } from '../db/tables.ts';
import { invalid } from '../errors.ts';

/** A person of an account, who signs in to the portal; pending until `confirmedAt` says when they first did. */
export type PortalUser = typeof portalUsers.$inferSelect;

/** An email address, in the form in which it is stored. */
export const Email = v.pipe(
  v.string(),
  v.trim(),
  v.toLowerCase(),
  v.maxLength(320, 'can be at most 320 characters'),
  v.email('must be an email address'),
);

/**
 * Adds a person to the caller's account, pending until they have used a link; whoever is there already stays as they
 * are. For operators, who may know whom an address belongs to.
 *
 * @throws Refusal: invalid, when the account does not exist or the address belongs to an account, which it names
 */
export async function addPortalUser(env: Env, caller: Caller, email: string): Promise<PortalUser> {
  const { accountId } = caller;
  const [, [owner], , , [user]] = await asCaller(env, caller, (db) => [
    refuseUnless(db, sql`exists (select 1 from accounts where id = ${accountId})`, 'unknown account'),
    db
      .select({ accountId: portalUsers.accountId })
      .from(portalUsers)
      .where(and(eq(portalUsers.email, email), isNotNull(portalUsers.confirmedAt))),
    insertPending(db, accountId, email, sql`not exists (${confirmed(email)})`),
    noteInvited(db, caller, email),
    db
      .select()
      .from(portalUsers)
      .where(and(eq(portalUsers.email, email), eq(portalUsers.accountId, accountId))),
  ]);
  if (user && !owner) return user;
  const whose = owner?.accountId === accountId ? 'this account' : `the account ${owner?.accountId}`;
  throw invalid('This address cannot be added', [{ field: 'email', message: `belongs to ${whose} already` }]);
}

const confirmed = (email: string) =>
  sql`select 1 from portal_users where email = ${email} and confirmed_at is not null`;

/** A statement that adds a pending person, unless the account has them already or `condition` does not hold. */
export const insertPending = (db: Database, accountId: string, email: string, condition: SQL) =>
  statement(
    db,
    sql`
    insert into portal_users (id, account_id, email, created_at)
    select ${newId()}, ${accountId}, ${email}, ${Date.now()} where ${condition}
    on conflict (email, account_id) do nothing`,
  );

/** The statement that notes that somebody has been invited, if the one before has added them. */
export const noteInvited = (db: Database, caller: Caller, email: string) =>
  note(db, caller, {
    action: 'invited',
    subject: 'person',
    of: sql`select id, email as name from portal_users
      where email = ${email} and account_id = ${caller.accountId} and changes() > 0`,
  });

/** A part of the people of the account, pending ones included, in the order in which they were added. */
export async function listPortalUsers(
  env: Env,
  caller: Caller,
  slice: SliceQuery,
): Promise<Slice<PortalUser>> {
  const [users] = await asCaller(
    env,
    caller,
    (db) => [
      db
        .select()
        .from(portalUsers)
        .where(and(eq(portalUsers.accountId, caller.accountId), following(portalUsers, slice)))
        .orderBy(portalUsers.createdAt, portalUsers.id)
        .limit(slice.limit + 1),
    ],
    { repeatable: true },
  );
  return sliceOf(users, slice);
}

/** One person of the account; undefined if it has none with this id. */
export async function findPortalUser(
  env: Env,
  caller: Caller,
  userId: string,
): Promise<PortalUser | undefined> {
  const [[user]] = await asCaller(
    env,
    caller,
    (db) => [
      db
        .select()
        .from(portalUsers)
        .where(and(eq(portalUsers.id, userId), eq(portalUsers.accountId, caller.accountId))),
    ],
    { repeatable: true },
  );
  return user;
}

/** Has a person of the account emailed about failing webhooks, or not. */
export async function setAlerts(
  env: Env,
  caller: Caller,
  userId: string,
  getsAlerts: boolean,
): Promise<void> {
  await asCaller(
    env,
    caller,
    (db) => [
      db
        .update(portalUsers)
        .set({ getsAlerts })
        .where(and(eq(portalUsers.id, userId), eq(portalUsers.accountId, caller.accountId))),
    ],
    { repeatable: true },
  );
}

/** Removes a person of the account, with all their sessions. @throws Refusal: invalid, for anybody else */
export async function removePortalUser(env: Env, caller: Caller, userId: string): Promise<PortalUser> {
  const [, [removed]] = await asCaller(env, caller, (db) => [
    note(db, caller, {
      action: 'deleted',
      subject: 'person',
      of: sql`select id, email as name from portal_users
        where id = ${userId} and account_id = ${caller.accountId}`,
    }),
    db
      .delete(portalUsers)
      .where(and(eq(portalUsers.id, userId), eq(portalUsers.accountId, caller.accountId)))
      .returning(),
  ]);
  if (!removed) throw invalid('Unknown user');
  return removed;
}
