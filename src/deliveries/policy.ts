/** The outcome of one HTTP call of a delivery. `answer` is the first KiB of the reply as text. */
export type Outcome =
  | { result: 'success'; status: number; answer: string }
  | { result: 'status' | 'redirect'; status: number; answer: string; retryAfter?: number | undefined }
  | { result: 'timeout' | 'dns' | 'tls' | 'connection' | 'blocked address'; status?: number };

/** The state of a delivery after an attempt: done, given up, or due again at a time (milliseconds since 1970). */
export type Next = { status: 'delivered' } | { status: 'failed' } | { status: 'pending'; at: number };

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** The waits after the 1st, 2nd, … failed attempt (design 9); after the 10th a delivery has failed. */
export const schedule = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
] as const;

/** A circuit opens after this many failures in a row, for a first time that doubles up to the longest. */
export const circuitAfter = 5;
export const circuitFirstMs = 30 * second;
export const circuitLongestMs = 15 * minute;

/** When to give up a delivery that could not even be attempted: later than the whole schedule takes. */
export const giveUpAfterMs = 5 * 24 * hour;

/**
 * Decides what follows an attempt. `attempts` includes this one; `now` is in milliseconds since 1970; `random`, from 0
 * to 1, spreads the waits by ±20 %, so that receivers that fail together are not all called again at once.
 */
export function nextAfter(outcome: Outcome, attempts: number, now: number, random: number): Next {
  if (outcome.result === 'success') return { status: 'delivered' };
  if (outcome.result === 'status' && outcome.status === 410) return { status: 'failed' };
  const wait = schedule[attempts - 1];
  if (wait === undefined) return { status: 'failed' };
  const spread = wait * (0.8 + 0.4 * random);
  const asked = outcome.result === 'status' && isBusy(outcome.status) ? (outcome.retryAfter ?? 0) : 0;
  return { status: 'pending', at: now + Math.round(Math.max(spread, Math.min(asked, 2 * wait))) };
}

/** Parses a Retry-After header, in seconds or as a date, to milliseconds from `now`. */
export function parseRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * second;
  const at = /^[A-Za-z]{3},/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

const isBusy = (status: number): boolean => status === 429 || status === 503;
