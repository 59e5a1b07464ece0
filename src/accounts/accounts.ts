import { and, eq, isNull, ne, type SQL, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { change, type Database, openDatabase, refuseUnless, transaction } from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { newId } from '../platform/db/ids.ts';
import { following, type Slice, type SliceQuery, sliceOf } from '../platform/db/slices.ts';
import { accounts } from '../platform/db/tables.ts';
import { untilCachesExpire } from '../platform/db/token-cache.ts';
import { invalid } from '../platform/errors.ts';
import { nameOf } from '../platform/homes/homes.ts';
import { note } from './audit/note.ts';
import { nobody, operatorIn } from './owner.ts';

/** An account and the name of its home. */
export type Account = Omit<typeof accounts.$inferSelect, 'frozen' | 'home' | 'units'> & { home: string };

/** A slice of the accounts in this home, oldest first. */
export async function listAccounts(env: Env, slice: SliceQuery): Promise<Slice<Account>> {
  const rows = await openDatabase(env)
    .select()
    .from(accounts)
    .where(and(ne(accounts.id, nobody), isNull(accounts.home), following(accounts, slice)))
    .orderBy(accounts.createdAt, accounts.id)
    .limit(slice.limit + 1);
  const { items, ...rest } = sliceOf(rows, slice);
  return { items: items.map((row) => asAccount(env, row)), ...rest };
}

const asAccount = (
  env: Env,
  { id, name, status, createdAt }: Omit<typeof accounts.$inferSelect, 'frozen' | 'home' | 'units'>,
): Account => ({ id, name, status, createdAt, home: nameOf(env) });

/** Creates an account, active at once. */
export async function createAccount(env: Env, name: string): Promise<Account> {
  const account = { id: newId(), name, status: 'active' as const, createdAt: Date.now() };
  const db = openDatabase(env);
  await transaction(db, [
    db.insert(accounts).values(account),
    note(db, operatorIn(account.id), { action: 'created', subject: 'account', of: self(account.id) }),
  ]);
  return asAccount(env, account);
}

/** The properties of an account that can change. */
export type AccountChange = { name?: string | undefined; status?: Account['status'] | undefined };

/**
 * Renames, suspends or activates an account. `also` runs in the same transaction.
 *
 * @throws Refusal: invalid, when the account does not exist or is being deleted
 */
export async function changeAccount(
  env: Env,
  id: string,
  { name, status }: AccountChange,
  also: (db: Database) => BatchItem<'sqlite'>[] = () => [],
): Promise<Account> {
  const caller = operatorIn(id);
  const noted = (db: Database) =>
    note(db, caller, {
      action: status === undefined ? 'changed' : status === 'active' ? 'activated' : 'suspended',
      subject: 'account',
      of: self(id),
      fields: name === undefined ? [] : ['name'],
    });
  const [, [account]] = await asCaller(env, caller, (db) => [
    refuseUnless(
      db,
      sql`exists (select 1 from accounts where id = ${id} and id <> ${nobody})`,
      'unknown account',
    ),
    db
      .update(accounts)
      .set({ name: name ?? sql`${accounts.name}`, status: status ?? sql`${accounts.status}` })
      .where(eq(accounts.id, id))
      .returning(),
    ...(name === undefined && status === undefined ? [] : [noted(db)]),
    ...also(db),
  ]);
  if (!account) throw invalid('Unknown account');
  if (status === 'suspended') await untilCachesExpire(env);
  return asAccount(env, account);
}

/** The units in which the portal shows speeds and distances. */
export type Units = (typeof accounts.$inferSelect)['units'];

export async function setUnits(env: Env, caller: Caller, units: Units): Promise<void> {
  const { accountId } = caller;
  await asCaller(env, caller, (db) => [
    note(db, caller, {
      action: 'changed',
      subject: 'account',
      of: sql`select id, name from accounts where id = ${accountId} and units <> ${units}`,
      fields: ['units'],
    }),
    db.update(accounts).set({ units }).where(eq(accounts.id, accountId)),
  ]);
}

const self = (id: string) => sql`select id, name from accounts where id = ${id}`;

/** The statements that suspend an account before deletion, if it has this name. */
export const suspendToDelete = (db: Database, id: string, name: string) =>
  [
    refuseUnless(
      db,
      sql`${id} <> ${nobody} and exists (select 1 from accounts where id = ${id})`,
      'unknown account',
    ),
    refuseUnless(db, sql`(select name from accounts where id = ${id}) = ${name}`, 'wrong name'),
    note(db, operatorIn(id), {
      action: 'scheduled for deletion',
      subject: 'account',
      of: self(id),
    }),
    change(db)`update accounts set status = 'suspended' where id = ${id}`,
  ] as const;

/** The statements that delete an account's row and audit that, without its name. */
export const deleteAccountRow = (db: Database, id: string) =>
  [
    note(db, operatorIn(id), {
      action: 'deleted',
      subject: 'account',
      of: sql`select id, null as name from accounts where id = ${id}`,
    }),
    change(db)`delete from accounts where id = ${id}`,
  ] as const;

/* Statements for the transactions of a move. Of the account's two rows, at most one can be written at any time. */

/** Refuses the account's writes, or allows them again, if `condition` holds. */
export const setFrozen = (db: Database, accountId: string, frozen: boolean, condition: SQL = sql`true`) =>
  change(db)`update accounts set frozen = ${frozen ? 1 : 0} where id = ${accountId} and ${condition}`;

/** In the new home: a suspended account without a name, which points to the old home. */
export const announce = (db: Database, accountId: string, createdAt: number, oldHome: string) =>
  change(db)`insert into accounts (id, name, status, created_at, home)
      values (${accountId}, '', 'suspended', ${createdAt}, ${oldHome})
      on conflict (id) do update set home = excluded.home`;

/** In the new home: makes the account live there, readable but frozen. */
export const activate = (
  db: Database,
  accountId: string,
  { name, status, units }: { name: string; status: string; units: string },
) =>
  change(db)`
    update accounts set name = ${name}, status = ${status}, units = ${units}, home = null, frozen = 1
    where id = ${accountId}`;

/** In the old home: points to the new one. Keeps nothing but the account's id. */
export const leave = (db: Database, accountId: string, newHome: string) =>
  change(db)`
    update accounts set name = '', status = 'suspended', home = ${newHome}, frozen = 0 where id = ${accountId}`;
