import { fairQueue, halfTheTime, othersAreActive } from '../../../platform/fair-queue.ts';
import { send } from '../../../platform/queue.ts';
import type { Wake } from '../queue.ts';

/** The transactions of workers: other accounts wait for a few at most; all are bounded after an outage. */
export const transactions = fairQueue({
  atOnce: (accountId) => (othersAreActive(accountId) ? 1 : 4),
  inAll: 16,
  timeoutMs: 5_000,
  stepMs: 2,
  pauseMs: halfTheTime(20),
});

/** The workers of an account in an isolate, whose calls take memory: enough for 20 receivers at their widest window. */
const workers = fairQueue({
  atOnce: 200,
  maxWaiting: 1_000,
  timeoutMs: 5_000,
  stepMs: 10,
  longestMs: 45_000,
});

/** Accidents have workers of their own, beside those of events. */
const lineOf = ({ accountId, accidents }: Wake): string =>
  accidents ? `accidents of ${accountId}` : accountId;

/** Runs `work` when it is its turn; undefined if that is too late, or takes too long. */
export const inWorkersTurn = <T>(wake: Wake, work: () => Promise<T>, latest: number) =>
  workers.run(lineOf(wake), work, latest);

/** Whether other workers of the account wait for one to end. */
export const workersWait = (wake: Wake): boolean => workers.waiting(lineOf(wake)) > 0;

/** Returns a function that wakes the next two workers, once there is work for so many. */
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
