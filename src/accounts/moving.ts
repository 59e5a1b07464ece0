import { sql } from 'drizzle-orm';
import { type Database, refuseUnless, write } from '../platform/db/database.ts';
import { assigned } from '../platform/db/rows.ts';
import { accounts } from '../platform/db/schema/accounts.ts';

export type AccountRow = typeof accounts.$inferSelect;

/** The statement for the cell where an account goes: until it lives there, its row leads back. */
export const awaitAccount = (db: Database, { id, createdAt }: AccountRow, cell: string) =>
  write(db)`
    insert into accounts (id, name, status, created_at, cell) values (${id}, '', 'moved', ${createdAt}, ${cell})
    on conflict (id) do update set cell = excluded.cell`;

/** The statement that changes where an account lives, or whether it can be written. */
export const setAccount = (db: Database, id: string, values: Partial<AccountRow>) =>
  write(db)`update accounts set ${assigned(accounts, values)} where id = ${id}`;

/** The statements after which it no longer lives here: its people's sessions are unknown. */
export const leave = (db: Database, id: string, cell: string) => [
  setAccount(db, id, { status: 'moved', cell, name: '' }),
  write(db)`delete from portal_users where account_id = ${id}`,
];

/** The statement that refuses an account that cannot move. */
export const refuseUnlessMovable = (db: Database, id: string) =>
  refuseUnless(
    db,
    sql`exists (select 1 from accounts where id = ${id} and status = 'active')
      and not exists (select 1 from deletions where account_id = ${id})`,
    'Something of this account is being deleted. Move it once that is done: see fleet deletion list',
  );

/** The statement that deletes a cell's row of its move. */
export const forgetMove = (db: Database, id: string) =>
  write(db)`delete from moves where account_id = ${id}`;
