import { type SQL, sql } from 'drizzle-orm';
import { change, type Database } from '../platform/db/database.ts';

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
