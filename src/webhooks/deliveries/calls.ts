import { config } from '../../platform/config.ts';
import { unseal } from '../../platform/crypto.ts';
import { othersAreActive } from '../../platform/db/turns.ts';
import { described, fault } from '../../platform/log.ts';
import { receiverProblem } from '../address.ts';
import { attempt, headersFor, type Receiver } from './attempt.ts';
import type { Claimed, ClaimedWebhook } from './claim.ts';
import { nextAfter, type Outcome } from './policy.ts';
import type { Recorded } from './record.ts';
import { countAttempt } from './telemetry.ts';

/** Calls in flight per lane: an invocation may wait on six connections, and D1 needs one. */
const callsPerLane = 5;

/** The most deliveries that a lane claims at a time, and for how much of its receiver's time. */
const maxPerClaim = 40;
const maxPerFairClaim = 10;
const claimAheadMs = 100;

/** When headers cannot be decrypted the fault is ours, and somebody has to fix it. */
const afterFaultMs = 5 * 60_000;

/** How long to wait for calls that end together, at most and as a part of what they take. */
const togetherMs = 40;
const togetherPart = 0.2;

/** How long to wait for new work while some calls take long. */
const lookAgainMs = 500;

type Waiting = { delivery: Claimed; webhook: ClaimedWebhook; startBy: number };

/** The calls of one lane: five in flight, the rest waiting, and the outcomes that are not recorded yet. */
export function laneCalls(env: Env, accountId: string, webhookId: string) {
  const receivers = new Map<string, Promise<Receiver | 'blocked' | 'unreadable'>>();
  const running = new Set<Promise<void>>();
  const waiting: Waiting[] = [];
  let finished: Recorded[] = [];
  let firstRetryAt: number | undefined;
  let answerMs: number | undefined;

  const call = async ({ delivery, webhook, startBy }: Waiting): Promise<void> => {
    const { iv } = webhook.headers; // differs for each version of the headers
    const receiver = receivers.get(iv) ?? receiverOf(env, webhookId, webhook);
    receivers.set(iv, receiver);
    const recorded = await settle(env, delivery, await receiver, startBy);
    const { attempt, status, nextAttemptAt = 0 } = recorded;
    if (attempt)
      answerMs = answerMs === undefined ? attempt.durationMs : (3 * answerMs + attempt.durationMs) / 4;
    if (status === 'pending' && nextAttemptAt > Date.now())
      firstRetryAt = Math.min(firstRetryAt ?? nextAttemptAt, nextAttemptAt);
    finished.push(recorded);
  };
  const fill = () => {
    while (running.size < callsPerLane) {
      const next = waiting.shift();
      if (!next) return;
      const done: Promise<void> = call(next).finally(() => running.delete(done));
      running.add(done);
    }
  };
  /** How many deliveries the receiver answers in `claimAheadMs`; 0 while that is not known. */
  const ahead = (): number =>
    answerMs === undefined
      ? 0
      : Math.min(
          othersAreActive(accountId) ? maxPerFairClaim : maxPerClaim,
          Math.floor((callsPerLane * claimAheadMs) / Math.max(1, answerMs)),
        );
  return {
    /** How many deliveries to claim now: what is free, or what a quick receiver answers in a tenth of a second. */
    room: (): number => Math.max(callsPerLane - running.size, ahead()),
    /** Waits until the receiver has answered once, which tells its pace, or has proved to be slow. */
    async paceKnown(): Promise<void> {
      if (answerMs === undefined && running.size > 0)
        await Promise.race([...running, scheduler.wait(claimAheadMs)]);
    },
    /** How many lanes a window of this size has work for: few where each claims ahead, or claims would be small. */
    lanesFor(window: number): number {
      const size = ahead();
      return Math.max(1, size > callsPerLane ? Math.round(window / size) : Math.ceil(window / callsPerLane));
    },
    start(webhook: ClaimedWebhook, claimed: Claimed[], startBy: number): void {
      waiting.push(...claimed.map((delivery) => ({ delivery, webhook, startBy })));
      fill();
    },
    /** Waits until there is room for more calls or something to record. */
    async progress(inTime: boolean): Promise<void> {
      do {
        // Calls may have ended while D1 was busy: then there is nothing to wait for, and perhaps nothing under way.
        if (finished.length > 0 && waiting.length === 0) break;
        const free = running.size < callsPerLane && inTime;
        await Promise.race(free ? [...running, scheduler.wait(lookAgainMs)] : running);
        fill();
      } while (waiting.length > 0);
      if (running.size > 0 && answerMs) await scheduler.wait(Math.min(togetherMs, answerMs * togetherPart));
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

async function settle(
  env: Env,
  delivery: Claimed,
  receiver: Receiver | 'blocked' | 'unreadable',
  startBy: number,
): Promise<Recorded> {
  const { id, attempts, type, data } = delivery;
  if (!delivery.wanted) return { key: delivery, status: 'cancelled' };
  const at = Date.now();
  if (at > startBy) return { key: delivery, status: 'pending', nextAttemptAt: at };
  if (receiver === 'unreadable')
    return { key: delivery, status: 'pending', nextAttemptAt: at + afterFaultMs };
  const outcome: Outcome =
    receiver === 'blocked'
      ? { result: 'blocked address' }
      : await attempt(receiver, { id, attempt: attempts + 1, type, data });
  const now = Date.now();
  countAttempt(env, delivery, { ms: now - at, ...outcome });
  const next = nextAfter(outcome, attempts + 1, now, Math.random());
  const made = { at, durationMs: now - at, ...outcome };
  return next.status === 'pending'
    ? { key: delivery, status: 'pending', nextAttemptAt: next.at, attempt: made }
    : { key: delivery, status: next.status, attempt: made };
}

/** A webhook's receiver, prepared once for all calls of a lane, or why it may not or cannot be called. */
async function receiverOf(
  env: Env,
  webhookId: string,
  { url, httpVerb, headers }: ClaimedWebhook,
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
