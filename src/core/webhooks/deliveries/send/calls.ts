import { fault } from '../../../platform/log.ts';
import { ACCIDENT } from '../../notifications/types.ts';
import { type Attempt, type ClaimedDelivery, nextAfter, type Recorded } from '../policy.ts';
import { type MakeCall, prepareCalls } from './attempt.ts';
import type { ClaimedWebhook } from './claim.ts';

/** Calls in flight per worker: an invocation has six connections, and D1 needs one. */
const callsPerWorker = 5;

/** How many deliveries a worker claims of a receiver that responds this fast. */
const perFastClaim = 40;
const fastMs = 25;

/** How long to wait for a first response before the receiver counts as slow. */
const paceMs = 100;

/** When headers cannot be decrypted, the fault is ours and an operator must fix it. */
const afterFaultMs = 5 * 60_000;

/** How long to wait for other calls once one has ended: mostly they end together, and are recorded together. */
const togetherMs = 20;

/** How long to wait for new work while some calls take long. */
const lookAgainMs = 500;

/** The calls of one worker: five in flight, the rest waiting, and the outcomes to be recorded. */
export function callsOf(env: Env, webhookId: string) {
  const prepare = preparedOnce(env, webhookId);
  const running = new Set<Promise<void>>();
  const waiting: (() => Promise<Recorded>)[] = [];
  const ended: Recorded[] = [];
  let hasRetry = false;
  let responseMs: number | undefined;

  const end = (recorded: Recorded) => {
    const { attempt, status, nextAttemptAt = 0 } = recorded;
    if (attempt)
      responseMs =
        responseMs === undefined ? attempt.durationMs : (3 * responseMs + attempt.durationMs) / 4;
    hasRetry ||= status === 'pending' && nextAttemptAt > Date.now();
    ended.push(recorded);
  };
  const fill = () => {
    while (running.size < callsPerWorker) {
      const start = waiting.shift();
      if (!start) return;
      const done: Promise<void> = start()
        .then(end)
        .finally(() => running.delete(done));
      running.add(done);
    }
  };
  const isFast = (): boolean => responseMs !== undefined && responseMs <= fastMs;
  return {
    /** How many deliveries to claim. */
    room: (): number => (isFast() ? perFastClaim : callsPerWorker - running.size),
    /** How many workers a window has work for, once the receiver has responded or proved to be slow. */
    async workersFor(window: number): Promise<number> {
      if (responseMs === undefined) await Promise.race([...running, scheduler.wait(paceMs)]);
      return isFast() ? 1 : Math.ceil(window / callsPerWorker);
    },
    /** Starts the calls of claimed deliveries by `startBy`, or has them wait. */
    start(webhook: ClaimedWebhook, claimed: ClaimedDelivery[], startBy: number): void {
      for (const delivery of claimed)
        waiting.push(async () => attempted(env, delivery, await prepare(webhook), startBy));
      fill();
    },
    /** Waits until there is something to record, or room for a claim if one may be made. */
    async progress(mayClaim: boolean): Promise<void> {
      do {
        // Calls may have ended while D1 was busy: then there is nothing to wait for.
        if (ended.length > 0 && waiting.length === 0) break;
        const isFree = running.size < callsPerWorker && mayClaim;
        await Promise.race(isFree ? [...running, scheduler.wait(lookAgainMs)] : running);
        fill();
      } while (waiting.length > 0);
      await Promise.race([Promise.all(running), scheduler.wait(togetherMs)]);
    },
    takeEnded: (): Recorded[] => ended.splice(0),
    isIdle: (): boolean => running.size === 0 && ended.length === 0,
    hasRetry: (): boolean => hasRetry,
  };
}

/** Returns a function that prepares calls as the webhook is now: undefined if that is impossible for now. */
function preparedOnce(env: Env, webhookId: string) {
  const makers = new Map<string, Promise<MakeCall | undefined>>();
  return ({ settings }: ClaimedWebhook): Promise<MakeCall | undefined> => {
    const known =
      makers.get(settings) ??
      prepareCalls(env, webhookId, JSON.parse(settings)).catch((error: unknown) => {
        fault('error', 'Cannot read headers', { webhookId }, error);
        return undefined;
      });
    makers.set(settings, known);
    return known;
  };
}

/** Makes the call of a claimed delivery, if any, and decides what follows. */
async function attempted(
  env: Env,
  delivery: ClaimedDelivery,
  make: MakeCall | undefined,
  startBy: number,
): Promise<Recorded> {
  const { id, type, data } = delivery;
  if (!delivery.wanted) return { delivery, status: 'cancelled' };
  const at = Date.now();
  if (!make) return { delivery, status: 'pending', nextAttemptAt: at + afterFaultMs };
  const attempts = delivery.attempts + 1;
  const outcome =
    at <= startBy ? await make({ id, attempt: attempts, type, data, startBy }) : undefined;
  if (!outcome) return { delivery, status: 'pending' };
  const now = Date.now();
  const attempt = { at, durationMs: now - at, ...outcome };
  countAttempt(env, delivery, attempt);
  return { delivery, attempt, ...nextAfter(outcome, { type, attempts }, now, Math.random()) };
}

/** Writes an Analytics Engine point. Never throws: observing deliveries must not stop them. */
function countAttempt(
  env: Env,
  { webhookId, accountId, type, attempts }: ClaimedDelivery,
  { durationMs, result, status }: Attempt,
): void {
  try {
    env.ATTEMPTS.writeDataPoint({
      indexes: [accountId],
      blobs: [type === ACCIDENT ? 'accident' : 'event', result, webhookId],
      doubles: [durationMs, attempts + 1, status ?? 0],
    });
  } catch {
    // the log has it as well
  }
}
