import { type SQL, sql } from 'drizzle-orm';
import { type Database, read, refuseUnless, write } from '../platform/db/database.ts';
import { openDatabase } from '../platform/db/system.ts';

/**
 * The states of a move in the cell that an account leaves, in order; it can be cancelled before `switching`. The cell
 * where it goes has a row in the state `arriving`, and where rows are left to delete, the state is `deleting`.
 */
export type MoveState =
  | 'opening'
  | 'draining'
  | 'copying'
  | 'comparing'
  | 'copying files'
  | 'switching'
  | 'cancelling'
  | 'arriving'
  | 'deleting';

/** A cell's row of a move; `cell` is the other one. */
export type Move = {
  accountId: string;
  id: string;
  cell: string;
  state: MoveState;
  /** How far the state has come, as JSON. */
  cursor: string;
  total: number;
  copied: number;
  problem: string | null;
  /** Since when it has been in this state, in milliseconds since 1970. */
  since: number;
};

export async function findMove(env: Env, accountId: string): Promise<Move | undefined> {
  const [found] = await read<Move>(openDatabase(env))`
    select account_id as accountId, id, cell, state, cursor, total, copied, problem, since
    from moves where account_id = ${accountId}`;
  return found;
}

/** SQL for whether a move is still where it was read. */
export const isAt = ({ accountId, id, state, cursor }: Move): SQL =>
  sql`exists (select 1 from moves
    where account_id = ${accountId} and id = ${id} and state = ${state} and cursor = ${cursor})`;

/** The statement that writes a cell's row of a move, in place of another. */
export const saveMove = (db: Database, move: Move) => {
  const { accountId, id, cell, state, cursor, total, copied, problem, since } = move;
  return write(db)`
    replace into moves (account_id, id, cell, state, cursor, total, copied, problem, since)
    values (${accountId}, ${id}, ${cell}, ${state}, ${cursor}, ${total}, ${copied}, ${problem}, ${since})`;
};

/** The statement that deletes it. */
export const forgetMove = (db: Database, accountId: string) =>
  write(db)`delete from moves where account_id = ${accountId}`;

/** The statements after which an account can only be read. They refuse one that is suspended or being deleted. */
export const freeze = (db: Database, accountId: string) => [
  ...refuseWhatCannotMove(db, accountId),
  write(db)`update accounts set status = 'moving' where id = ${accountId}`,
];

export const refuseWhatCannotMove = (db: Database, accountId: string) =>
  [
    refuseUnless(db, sql`exists (select 1 from accounts where id = ${accountId} and status = 'active')`, {
      kind: 'forbidden',
    }),
    refuseUnless(
      db,
      sql`not exists (select 1 from deletions where account_id = ${accountId})`,
      'Something of this account is being deleted. Move it once that is done: see fleet deletion list',
    ),
  ] as const;

/** The statement after which it can be written again. */
export const thaw = (db: Database, accountId: string) =>
  write(db)`update accounts set status = 'active' where id = ${accountId} and status = 'moving'`;

/** What of an account is in its own row. */
export type AccountRow = { name: string; units: string; createdAt: number };

/** The statement for where an account goes: until it lives there, its row leads back. */
export const awaitAccount = (db: Database, accountId: string, cell: string, { createdAt }: AccountRow) =>
  write(db)`
    insert into accounts (id, name, status, created_at, cell)
    values (${accountId}, '', 'moved', ${createdAt}, ${cell})
    on conflict do update set cell = excluded.cell`;

/** The statement after which it lives there. */
export const settle = (db: Database, accountId: string, { name, units }: AccountRow) =>
  write(db)`
    update accounts set status = 'active', cell = null, name = ${name}, units = ${units} where id = ${accountId}`;

/** The statements after which it no longer lives where it was: its people's sessions are unknown there. */
export const leave = (db: Database, accountId: string, cell: string) => [
  write(db)`update accounts set status = 'moved', cell = ${cell}, name = '' where id = ${accountId}`,
  write(db)`delete from portal_users where account_id = ${accountId}`,
];
