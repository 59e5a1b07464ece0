import { eq } from 'drizzle-orm';
import { openDatabase } from '../db/database.ts';
import { newId } from '../db/ids.ts';
import { following, type Slice, type SliceQuery, sliceOf } from '../db/slices.ts';
import { accounts } from '../db/tables.ts';
import { invalid } from '../errors.ts';

export type Account = typeof accounts.$inferSelect;

/** A part of all accounts, oldest first. */
export async function listAccounts(env: Env, slice: SliceQuery): Promise<Slice<Account>> {
  const rows = await openDatabase(env)
    .select()
    .from(accounts)
    .where(following(accounts, slice))
    .orderBy(accounts.createdAt, accounts.id)
    .limit(slice.limit + 1);
  return sliceOf(rows, slice);
}

/** Creates an account, active at once. */
export async function createAccount(env: Env, name: string): Promise<Account> {
  const account: Account = { id: newId(), name, status: 'active', createdAt: Date.now() };
  await openDatabase(env).insert(accounts).values(account);
  return account;
}

/**
 * Suspends an account, so that all its credentials get 403 at once, or makes it active again.
 *
 * @throws Refusal: invalid, when there is no such account
 */
export async function setAccountStatus(env: Env, id: string, status: Account['status']): Promise<Account> {
  const [account] = await openDatabase(env)
    .update(accounts)
    .set({ status })
    .where(eq(accounts.id, id))
    .returning();
  if (!account) throw invalid('Unknown account');
  return account;
}
