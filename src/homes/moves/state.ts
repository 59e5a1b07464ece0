import { type SQL, sql } from 'drizzle-orm';
import { setFrozen } from '../../accounts/accounts.ts';
import {
  type Change,
  change,
  type Database,
  openDatabase,
  statement,
  transaction,
} from '../../platform/db/database.ts';
import { askHomes } from '../../platform/homes/each.ts';
import type { Lease } from '../../platform/jobs/lease.ts';
import { resumeWebhooks } from '../../webhooks/remove.ts';
import type { Cursor, Moved } from './rows.ts';

/** The steps of a move. It can be cancelled before `switching`, and cancels itself if the copy lacks rows. */
export type State =
  | 'draining'
  | 'copying'
  | 'copying files'
  | 'switching'
  | 'opening'
  | 'cleaning up'
  | 'cancelling';

/** A move's row in the old home; the new one has a row in the state `arriving`. Times are milliseconds since 1970. */
export type Move = {
  accountId: string;
  /** The new home. */
  home: string;
  state: State;
  cursor: Cursor;
  total: number;
  copied: number;
  problem: string | null;
  /** When writes began to be refused, and when they were allowed again. */
  startedAt: number;
  writableAt: number | null;
};

/**
 * Work on a move, with its lease in both homes: once somebody else has one of them, transactions under it are refused
 * there.
 */
export type Job = { accountId: string; from: Env; to: Env; old: Lease; fresh: Lease; tables: Moved[] };

export const leaseOf = (accountId: string): string => `move ${accountId}`;

type Stored = Omit<Move, 'cursor'> & { cursor: string };

/** The move by which an account leaves a home, if there is one. */
export async function findMove(env: Env, accountId: string): Promise<Move | undefined> {
  const [row] = await statement<Stored>(openDatabase(env))`
    select account_id as accountId, home, state, cursor, total, copied, problem, started_at as startedAt,
      writable_at as writableAt
    from moves where account_id = ${accountId} and state <> 'arriving'`;
  return row && { ...row, cursor: JSON.parse(row.cursor) };
}

/** Records how far a move has come, in one transaction with other changes of the old home, which are safe to repeat. */
export const goTo = (
  { accountId, old }: Job,
  state: State,
  { cursor = {}, copied = 0 }: { cursor?: Cursor; copied?: number } = {},
  ...others: Change[]
) =>
  old.write(
    ...others,
    change(old.db)`
      update moves set state = ${state}, cursor = ${JSON.stringify(cursor)}, copied = copied + ${copied}
      where account_id = ${accountId}`,
  );

/**
 * The statements that allow the account's writes and webhook calls again in the home where it lives, if `condition`
 * holds.
 */
export const resume = (db: Database, accountId: string, condition?: SQL) =>
  [setFrozen(db, accountId, false, condition), resumeWebhooks(db, accountId, condition)] as const;

/** Records in the old home that writes are allowed again. */
export const noteWritable = (db: Database, accountId: string) =>
  change(
    db,
  )`update moves set writable_at = coalesce(writable_at, ${Date.now()}) where account_id = ${accountId}`;

/** Cancels a move before the switch, if there is one: allows writes again, and has what was copied deleted. */
export async function cancel(
  env: Env,
  accountId: string,
  problem: string | null = null,
  ...others: Change[]
): Promise<void> {
  const db = openDatabase(env);
  const isUndecided = sql`account_id = ${accountId} and state in ('draining', 'copying', 'copying files')`;
  await transaction(
    db,
    [
      ...resume(db, accountId, sql`exists (select 1 from moves where ${isUndecided})`),
      change(
        db,
      )`update moves set state = 'cancelling', problem = ${problem}, cursor = '{}' where ${isUndecided}`,
      noteWritable(db, accountId),
      ...others,
    ],
    { repeatable: true },
  );
}

/** The account's move, wherever the account lives by now. One that only cleans up comes last. */
export async function findMoveAnywhere(
  env: Env,
  accountId: string,
): Promise<{ from: Env; move: Move } | undefined> {
  const asked = await askHomes(env, (home) => findMove(home, accountId));
  const found = asked.flatMap(([from, move]) => (move ? [{ from, move }] : []));
  return found.find(({ move }) => move.state !== 'cleaning up') ?? found[0];
}
