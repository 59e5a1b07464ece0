import { and, eq, exists, ne, sql } from 'drizzle-orm';
import { following, type Slice, type SliceQuery, sliceOf } from '../platform/db/cursor.ts';
import {
  type Database,
  int,
  refuseUnless,
  type Statement,
  type Statements,
  transaction,
} from '../platform/db/database.ts';
import { asCaller, type Caller, unknownAccount } from '../platform/db/guard.ts';
import { newId } from '../platform/db/ids.ts';
import { untilChecksLapse } from '../platform/db/reads.ts';
import { accounts } from '../platform/db/schema/accounts.ts';
import type { Quotas } from '../platform/db/schema/types.ts';
import { openDatabase } from '../platform/db/system.ts';
import { dayMs } from '../platform/durations.ts';
import { invalid, Refusal } from '../platform/errors.ts';
import { audit } from './audit/write.ts';

/** An account. It has the quotas that operators have set. */
export type Account = Pick<
  typeof accounts.$inferSelect,
  'id' | 'name' | 'status' | 'createdAt' | 'quotas' | 'held'
>;

/** A slice of the accounts, oldest first. */
export async function listAccounts(env: Env, slice: SliceQuery): Promise<Slice<Account>> {
  const which = and(
    ne(accounts.id, deletedAccountId),
    ne(accounts.status, 'moved'),
    following(accounts, slice),
  );
  const db = openDatabase(env);
  const rows = await transaction(
    db,
    db
      .select()
      .from(accounts)
      .where(which)
      .orderBy(accounts.createdAt, accounts.id)
      .limit(slice.limit + 1),
  );
  return sliceOf(rows, slice);
}

/** Creates an account, active at once. */
export async function createAccount(env: Env, name: string): Promise<Account> {
  const id = newId();
  const account = {
    id,
    name,
    status: 'active',
    createdAt: Date.now(),
    quotas: {},
    held: false,
  } as const;
  const db = openDatabase(env);
  await transaction(db, [
    db.insert(accounts).values(account),
    audit(db, operatorIn(id), 'created', 'accounts', id),
  ]);
  return account;
}

type QuotaChange = { [quota in keyof Quotas]: number | null | undefined };

export type AccountChange = {
  name?: string | undefined;
  status?: Account['status'] | undefined;
  /** Null is the usual one. */
  quotas?: QuotaChange | undefined;
};

/** Renames, suspends or activates an account, or sets its quotas. @throws Refusal: invalid */
export async function changeAccount(
  env: Env,
  id: string,
  { name, status, quotas = {} }: AccountChange,
  also: (db: Database) => Statements = () => [],
): Promise<Account> {
  const caller = operatorIn(id);
  const changed = [...(name === undefined ? [] : ['name']), ...setIn(quotas)];
  const action = status === undefined ? 'changed' : status === 'active' ? 'activated' : 'suspended';
  const { rows } = await asCaller(env, caller, (db) => ({
    rows: db
      .update(accounts)
      .set({
        name,
        status,
        quotas: sql`json_patch(${accounts.quotas}, ${JSON.stringify(quotas)})`,
      })
      .where(and(eq(accounts.id, id), ne(accounts.id, deletedAccountId)))
      .returning(),
    audited:
      changed.length > 0 || status !== undefined
        ? audit(db, caller, action, 'accounts', id, changed)
        : undefined,
    also: also(db),
  }));
  const [account] = rows;
  if (!account) throw invalid(unknownAccount);
  if (status === 'suspended') await untilChecksLapse(env);
  return account;
}

const setIn = (quotas: QuotaChange): string[] =>
  Object.entries(quotas).flatMap(([name, value]) => (value === undefined ? [] : [name]));

/** If `isNearlyFull`, lets the accounts that have added half of all bytes since yesterday add no records. */
export const holdLargest = (db: Database, isNearlyFull: boolean, now = Date.now()) =>
  // Materialized: otherwise SQLite looks up the bytes for each use of them.
  db.run(sql`
    with
      added as materialized (
        select a.id, (
          select iif(c.usage->>0 >= ${int(now / dayMs)} - 1, c.usage->>2, 0)
          from changes c
          where c.account_id = a.id
          order by c.seq desc
          limit 1) as bytes
        from accounts a
        where ${isNearlyFull}),
      largest as (
        select id, bytes, sum(bytes) over (order by bytes desc, id) as so_far,
          sum(bytes) over () as whole
        from added),
      held as (
        select id from largest where bytes > 0 and so_far - bytes < whole / 2.0)
    update accounts set held = not held
    where held <> (id in (select id from held))`);

export type Units = (typeof accounts.$inferSelect)['units'];

export async function setUnits(env: Env, caller: Caller, units: Units): Promise<void> {
  const { accountId } = caller;
  await asCaller(env, caller, (db) => [
    audit(db, caller, 'changed', 'accounts', ne(accounts.units, units), ['units']),
    db.update(accounts).set({ units }).where(eq(accounts.id, accountId)),
  ]);
}

export const wrongName = 'The name does not match. Nothing has been deleted.';

/** The statements that suspend an account before deletion, if it has this name. */
export const suspendToDelete = (db: Database, id: string, name: string) =>
  [
    refuseUnless(db, sql`${id} <> ${deletedAccountId}`, unknownAccount),
    refuseUnless(
      db,
      exists(
        db
          .select({ id: accounts.id })
          .from(accounts)
          .where(and(eq(accounts.id, id), eq(accounts.name, name))),
      ),
      wrongName,
    ),
    audit(db, operatorIn(id), 'scheduled for deletion', 'accounts', id),
    db.update(accounts).set({ status: 'suspended' }).where(eq(accounts.id, id)),
  ] as const;

/** The statements that delete an account's row and audit that, without its name. */
export const deleteAccountRow = (db: Database, id: string) =>
  [
    audit(db, operatorIn(id), 'deleted', 'accounts', id),
    db.delete(accounts).where(eq(accounts.id, id)),
  ] as const;

/** The statement that changes an account as it moves to another cell. */
export const setAccount = (
  db: Database,
  id: string,
  values: Partial<typeof accounts.$inferSelect>,
) => db.update(accounts).set(values).where(eq(accounts.id, id));

/** The statement for the cell where it goes: until it lives there, its row leads back. */
export const awaitFrom = (
  db: Database,
  { id, createdAt }: Pick<Account, 'id' | 'createdAt'>,
  cell: string,
) =>
  db
    .insert(accounts)
    .values({ id, name: '', status: 'moved', createdAt, cell })
    .onConflictDoUpdate({ target: accounts.id, set: { cell } });

/** The account of connections that are being deleted. */
export const deletedAccountId = '00000000-0000-0000-0000-000000000000';

/** For a credential that is unknown here: it may be of an account that has moved. @throws Refusal: moved */
export async function refuseIfMoved(env: Env): Promise<void> {
  const db = openDatabase(env);
  const moved = await transaction(
    db,
    db
      .selectDistinct({ cell: accounts.cell })
      .from(accounts)
      .where(sql`${accounts.status} = 'moved'`),
  );
  const cells = moved.flatMap(({ cell }) => cell ?? []);
  if (cells.length > 0) throw new Refusal({ kind: 'moved', cells });
}

/** An operator acting in an account. The caller must have authenticated them. */
export const operatorIn = (accountId: string, connectionIds?: string[]): Caller => ({
  operator: true,
  accountId,
  connectionIds,
});

/** An operator in the account that a statement finds. @throws Refusal: invalid, if there is none */
export async function operatorInFound(
  env: Env,
  find: (db: Database) => Statement<{ accountId: string }[]>,
  unknown: string,
): Promise<Caller> {
  const db = openDatabase(env);
  const [found] = await transaction(db, find(db));
  if (!found || found.accountId === deletedAccountId) throw invalid(unknown);
  return operatorIn(found.accountId);
}
