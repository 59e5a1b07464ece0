import { and, eq, ne, sql } from 'drizzle-orm';
import { type Database, refuseUnless, type Statements, transaction, write } from '../platform/db/database.ts';
import { asCaller, type Caller, unknownAccount } from '../platform/db/guard.ts';
import { newId } from '../platform/db/ids.ts';
import { following, type Slice, type SliceQuery, sliceOf } from '../platform/db/slices.ts';
import { openDatabase } from '../platform/db/system.ts';
import { accounts } from '../platform/db/tables.ts';
import { untilCachesExpire } from '../platform/db/token-cache.ts';
import { invalid } from '../platform/errors.ts';
import { audit } from './audit/write.ts';
import { nobody, operatorIn } from './owner.ts';

/** An account; one that is moving to another cell is read-only meanwhile. */
export type Account = Omit<typeof accounts.$inferSelect, 'cell' | 'units'>;

/** A slice of the accounts, oldest first. */
export async function listAccounts(env: Env, slice: SliceQuery): Promise<Slice<Account>> {
  const db = openDatabase(env);
  const rows = await transaction(
    db,
    db
      .select()
      .from(accounts)
      .where(and(ne(accounts.id, nobody), ne(accounts.status, 'moved'), following(accounts, slice)))
      .orderBy(accounts.createdAt, accounts.id)
      .limit(slice.limit + 1),
  );
  const { items, ...rest } = sliceOf(rows, slice);
  return { items: items.map(asAccount), ...rest };
}

const asAccount = ({ id, name, status, createdAt }: Account): Account => ({ id, name, status, createdAt });

/** Creates an account, active at once. */
export async function createAccount(env: Env, name: string): Promise<Account> {
  const account = { id: newId(), name, status: 'active' as const, createdAt: Date.now() };
  const db = openDatabase(env);
  await transaction(db, [
    db.insert(accounts).values(account),
    audit(db, operatorIn(account.id), { action: 'created', subject: 'account', of: self(account.id) }),
  ]);
  return asAccount(account);
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
  also: (db: Database) => Statements = () => [],
): Promise<Account> {
  const caller = operatorIn(id);
  const audited = (db: Database) =>
    audit(db, caller, {
      action: status === undefined ? 'changed' : status === 'active' ? 'activated' : 'suspended',
      subject: 'account',
      of: self(id),
      fields: name === undefined ? [] : ['name'],
    });
  const { changed } = await asCaller(env, caller, (db) => ({
    changed: db
      .update(accounts)
      .set({ name: name ?? sql`${accounts.name}`, status: status ?? sql`${accounts.status}` })
      .where(and(eq(accounts.id, id), ne(accounts.id, nobody)))
      .returning(),
    audited: name === undefined && status === undefined ? undefined : audited(db),
    also: also(db),
  }));
  const [account] = changed;
  if (!account) throw invalid(unknownAccount);
  if (status === 'suspended') await untilCachesExpire(env);
  return asAccount(account);
}

/** The units in which the portal shows speeds and distances. */
export type Units = (typeof accounts.$inferSelect)['units'];

export async function setUnits(env: Env, caller: Caller, units: Units): Promise<void> {
  const { accountId } = caller;
  await asCaller(env, caller, (db) => [
    audit(db, caller, {
      action: 'changed',
      subject: 'account',
      of: sql`select id, name from accounts where id = ${accountId} and units <> ${units}`,
      fields: ['units'],
    }),
    db.update(accounts).set({ units }).where(eq(accounts.id, accountId)),
  ]);
}

const self = (id: string) => sql`select id, name from accounts where id = ${id}`;

export const wrongName = 'The name does not match. Nothing has been deleted.';

/** The statements that suspend an account before deletion, if it has this name. */
export const suspendToDelete = (db: Database, id: string, name: string) =>
  [
    refuseUnless(db, sql`${id} <> ${nobody}`, unknownAccount),
    refuseUnless(db, sql`(select name from accounts where id = ${id}) = ${name}`, wrongName),
    audit(db, operatorIn(id), {
      action: 'scheduled for deletion',
      subject: 'account',
      of: self(id),
    }),
    write(db)`update accounts set status = 'suspended' where id = ${id}`,
  ] as const;

/** The statements that delete an account's row and audit that, without its name. */
export const deleteAccountRow = (db: Database, id: string) =>
  [
    audit(db, operatorIn(id), {
      action: 'deleted',
      subject: 'account',
      of: sql`select id, null as name from accounts where id = ${id}`,
    }),
    write(db)`delete from accounts where id = ${id}`,
  ] as const;
