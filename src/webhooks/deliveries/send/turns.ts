import { fairQueue, halfTheTime, othersAreActive } from '../../../platform/fair-queue.ts';
import { send } from '../../../platform/queue.ts';
import type { Wake } from '../queue.ts';

/**
 * The transactions of workers: D1 runs them one by one, so other accounts wait for a few of an account's at most. Those
 * of all accounts are bounded for ingest and pages, since after an outage thousands of webhooks catch up at once.
 */
export const transactions = fairQueue({
  atOnce: (accountId) => (othersAreActive(accountId) ? 1 : 4),
  inAll: 16,
  timeoutMs: 5_000,
  stepMs: 2,
  pauseMs: halfTheTime(20),
});

/** The workers of an account in an isolate, whose calls take memory. What waits longer returns to the queue. */
const workers = fairQueue({
  atOnce: 120,
  maxWaiting: 1_000,
  timeoutMs: 5_000,
  stepMs: 10,
  longestMs: 45_000,
});

/** Accidents have workers of their own, beside those of events. */
const lineOf = ({ accountId, accidents }: Wake): string =>
  accidents ? `accidents of ${accountId}` : accountId;

/** Runs `work` when a worker for this webhook may begin. Returns undefined if none may until `latest`, or for too long. */
export const inWorkersTurn = <T>(wake: Wake, work: () => Promise<T>, latest: number) =>
  workers.run(lineOf(wake), work, latest);

/** Whether other workers of the account wait for one to end. */
export const workersWait = (wake: Wake): boolean => workers.waiting(lineOf(wake)) > 0;

/** Returns a function that wakes the two workers that follow this one, each once the webhook has work for so many. */
export function growth(env: Env, { timer: _, ...wake }: Wake): (workers: number) => void {
  let next = [2 * wake.worker, 2 * wake.worker + 1];
  return (count) => {
    if (workersWait(wake)) return;
    const wanted = next.filter((worker) => worker <= count);
    next = next.filter((worker) => worker > count);
    if (wanted.length > 0)
      void send(
        env.DELIVERIES,
        wanted.map((worker) => ({ ...wake, worker })),
      );
  };
}
