import { hourMs, minuteMs } from '../../platform/durations.ts';
import { ACCIDENT, type NotificationType } from '../notifications/types.ts';

export const statuses = ['pending', 'delivered', 'failed', 'cancelled'] as const;

/** When people are notified that a receiver has been paused. */
export const pausedAfterMs = 15 * minuteMs;

/** The outcome of a call: `answer` is the first KiB of the response, `reason` explains a failure. */
export type Outcome = { reason?: string } & (
  | { result: 'success'; status: number; answer?: string }
  | {
      result: 'status' | 'redirect';
      status: number;
      answer: string;
      retryAfter?: number | undefined;
    }
  | { result: 'token'; status?: undefined } // the token endpoint failed
  | { result: 'timeout' | 'dns' | 'tls' | 'connection' | 'blocked address'; status?: number }
);

/** One attempt as stored. Times are milliseconds; nothing of the request is kept. */
export type Attempt = { at: number; durationMs: number } & Outcome;

/** An attempt as a row has it: of a success only when it began, how long it took, and the status. */
export type StoredAttempt = Attempt | [at: number, durationMs: number, status: number];

export const toStored = (attempt: Attempt): StoredAttempt =>
  attempt.result === 'success' ? [attempt.at, attempt.durationMs, attempt.status] : attempt;

export function fromStored(stored: StoredAttempt): Attempt {
  if (!Array.isArray(stored)) return stored;
  const [at, durationMs, status] = stored;
  return { at, durationMs, result: 'success', status };
}

export type DeliveryKey = { webhookId: string; id: string };

/** A claimed delivery; `wanted` if its webhook still subscribes to it. */
export type ClaimedDelivery = DeliveryKey & {
  claimedUntil: number;
  /** When it was due, in milliseconds since 1970. */
  dueAt: number;
  attempts: number;
  accountId: string;
  eventId: string;
  type: number;
  level: number;
  data: string;
  /** Whether it is neither a replay nor a test. */
  first: number;
  /** The request that brought the notification, if known. */
  requestId: string | null;
  wanted: boolean;
};

/** The outcome of a claimed delivery; `attempt` is missing if none was made. */
export type Recorded = {
  delivery: ClaimedDelivery;
  status: 'pending' | 'delivered' | 'failed' | 'cancelled';
  nextAttemptAt?: number;
  attempt?: Attempt;
};

/** What follows an attempt: the end, or another one at a time. */
export type Next =
  | { status: 'delivered' | 'failed' }
  | { status: 'pending'; nextAttemptAt: number };

const second = 1000;

/** How long a receiver may take to respond, up to the end of its headers. */
export const callTimeoutMs = 15 * second;

/** How long after the claim a call may start; what has not started by then is released. */
export const startWindowMs = 5_000;

/** How long an invocation may start calls, so that they end within 30 s of background work, or claim. */
export const callsForMs = 30_000 - callTimeoutMs - 2_000;
export const claimsForMs = callsForMs - 4_000;

/** How long a claim lasts: longer than the start window, a call (15 s) and recording it. */
export const leaseMs = 30_000;

/** The waits after the 1st, 2nd, … failed attempt of an event; then it has failed. */
export const schedule = [
  5 * second,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
] as const;

/** How often a receiver is called at least while an accident waits, for ten minutes. */
export const accidentRetryMs = 20 * second;
const accidentRetries = 32;

/** The waits of an accident: after a short outage it arrives within half a minute. */
const accidentSchedule = [
  5 * second,
  15 * second,
  ...Array.from({ length: accidentRetries }, () => accidentRetryMs),
  ...schedule.slice(2),
];

export const scheduleOf = (type: number): readonly number[] =>
  type === ACCIDENT ? accidentSchedule : schedule;

export const maxAttemptsOf = (type: number): number => scheduleOf(type).length + 1;

/** A wait in words: `5 s`, `30 min`, `2 h`. */
const inWords = (ms: number): string =>
  ms < minuteMs ? `${ms / second} s` : ms < hourMs ? `${ms / minuteMs} min` : `${ms / hourMs} h`;

/** The facts about retries for guides, pages and the API's document. */
export const retries = {
  timeoutSeconds: callTimeoutMs / second,
  waits: schedule.map(inWords),
  /** `5 s, 5 min and 2 h` */
  waitsAsText: schedule
    .map(inWords)
    .join(', ')
    .replace(/, ([^,]*)$/, ' and $1'),
  maxAttempts: schedule.length + 1,
  /** `5 s, 15 s, then every 20 s for ten minutes` */
  accidentWaits:
    `${accidentSchedule.slice(0, 2).map(inWords).join(', ')}, ` +
    `then every ${inWords(accidentRetryMs)} for ten minutes`,
  maxAccidentAttempts: accidentSchedule.length + 1,
  /** Hours between the first attempt and the last. */
  hours: Math.round(schedule.reduce<number>((sum, wait) => sum + wait, 0) / hourMs),
};

/** The longest delay of a queue message. */
export const longestTimerMs = 12 * hourMs;

/** A circuit opens after this many failures in a row: briefly, then twice as long each time. */
export const circuitAfter = 5;
export const circuitFirstMs = 30 * second;
export const circuitLongestMs = 15 * minuteMs;
/** While an accident waits it opens for `accidentRetryMs` only, so many times: some 15 minutes. */
export const circuitAccidentOpenings = 40;

/** When a receiver works again, retries due within this time are made at once; all after an open circuit. */
export const retrySoonMs = 6 * minuteMs;
export const accidentPauseMs = 5 * second;
export const maxRetriedAtOnce = 500;

/** The calls in flight at first, and at most: doubled while responses are in time, halved at overload. */
export const firstWindow = 5;
export const widestWindow = 50;
export const maxCallsPerSecond = 1000;
export const inTimeMs = 5 * second;

export const levelWaitMs = minuteMs;

/** Accidents should be attempted within this time of their receipt. */
export const promptMs = 5 * second;

/** A delivery's priority: accidents first, then events of risk 5, of risk 4, and the rest. */
export const priorityOf = (type: NotificationType, eventRisk: number): number =>
  type === ACCIDENT ? 0 : eventRisk === 5 ? 1 : eventRisk === 4 ? 2 : 3;

export const giveUpAfterMs = 5 * 24 * hourMs;

/** What follows an attempt, which `attempts` includes. `random`, from 0 to 1, spreads waits by ±20 %. */
export function nextAfter(
  outcome: Outcome,
  { type, attempts }: { type: number; attempts: number },
  now: number,
  random: number,
): Next {
  if (outcome.result === 'success') return { status: 'delivered' };
  if (outcome.result === 'status' && outcome.status === 410) return { status: 'failed' };
  const wait = scheduleOf(type)[attempts - 1];
  if (wait === undefined) return { status: 'failed' };
  const spread = wait * (0.8 + 0.4 * random);
  const asked =
    outcome.result === 'status' && isBusy(outcome.status) ? (outcome.retryAfter ?? 0) : 0;
  return {
    status: 'pending',
    nextAttemptAt: now + Math.round(Math.max(spread, Math.min(asked, 2 * wait))),
  };
}

/** Whether a status asks to be called later. */
export const isBusy = (status: number): boolean => status === 429 || status === 503;
