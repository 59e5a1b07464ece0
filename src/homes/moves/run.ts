import { type SQL, sql } from 'drizzle-orm';
import { openDatabase, statement } from '../../platform/db/database.ts';
import { invalid } from '../../platform/errors.ts';
import { hasHomes, homesOf } from '../../platform/homes/homes.ts';
import { type Budget, inSteps, isLeft, newBudget, within } from '../../platform/jobs/budget.ts';
import { withLease } from '../../platform/jobs/lease.ts';
import { drain } from './begin.ts';
import { copyChunk } from './copy.ts';
import { cancelChunk, cleanUp, openNewHome, switchHomes } from './end.ts';
import { copyFiles } from './files.ts';
import { movedTables } from './rows.ts';
import { findMove, type Job, leaseOf, type Move, type State } from './state.ts';

/** What each state does. Every step can be interrupted anywhere, and repeated. */
const steps: Record<State, (job: Job, move: Move) => Promise<unknown>> = {
  draining: drain,
  copying: copyChunk,
  'copying files': copyFiles,
  switching: switchHomes,
  opening: openNewHome,
  'cleaning up': cleanUp,
  cancelling: cancelChunk,
};

/** How far a run has come, and the move afterwards; undefined when done. */
export type Result = { move: Move | undefined; last: Move | undefined };

/**
 * Works on a move for some seconds. Returns how it stands, and how it last stood if it has ended. Of several at a time
 * one works, and the others return at once.
 *
 * @throws Refusal: unavailable, or invalid when the new home has no bindings any more, or whatever D1 throws; the next
 * run continues
 */
export const continueMove = (env: Env, accountId: string, budget = newBudget()): Promise<Result> =>
  run(within(env, budget), accountId, budget);

async function run(env: Env, accountId: string, budget: Budget): Promise<Result> {
  let move = await findMove(env, accountId);
  if (!move) return { move, last: move };
  const to = homesOf(env).get(move.home);
  if (!to)
    throw invalid(
      `The home ${move.home} has no bindings any more. Deploy with them, and the move goes on, or can be cancelled.`,
    );
  let last = move;
  const find = async () => {
    move = await findMove(env, accountId);
    last = move ?? last;
  };
  const work = async (job: Job) => {
    await find(); // somebody else may have worked on it until now
    await inSteps(budget, async () => {
      if (move) await steps[move.state](job, move);
      await find();
      return move !== undefined;
    });
  };
  const name = leaseOf(accountId);
  await withLease(env, name, (old) =>
    withLease(to, name, async (fresh) =>
      work({ accountId, from: env, to, old, fresh, tables: await movedTables(env) }),
    ),
  );
  return { move, last };
}

const isLeaving = sql`state <> 'arriving'`;

/** Continues the moves of accounts that leave this home. */
export async function continueMoves(env: Env, _?: number, budget = newBudget()): Promise<void> {
  const leaving = await statement<{ accountId: string }>(openDatabase(env))`
    select account_id as accountId from moves where ${isLeaving} order by started_at`;
  for (const { accountId } of leaving) if (isLeft(budget)) await run(env, accountId, budget);
}

/** SQL for whether a move is waiting to be continued; with several homes only. */
export const movesAreDue = (env: Env): SQL =>
  hasHomes(env) ? sql`exists (select 1 from moves where ${isLeaving})` : sql`0`;
