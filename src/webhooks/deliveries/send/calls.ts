import { othersAreActive } from '../../../platform/fair-queue.ts';
import { fault } from '../../../platform/log.ts';
import { ACCIDENT } from '../../notifications/types.ts';
import { type Attempt, type ClaimedDelivery, nextAfter, type Recorded } from '../policy.ts';
import { type MakeCall, prepareCalls } from './attempt.ts';
import type { ClaimedWebhook } from './claim.ts';

/** Calls in flight per worker: an invocation has six connections, and D1 needs one. */
const callsPerWorker = 5;

/** How many deliveries a worker claims at a time, and for how much of its receiver's time. */
const maxPerClaim = 40;
const maxPerFairClaim = 10;
const claimAheadMs = 100;

/** When headers cannot be decrypted, the fault is ours and an operator must fix it. */
const afterFaultMs = 5 * 60_000;

/** How long to wait for calls that end together, at most and as a share of their duration. */
const togetherMs = 40;
const togetherPart = 0.2;

/** How long to wait for new work while some calls take long. */
const lookAgainMs = 500;

/** The calls of one worker: five in flight, the rest waiting, and the outcomes to be recorded. */
export function callsOf(env: Env, accountId: string, webhookId: string) {
  const makers = new Map<string, Promise<MakeCall | undefined>>();
  const running = new Set<Promise<void>>();
  const waiting: (() => Promise<Recorded>)[] = [];
  let finished: Recorded[] = [];
  let firstRetryAt: number | undefined;
  let responseMs: number | undefined;

  /** How to call the receiver; undefined if that is impossible for now. */
  const makerOf = ({ settings }: ClaimedWebhook): Promise<MakeCall | undefined> => {
    const known =
      makers.get(settings) ??
      prepareCalls(env, webhookId, JSON.parse(settings)).catch((error: unknown) => {
        fault('error', 'Cannot read headers', { webhookId }, error);
        return undefined;
      });
    makers.set(settings, known);
    return known;
  };
  const finish = (recorded: Recorded) => {
    const { attempt, status, nextAttemptAt = 0 } = recorded;
    if (attempt)
      responseMs = responseMs === undefined ? attempt.durationMs : (3 * responseMs + attempt.durationMs) / 4;
    if (status === 'pending' && nextAttemptAt > Date.now())
      firstRetryAt = Math.min(firstRetryAt ?? nextAttemptAt, nextAttemptAt);
    finished.push(recorded);
  };
  const fill = () => {
    while (running.size < callsPerWorker) {
      const next = waiting.shift();
      if (!next) return;
      const done: Promise<void> = next()
        .then(finish)
        .finally(() => running.delete(done));
      running.add(done);
    }
  };
  /** How many deliveries the receiver handles in `claimAheadMs`; 0 while that is unknown. */
  const ahead = (): number =>
    responseMs === undefined
      ? 0
      : Math.min(
          othersAreActive(accountId) ? maxPerFairClaim : maxPerClaim,
          Math.floor((callsPerWorker * claimAheadMs) / Math.max(1, responseMs)),
        );
  return {
    /** How many deliveries to claim: the free calls, or what 100 ms suffice for. */
    room: (): number => Math.max(callsPerWorker - running.size, ahead()),
    /** Waits until the receiver has shown its pace, or has proved to be slow. */
    async paceKnown(): Promise<void> {
      if (responseMs === undefined && running.size > 0)
        await Promise.race([...running, scheduler.wait(claimAheadMs)]);
    },
    /** How many workers a window of this size has work for. */
    workersFor(window: number): number {
      const size = ahead();
      const workers = size > callsPerWorker ? Math.round(window / size) : Math.ceil(window / callsPerWorker);
      return Math.max(1, workers);
    },
    /** Starts the calls of claimed deliveries by `startBy`, or has them wait. */
    start(webhook: ClaimedWebhook, claimed: ClaimedDelivery[], startBy: number): void {
      for (const delivery of claimed)
        waiting.push(async () => attempted(env, delivery, await makerOf(webhook), startBy));
      fill();
    },
    /** Waits until there is room for more calls or something to record. */
    async progress(inTime: boolean): Promise<void> {
      do {
        // Calls may have ended while D1 was busy: then there is nothing to wait for.
        if (finished.length > 0 && waiting.length === 0) break;
        const free = running.size < callsPerWorker && inTime;
        await Promise.race(free ? [...running, scheduler.wait(lookAgainMs)] : running);
        fill();
      } while (waiting.length > 0);
      if (running.size > 0 && responseMs)
        await scheduler.wait(Math.min(togetherMs, responseMs * togetherPart));
    },
    takeFinished(): Recorded[] {
      const outcomes = finished;
      finished = [];
      return outcomes;
    },
    idle: (): boolean => running.size === 0 && finished.length === 0,
    retryAt: (): number | undefined => firstRetryAt,
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
  const outcome = at <= startBy ? await make({ id, attempt: attempts, type, data, startBy }) : undefined;
  const now = Date.now();
  if (!outcome) return { delivery, status: 'pending', nextAttemptAt: now };
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
