import type { Attempt } from '../policy.ts';
import * as policy from '../policy.ts';

/** How a receiver is doing. Times are milliseconds since 1970. */
export type ReceiverState = {
  /** Attempts that failed in a row. After five, its circuit opens. */
  failures: number;
  /** How often in a row the circuit has opened. */
  openings: number;
  /** Until then nothing is sent; then one call is, the probe. */
  openUntil: number;
  /** The calls that it may have in flight while its circuit is closed. */
  window: number;
  /** When a message wakes its webhook for the next retry; null if none does. */
  timerAt: number | null;
  /** Since when its circuit has not been closed; null if it is. */
  pausedSince: number | null;
  lastFailure: Pick<Attempt, 'result' | 'status' | 'reason'> | null;
};

/** What calls have shown. */
export type Shown = {
  /** In the order in which they ended. */
  attempts: readonly Attempt[];
  /** The window in which they were claimed, and whether more was due than it held. */
  window: number;
  more: boolean;
  /** The widest that the window may be. */
  ceiling: number;
  accidentWaits: boolean;
};

/** The state of a receiver after calls: a success closes its circuit, five failures in a row open it. */
export function next(before: ReceiverState, shown: Shown, now: number): ReceiverState {
  const { attempts } = shown;
  if (attempts.length === 0) return before;
  const lastSuccess = attempts.findLastIndex(isSuccess);
  const inARow = attempts.length - 1 - lastSuccess;
  const failed = attempts.findLast((attempt) => !isSuccess(attempt));
  const works = lastSuccess >= 0 ? { ...before, failures: 0, openings: 0, openUntil: 0 } : before;
  const failures = works.failures + inARow;
  const after = {
    ...works,
    failures,
    pausedSince: failures >= policy.circuitAfter ? (before.pausedSince ?? now) : null,
    lastFailure: failed ? failureOf(failed) : before.lastFailure,
  };
  const opens = inARow > 0 && failures >= policy.circuitAfter && after.openUntil <= now;
  return opens
    ? opened(after, shown.accidentWaits, now)
    : { ...after, window: nextWindow(before, shown) };
}

/** Opens the circuit: briefly, then for twice as long each time, but not for long while an accident waits. */
function opened(state: ReceiverState, accidentWaits: boolean, now: number): ReceiverState {
  const { openings } = state;
  const doubled = policy.circuitFirstMs * 2 ** Math.min(openings, 10);
  const ms =
    accidentWaits && openings < policy.circuitAccidentOpenings
      ? policy.accidentRetryMs
      : Math.min(doubled, policy.circuitLongestMs);
  return { ...state, openings: openings + 1, openUntil: now + ms, window: 1 };
}

/** Halves the window at overload, and doubles it when more is due and all respond in time. */
function nextWindow(
  { window }: ReceiverState,
  { attempts, more, ceiling, ...seen }: Shown,
): number {
  // Workers that saw the same window change it once.
  if (attempts.some(isOverload)) return Math.min(window, Math.max(1, seen.window >> 1));
  const widens = more && window === seen.window && attempts.every(isInTime);
  return widens ? Math.min(2 * window, ceiling) : window;
}

const isSuccess = ({ result }: Attempt): boolean => result === 'success';
const isOverload = ({ result, status = 0 }: Attempt): boolean =>
  result === 'timeout' || status === 429 || status >= 500;
const isInTime = (attempt: Attempt): boolean =>
  isSuccess(attempt) && attempt.durationMs <= policy.inTimeMs;
const failureOf = ({ result, status, reason }: Attempt) => ({
  result,
  ...(status && { status }),
  ...(reason && { reason }),
});

/** Whether a receiver works again by its state after calls: whether it failed before, or its circuit was open. */
export const recoveredFrom = (
  before: ReceiverState,
  after: ReceiverState,
): 'failing' | 'open' | undefined => {
  if (before.failures === 0 || after.failures > 0) return undefined;
  return before.failures >= policy.circuitAfter ? 'open' : 'failing';
};

export const isOpen = ({ failures, openUntil }: ReceiverState, now: number): boolean =>
  failures >= policy.circuitAfter && openUntil > now;

/**
 * The state in which its webhook is woken for the next attempt, which is due at `dueAt` (null for
 * none) or when the circuit lets a call through: that is soon when a new accident waits.
 */
export function withTimer(
  before: ReceiverState,
  { dueAt, accidentWaits }: { dueAt: number | null; accidentWaits: boolean },
  now: number,
): ReceiverState {
  const probeAt = now + policy.accidentRetryMs;
  const probesSooner = accidentWaits && isOpen(before, now) && before.openUntil > probeAt;
  const after = probesSooner ? { ...before, openUntil: probeAt, openings: 0 } : before;
  const at = isOpen(after, now) ? after.openUntil : dueAt;
  if (at === null) return after;
  const timerAt = Math.min(at, now + policy.longestTimerMs);
  const isSet = after.timerAt !== null && after.timerAt > now && after.timerAt <= timerAt;
  return isSet ? after : { ...after, timerAt };
}

/** The part of a second's calls that may be made at once under a limit per second. */
export const burstSeconds = 0.25;

/** How many ms a receiver with a limit per second cannot be called yet. */
export function paceMs(
  { maxPerSecond, nextCallAt }: { maxPerSecond: number | null; nextCallAt: number },
  now: number,
): number {
  if (maxPerSecond === null) return 0;
  const burst = Math.max(1, maxPerSecond * burstSeconds);
  return Math.max(0, Math.ceil(nextCallAt - now - ((burst - 1) * 1000) / maxPerSecond));
}
