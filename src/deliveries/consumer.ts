import { config } from '../config.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { described, fault } from '../log.ts';
import { receiverProblem } from '../receivers/address.ts';
import { unseal } from '../sealing.ts';
import { attempt, headersFor, type Receiver } from './attempt.ts';
import { type Claimed, claim, type ReceiverReport, type Recorded, record, startWindowMs } from './claims.ts';
import { nextAfter, type Outcome } from './policy.ts';
import type { DeliveryKey } from './queue.ts';
import { logAttempt } from './telemetry.ts';

/** Shorter waits than this ride on the queue; the sweep, which runs each minute, wakes the others. */
const onQueueMs = 60_000;

/** Calls in flight at a time: Workers lets six per invocation wait for the reply's headers. */
const inFlight = 6;
const inFlightPerWebhook = 2;

/** How long a webhook's other deliveries of the batch wait, without an attempt, after a time-out. */
const afterTimeoutMs = 10_000;

/** When headers cannot be decrypted the fault is ours, and somebody has to fix it. */
const afterFaultMs = 5 * 60_000;

/** How long a batch waits for its slower calls before they go on in the background. */
const patienceMs = 250;

/** A delivery that is due again soon: in how many whole seconds. */
export type Soon = { key: DeliveryKey; delaySeconds: number };

/**
 * Handles one batch of wake-ups: claims what is due, attempts it and records the outcomes (design 9). Returns the
 * deliveries whose next attempt rides on the queue; everything else is settled, or left to the sweep. Recording, slow
 * calls, and calls to receivers that have just failed do not hold up the batch: they go on in the `background`.
 *
 * @throws Refusal: unavailable, or whatever D1 throws: the wake-ups should then be retried; no attempt is spent
 */
export async function deliver(
  env: Env,
  keys: DeliveryKey[],
  background: (work: Promise<unknown>) => void,
): Promise<Soon[]> {
  const db = openDatabase(env);
  const began = Date.now();
  const { claimed, deferred } = await claim(db, keys, began);
  const outcomes: Recorded[] = [];
  const { all, trusted } = attemptAll(env, claimed, began + startWindowMs, outcomes);
  await Promise.race([trusted, all, scheduler.wait(patienceMs)]);

  const prompt = outcomes.splice(0);
  background(recordSurely(db, prompt));
  if (prompt.length < claimed.length)
    background(
      all.then(async () => {
        const late = outcomes.splice(0);
        await recordSurely(db, late);
        await Promise.all(
          dueAgain(late).map(
            ({ key: { webhookId, id }, delaySeconds }) =>
              env.DELIVERIES.send({ webhookId, id }, { delaySeconds }).catch(() => {}), // the sweep wakes it
          ),
        );
      }),
    );
  return [...dueSoon(deferred), ...dueAgain(prompt)];
}

const dueAgain = (outcomes: Recorded[]): Soon[] =>
  dueSoon(
    outcomes
      .filter(({ status }) => status === 'pending')
      .map(({ key, nextAttemptAt = 0 }) => ({ key, at: nextAttemptAt })),
  );

function dueSoon(due: { key: DeliveryKey; at: number }[]): Soon[] {
  return due.flatMap(({ key, at }) => {
    const delayMs = at - Date.now();
    return delayMs < onQueueMs ? [{ key, delaySeconds: Math.max(0, Math.ceil(delayMs / 1000)) }] : [];
  });
}

/**
 * Attempts deliveries side by side, a few at a time and fewer per webhook, so that one bad receiver does not slow
 * down the others. What has not started by `until`, or follows a time-out of its webhook, is put back. Outcomes are
 * added to `outcomes` as they come; `trusted` resolves with those of receivers that have not just failed.
 */
function attemptAll(
  env: Env,
  claimed: Claimed[],
  until: number,
  outcomes: Recorded[],
): { all: Promise<void>; trusted: Promise<void> } {
  const waiting = [...claimed];
  const busy = new Map<string, number>();
  const timedOut = new Set<string>();
  const receivers = new Map<string, ReturnType<typeof receiverOf>>();

  const settle = async (delivery: Claimed): Promise<Recorded> => {
    const { webhook, webhookId, attempts, type, data, id } = delivery;
    if (!webhook) return { key: delivery, status: 'cancelled' };
    if (timedOut.has(webhookId)) return putBack(delivery, afterTimeoutMs);
    if (Date.now() > until) return putBack(delivery, 0);
    const opened = receivers.get(webhookId) ?? receiverOf(env, webhookId, webhook);
    receivers.set(webhookId, opened);
    const receiver = await opened;
    if (receiver === 'unreadable') return putBack(delivery, afterFaultMs);
    const at = Date.now();
    const call = { id, attempt: attempts + 1, type, data };
    const outcome: Outcome =
      receiver === 'blocked' ? { result: 'blocked address' } : await attempt(receiver, call);
    const now = Date.now();
    logAttempt(env, delivery, { ms: now - at, ...outcome });
    if (outcome.result === 'timeout') timedOut.add(webhookId);
    const next = nextAfter(outcome, call.attempt, now, Math.random());
    const attempted = { at, durationMs: now - at, ...outcome };
    return next.status === 'pending'
      ? { key: delivery, status: 'pending', nextAttemptAt: next.at, attempt: attempted }
      : { key: delivery, status: next.status, attempt: attempted };
  };
  const takeNext = (): Claimed | undefined => {
    const free = waiting.findIndex(({ webhookId }) => (busy.get(webhookId) ?? 0) < inFlightPerWebhook);
    return free < 0 ? undefined : waiting.splice(free, 1)[0];
  };
  const trusted = Promise.withResolvers<void>();
  const all = Promise.withResolvers<void>();
  let trustedLeft = claimed.filter(({ failures }) => failures === 0).length;
  let running = 0;
  const startSome = () => {
    if (trustedLeft === 0) trusted.resolve();
    if (waiting.length === 0 && running === 0) all.resolve();
    while (running < inFlight) {
      const delivery = takeNext();
      if (!delivery) return;
      const { webhookId, failures } = delivery;
      running++;
      busy.set(webhookId, (busy.get(webhookId) ?? 0) + 1);
      settle(delivery).then((outcome) => {
        outcomes.push(outcome);
        running--;
        busy.set(webhookId, (busy.get(webhookId) ?? 1) - 1);
        if (failures === 0) trustedLeft--;
        startSome();
      }, all.reject);
    }
  };
  startSome();
  return { all: all.promise, trusted: trusted.promise };
}

/** A webhook's receiver, prepared once for all its calls of a batch, or why it may not or cannot be called. */
async function receiverOf(
  env: Env,
  webhookId: string,
  { url, httpVerb, headers }: NonNullable<Claimed['webhook']>,
): Promise<Receiver | 'blocked' | 'unreadable'> {
  const { allowLoopbackReceivers: allowLoopback, headerKeys } = config(env);
  if (receiverProblem(url, { allowLoopback })) return 'blocked';
  try {
    return { url, httpVerb, headers: headersFor(await unseal(headerKeys, webhookId, headers)) };
  } catch (error) {
    fault('error', { message: 'Cannot read headers', webhookId, ...described(error) });
    return 'unreadable';
  }
}

const putBack = (key: Claimed, afterMs: number): Recorded => ({
  key,
  status: 'pending',
  nextAttemptAt: Date.now() + afterMs,
});

/** What the attempts say of each receiver, where that is anything new. */
function receiverReports(recorded: Recorded[]): ReceiverReport[] {
  const reports = new Map<string, ReceiverReport & { before: number }>();
  for (const { key, attempt } of recorded) {
    if (!attempt) continue;
    const { webhookId, failures: before, probe } = key;
    const report = reports.get(webhookId) ?? {
      webhookId,
      failures: 0,
      succeeded: false,
      probe: false,
      before,
    };
    const success = attempt.result === 'success';
    reports.set(webhookId, {
      ...report,
      failures: success ? 0 : report.failures + 1,
      succeeded: report.succeeded || success,
      probe: report.probe || probe,
    });
  }
  return [...reports.values()]
    .filter(({ failures, before, probe }) => failures > 0 || before > 0 || probe)
    .map(({ before: _, ...report }) => report);
}

/**
 * Records outcomes while the next batch is already being claimed: the calls have been made, and nobody waits for this.
 * Recording twice is harmless, so it is tried again. If it fails for good the claims lapse, and the sweep wakes those
 * deliveries, which are then called again under the same Delivery-Id.
 */
async function recordSurely(db: Database, outcomes: Recorded[]): Promise<void> {
  if (outcomes.length === 0) return;
  for (const waitMs of [100, 1000, undefined])
    try {
      return await record(db, outcomes, receiverReports(outcomes), Date.now());
    } catch (error) {
      if (waitMs === undefined)
        fault('error', {
          message: 'Attempts were not recorded',
          count: outcomes.length,
          ...described(error),
        });
      else await scheduler.wait(waitMs);
    }
}
