import { hasHomes } from '../../platform/homes/homes.ts';
import { described, fault } from '../../platform/log.ts';
import { drain } from './begin.ts';
import { copyChunk } from './copy.ts';
import { cancelChunk, cleanUp } from './end.ts';
import { copyFiles } from './files.ts';
import { endTurn, findMove, type Job, type Move, type State, takeTurn, waitingMoves } from './state.ts';
import { openNewHome, switchHomes } from './switch.ts';

/** What one run may do: D1 takes 1,000 queries of an invocation, and what begins and ends a move takes some hundreds. */
type Budget = { steps: number; queries: number; until: number };

const maxMs = 10_000;
const usual = () => ({ steps: 60, queries: 400, until: Date.now() + maxMs });

/** How many queries a step makes beside those that a job counts. */
const queriesPerStep = 4;

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
export async function continueMove(env: Env, accountId: string, budget: Budget = usual()): Promise<Result> {
  const job = await takeTurn(env, accountId);
  let last: Move | undefined;
  try {
    for (let left = budget.steps; ; left--) {
      const move = await findMove(env, accountId);
      last = move ?? last;
      if (!move || !job || move.turn !== job.turn || move.state === 'stopped') return { move, last };
      const isLeft = left > 0 && job.queries < budget.queries && Date.now() < budget.until;
      if (!isDecisive(move) && !isLeft) return { move, last };
      job.queries += queriesPerStep;
      await step(job, move);
    }
  } finally {
    if (job) await endTurn(job).catch(() => {}); // it lapses
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

/**
 * Goes on with the moves of accounts that leave this home, once a minute; with several homes only. Never throws: what
 * fails is logged, and tried again.
 */
export async function continueMoves(env: Env): Promise<void> {
  if (!hasHomes(env)) return;
  try {
    const budget = { steps: 20, queries: 150, until: Date.now() + maxMs };
    for (const { accountId } of await waitingMoves(env))
      if (Date.now() < budget.until) await continueMove(env, accountId, budget);
  } catch (error) {
    fault('error', { message: 'A move was interrupted', ...described(error) });
  }
}
