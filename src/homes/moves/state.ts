import { type SQL, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { setFrozen } from '../../accounts/accounts.ts';
import {
  change,
  type Database,
  openDatabase,
  refuseUnless,
  statement,
  transaction,
} from '../../platform/db/database.ts';
import { invalid } from '../../platform/errors.ts';
import { askHomes } from '../../platform/homes/each.ts';
import { homesOf } from '../../platform/homes/homes.ts';
import { resumeWebhooks } from '../../webhooks/remove.ts';
import type { RowKey } from './pages.ts';
import { type Moved, movedTables } from './tables.ts';

/** The steps of a move. It can be cancelled before `switching`, and cancels itself if the copy lacks rows. */
export const states = [
  'draining',
  'copying',
  'copying files',
  'switching',
  'opening',
  'cleaning up',
  'cancelling',
] as const;
export type State = (typeof states)[number];

/** A move's row in the old home. Times are milliseconds since 1970. */
export type Move = {
  accountId: string;
  /** The new home. */
  home: string;
  state: State;
  lease: number;
  cursor: Cursor;
  total: number;
  copied: number;
  problem: string | null;
  /** When writes began to be refused, and when they were allowed again. */
  startedAt: number;
  writableAt: number | null;
};

/** A step's progress: table, last row, rows per chunk, file. */
export type Cursor = {
  table?: number;
  after?: RowKey;
  rows?: number;
  file?: string;
};

/** How long a lease lasts unless it is renewed. */
const leaseMs = 20_000;

/** The lease of a move: once another begins, transactions under this one are refused in both homes. */
export type Job = {
  accountId: string;
  from: Env;
  to: Env;
  lease: number;
  tables: Moved[];
};

type Stored = Omit<Move, 'cursor'> & { cursor: string };

/** The move by which an account leaves a home, if there is one. */
export async function findMove(env: Env, accountId: string): Promise<Move | undefined> {
  const [row] = await statement<Stored>(openDatabase(env))`
    select ${columns} from moves where account_id = ${accountId} and role = 'leaving'`;
  return row && { ...row, cursor: JSON.parse(row.cursor) };
}

const columns = sql`account_id as accountId, home, state, lease, cursor, total, copied, problem,
  started_at as startedAt, writable_at as writableAt`;

export const waitingMoves = (env: Env) =>
  statement<{ accountId: string }>(openDatabase(env))`select account_id as accountId from moves
      where role = 'leaving' and leased_until <= ${Date.now()} order by started_at`;

/**
 * Takes the lease of a move; undefined if there is no move, or its lease is held.
 *
 * @throws Refusal: invalid, when the home to which it moves has no bindings any more
 */
export async function takeLease(env: Env, accountId: string): Promise<Job | undefined> {
  const now = Date.now();
  const [taken] = await statement<{ lease: number; home: string }>(openDatabase(env))`
    update moves set lease = lease + 1, leased_until = ${now + leaseMs}
      where account_id = ${accountId} and role = 'leaving' and leased_until <= ${now} returning lease, home`;
  if (!taken) return undefined;
  const to = homesOf(env).get(taken.home);
  if (!to)
    throw invalid(
      `The home ${taken.home} has no bindings any more. Deploy with them, and the move goes on, or can be cancelled.`,
    );
  const job = { accountId, from: env, to, lease: taken.lease, tables: await movedTables(env) };
  // From now on nothing that was read under an earlier lease is written.
  await change(openDatabase(to))`
    update moves set lease = ${job.lease}
    where account_id = ${accountId} and role = 'arriving' and lease < ${job.lease}`;
  return job;
}

export const releaseLease = ({ from, accountId, lease }: Job) =>
  change(openDatabase(from))`
    update moves set leased_until = 0 where account_id = ${accountId} and lease = ${lease}`;

/**
 * Runs statements in the old home as one transaction, if the lease is still ours, and renews it. They must be safe to
 * repeat. @throws Refusal: unavailable
 */
export const inOldHome = inHome('from');

/** Runs statements in the new home in the same way. */
export const inNewHome = inHome('to');

function inHome(home: 'from' | 'to') {
  return async <const T extends readonly BatchItem<'sqlite'>[]>(
    job: Job,
    statements: (db: Database) => T,
  ): Promise<void> => {
    const db = openDatabase(job[home]);
    const renewed = change(db)`update moves set leased_until = ${Date.now() + leaseMs}
      where account_id = ${job.accountId} and role = 'leaving'`;
    await transaction(db, [isOurs(db, job), renewed, ...statements(db)], { repeatable: true });
  };
}

const isOurs = (db: Database, { accountId, lease }: Job) =>
  refuseUnless(
    db,
    sql`exists (select 1 from moves where account_id = ${accountId} and lease = ${lease})`,
    'lost lease',
  );

/** Records how far a move has come. */
export const goTo = (
  db: Database,
  { accountId }: Job,
  state: State,
  { cursor = {}, copied = 0 }: { cursor?: Cursor; copied?: number } = {},
) =>
  change(db)`
    update moves set state = ${state}, cursor = ${JSON.stringify(cursor)}, copied = copied + ${copied}
      where account_id = ${accountId} and role = 'leaving'`;

/**
 * The statements that allow the account's writes and webhook calls again in the home where it lives, if `condition`
 * holds.
 */
export const resume = (db: Database, accountId: string, condition?: SQL) =>
  [setFrozen(db, accountId, false, condition), resumeWebhooks(db, accountId, condition)] as const;

/** Records in the old home that writes are allowed again. */
export const noteWritable = (db: Database, accountId: string) =>
  change(db)`update moves set writable_at = coalesce(writable_at, ${Date.now()})
      where account_id = ${accountId} and role = 'leaving'`;

/** Cancels a move before the switch, if there is one: allows writes again, and has what was copied deleted. */
export async function cancel(env: Env, accountId: string, problem: string | null = null): Promise<void> {
  const db = openDatabase(env);
  const isUndecided = sql`account_id = ${accountId} and role = 'leaving'
    and state in ('draining', 'copying', 'copying files')`;
  await transaction(
    db,
    [
      ...resume(db, accountId, sql`exists (select 1 from moves where ${isUndecided})`),
      // Whoever is working on it loses the lease.
      change(
        db,
      )`update moves set state = 'cancelling', problem = ${problem}, cursor = '{}', lease = lease + 1,
          leased_until = 0
          where ${isUndecided}`,
      noteWritable(db, accountId),
    ],
    { repeatable: true },
  );
}

export type Found = { from: Env; move: Move };

/** The account's move, wherever the account lives by now. One that only cleans up comes last. */
export async function findMoveAnywhere(env: Env, accountId: string): Promise<Found | undefined> {
  const asked = await askHomes(env, (home) => findMove(home, accountId));
  const found = asked.flatMap(([from, move]) => (move ? [{ from, move }] : []));
  return found.find(({ move }) => move.state !== 'cleaning up') ?? found[0];
}
