import { type SQL, sql } from 'drizzle-orm';
import { hasHomes } from '../../platform/homes/homes.ts';
import { type Budget, inSteps, isLeft, newBudget, within } from '../../platform/jobs/budget.ts';
import { drain } from './begin.ts';
import { copyChunk } from './copy.ts';
import { cancelChunk, cleanUp, openNewHome, switchHomes } from './end.ts';
import { copyFiles } from './files.ts';
import { findMove, type Job, type Move, releaseLease, type State, takeLease, waitingMoves } from './state.ts';

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
 * @throws Refusal: unavailable, or whatever D1 throws; the next run continues
 */
export const continueMove = (env: Env, accountId: string, budget = newBudget()): Promise<Result> =>
  run(within(env, budget), accountId, budget);

async function run(env: Env, accountId: string, budget: Budget): Promise<Result> {
  const job = await takeLease(env, accountId);
  let move = await findMove(env, accountId);
  let last = move;
  try {
    await inSteps(budget, async () => {
      if (!move || move.lease !== job?.lease) return false;
      await steps[move.state](job, move);
      move = await findMove(env, accountId);
      last = move ?? last;
      return true;
    });
    return { move, last };
  } finally {
    if (job) await releaseLease(job).catch(() => {}); // it expires
  }
}

/** Continues the moves of accounts that leave this home. */
export async function continueMoves(env: Env, _?: number, budget = newBudget()): Promise<void> {
  for (const { accountId } of await waitingMoves(env)) if (isLeft(budget)) await run(env, accountId, budget);
}

/** SQL for whether a move is waiting to be continued; with several homes only. */
export const movesAreDue = (env: Env, now: number): SQL =>
  hasHomes(env)
    ? sql`exists (select 1 from moves where role = 'leaving' and leased_until <= ${now})`
    : sql`0`;
