import { config } from '../config.ts';
import { openDatabase } from '../db/database.ts';
import { attempt } from './attempt.ts';
import { type Claimed, claim, type Recorded, record } from './claims.ts';
import { nextAfter } from './policy.ts';
import type { DeliveryKey } from './queue.ts';

/** Waits shorter than this ride on the queue; longer ones are woken by the minute's sweep. */
const onQueueMs = 60_000;

/** How many calls an invocation makes at a time: Workers lets six wait for their reply's headers. */
const inFlight = 6;

/** Where a delivery is due again soon: how long from now, in whole seconds. */
export type Soon = { key: DeliveryKey; delaySeconds: number };

/**
 * Takes one batch of wake-ups: claims what is due, attempts it, records how it came out (design 9). Answers
 * those whose next attempt rides on the queue; everything else is settled, or is the sweep's.
 *
 * @throws whatever D1 throws: then the wake-ups should come again
 */
export async function deliver(env: Env, keys: DeliveryKey[]): Promise<Soon[]> {
  const db = openDatabase(env.DB);
  const claimed = await claim(db, keys, Date.now());
  if (claimed.length === 0) return [];
  const policy = { allowLoopback: config(env).allowLoopbackReceivers };
  const recorded = await inParallel(claimed, inFlight, (delivery) => settle(delivery, policy));
  await record(db, recorded, Date.now());
  return recorded.flatMap(({ key, status, nextAttemptAt = 0 }) => {
    const delayMs = nextAttemptAt - Date.now();
    const soon = status === 'pending' && delayMs < onQueueMs;
    return soon ? [{ key, delaySeconds: Math.max(0, Math.ceil(delayMs / 1000)) }] : [];
  });
}

async function settle(delivery: Claimed, policy: { allowLoopback: boolean }): Promise<Recorded> {
  const { webhook, ...key } = delivery;
  if (!webhook) return { key: delivery, status: 'cancelled' };
  const at = Date.now();
  const call = { ...webhook, id: key.id, attempt: key.attempts + 1, type: key.type, data: key.data };
  const outcome = await attempt(call, policy);
  const now = Date.now();
  const next = nextAfter(outcome, call.attempt, now, Math.random());
  return {
    key: delivery,
    status: next.status,
    ...(next.status === 'pending' && { nextAttemptAt: next.at }),
    entry: { at, durationMs: now - at, ...outcome },
  };
}

async function inParallel<T, R>(items: T[], most: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) results.push(await work(item));
  };
  await Promise.all(Array.from({ length: most }, worker));
  return results;
}
