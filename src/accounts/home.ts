import { type SQL, sql } from 'drizzle-orm';
import { change, type Database } from '../platform/db/database.ts';

/*
 * An account's row while it moves from one home to another: exactly one of the two lets it be written. These are
 * statements for the transactions of a move, which knows in what order they are safe.
 */

/** Has the account's writes refused, or lets them through again, if `condition` holds. */
export const setFrozen = (db: Database, accountId: string, frozen: boolean, condition: SQL = sql`true`) =>
  change(db)`update accounts set frozen = ${frozen ? 1 : 0} where id = ${accountId} and ${condition}`;

/** In the new home, a row that leads back to the old one: without a name, and suspended. */
export const announce = (db: Database, accountId: string, createdAt: number, oldHome: string) =>
  change(db)`insert into accounts (id, name, status, created_at, home)
      values (${accountId}, '', 'suspended', ${createdAt}, ${oldHome})
      on conflict (id) do update set home = excluded.home`;

/** Takes that row away again. */
export const retract = (db: Database, accountId: string) =>
  change(db)`delete from accounts where id = ${accountId} and home is not null`;

/** In the new home: the account lives here, and can be read. */
export const activate = (
  db: Database,
  accountId: string,
  { name, status, units }: { name: string; status: string; units: string },
) =>
  change(db)`
    update accounts set name = ${name}, status = ${status}, units = ${units}, home = null, frozen = 1
    where id = ${accountId}`;

/** In the old home: the account lives elsewhere. Nothing but its id stays. */
export const leave = (db: Database, accountId: string, newHome: string) =>
  change(db)`
    update accounts set name = '', status = 'suspended', home = ${newHome}, frozen = 0 where id = ${accountId}`;
