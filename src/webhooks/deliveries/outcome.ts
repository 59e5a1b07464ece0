import type { Caller } from '../../platform/db/guard.ts';
import { findDelivery } from './queries.ts';
import type { DeliveryKey } from './queue.ts';
import type { Attempt } from './record.ts';

/** How long somebody who has pressed a button waits, and how often it is looked up meanwhile. */
const patienceMs = 3000;
const firstWaitMs = 60;

/**
 * Waits for a delivery's next attempt, made `since` a time (milliseconds since 1970), for three seconds at most.
 * Undefined if none has ended by then. Looks it up some seven times, with twice the wait each time.
 */
export async function nextAttempt(
  env: Env,
  caller: Caller,
  key: DeliveryKey,
  since: number,
): Promise<Attempt | undefined> {
  const until = Date.now() + patienceMs;
  for (let waitMs = firstWaitMs; ; waitMs *= 2) {
    const last = (await findDelivery(env, caller, key))?.log.at(-1);
    if (last && last.at >= since) return last;
    const left = until - Date.now();
    if (left <= 0) return undefined;
    await scheduler.wait(Math.min(waitMs, left));
  }
}
