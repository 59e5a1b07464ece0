import { and, eq, sql } from 'drizzle-orm';
import * as v from 'valibot';
import { refuseUnless } from '../db/database.ts';
import { asCaller, type Caller } from '../db/guard.ts';
import { newId } from '../db/ids.ts';
import { portalUsers } from '../db/tables.ts';
import { invalid } from '../errors.ts';

/** A person of an account, who signs in to the portal. */
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
 * Adds a person to the caller's account.
 *
 * @throws Refusal: invalid, when the account does not exist or the address is already in use
 */
export async function addPortalUser(env: Env, caller: Caller, email: string): Promise<PortalUser> {
  const { accountId } = caller;
  const user: PortalUser = { id: newId(), accountId, email, createdAt: Date.now(), lastSignInAt: null };
  const [, [added]] = await asCaller(env, caller, (db) => [
    refuseUnless(db, sql`exists (select 1 from accounts where id = ${accountId})`, 'unknown account'),
    db.insert(portalUsers).values(user).onConflictDoNothing().returning(),
  ]);
  if (!added)
    throw invalid('This address cannot be added', [{ field: 'email', message: 'is already in use' }]);
  return user;
}

/** The people of the account, in the order in which they were added, at most 1,000. */
export async function listPortalUsers(env: Env, caller: Caller): Promise<PortalUser[]> {
  const [users] = await asCaller(env, caller, (db) => [
    db
      .select()
      .from(portalUsers)
      .where(eq(portalUsers.accountId, caller.accountId))
      .orderBy(portalUsers.createdAt, portalUsers.id)
      .limit(1000),
  ]);
  return users;
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

/** Removes a person of the account, with all their sessions. @throws Refusal: invalid, for anybody else */
export async function removePortalUser(env: Env, caller: Caller, userId: string): Promise<PortalUser> {
  const [[removed]] = await asCaller(env, caller, (db) => [
    db
      .delete(portalUsers)
      .where(and(eq(portalUsers.id, userId), eq(portalUsers.accountId, caller.accountId)))
      .returning(),
  ]);
  if (!removed) throw invalid('Unknown user');
  return removed;
}
