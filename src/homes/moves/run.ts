import { type SQL, sql } from 'drizzle-orm';
import { hasHomes } from '../../platform/homes/homes.ts';
import { type Budget, isLeft, newBudget, within } from '../../platform/jobs/budget.ts';
import { drain } from './begin.ts';
import { copyChunk } from './copy.ts';
import { cancelChunk, cleanUp } from './end.ts';
import { copyFiles } from './files.ts';
import { findMove, type Job, type Move, releaseLease, type State, takeLease, waitingMoves } from './state.ts';
import { openNewHome, switchHomes } from './switch.ts';

/** The longest that a run rests after a step. */
const longestRestMs = 100;

/** What is done in each state. Every step can be repeated, and be interrupted anywhere. */
const steps: Record<Exclude<State, 'stopped'>, (job: Job, move: Move) => Promise<void>> = {
  draining: drain,
  copying: copyChunk,
  'copying files': copyFiles,
  switching: switchHomes,
  opening: openNewHome,
  'cleaning up': cleanUp,
  cancelling: cancelChunk,
};

/** How far a run has come, and the move as it stands; undefined once nothing is left to do. */
export type Result = { move: Move | undefined; last: Move | undefined };

/**
 * Goes on with a move for some seconds. Returns how it stands, and how it stood last when it ended. It can be run by
 * several at a time: one works, the others return at once.
 *
 * @throws Refusal: unavailable, or whatever D1 throws; the next run goes on
 */
export const continueMove = (env: Env, accountId: string, budget = newBudget()): Promise<Result> =>
  run(within(env, budget), accountId, budget);

async function run(env: Env, accountId: string, budget: Budget): Promise<Result> {
  const job = await takeLease(env, accountId);
  let last: Move | undefined;
  try {
    for (;;) {
      const move = await findMove(env, accountId);
      last = move ?? last;
      if (!move || !job || move.lease !== job.lease || move.state === 'stopped') return { move, last };
      if (!isDecisive(move) && !isLeft(budget)) return { move, last };
      await step(job, move);
    }
  } finally {
    if (job) await releaseLease(job).catch(() => {}); // it expires
  }
}

/** Between the switch and opening nobody waits for the next run. */
const isDecisive = ({ state }: Move): boolean => state === 'switching' || state === 'opening';

async function step(job: Job, move: Move): Promise<void> {
  if (move.state === 'stopped') return;
  const began = Date.now();
  await steps[move.state](job, move);
  // Half of D1's time is left to others.
  if (!isDecisive(move)) await scheduler.wait(Math.min(Date.now() - began, longestRestMs));
}

/** Goes on with the moves of accounts that leave this home. */
export async function continueMoves(env: Env, _?: number, budget = newBudget()): Promise<void> {
  for (const { accountId } of await waitingMoves(env)) if (isLeft(budget)) await run(env, accountId, budget);
}

/** SQL that says whether there is a move to go on with; with several homes only. */
export const movesAreDue = (env: Env, now: number): SQL =>
  hasHomes(env)
    ? sql`exists (select 1 from moves where role = 'leaving' and state <> 'stopped' and leased_until <= ${now})`
    : sql`0`;
