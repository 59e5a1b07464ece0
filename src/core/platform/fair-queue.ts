/**
 * Shares D1 between the accounts of an isolate: an account makes one transaction at a time, and more wait in its line.
 * While others are active, it pauses in between. Isolates know nothing of each other: D1 (a webhook's window) and
 * Cloudflare's rate limiter (calls by token) bound an account across all of them.
 */
export type Bounds = {
  /** How many may wait in line, and for how long. */
  maxWaiting: number;
  timeoutMs: number;
  /** About how long one takes, and so how often a waiting one checks. */
  stepMs: number;
  /** For how long nothing follows work that took `ms`. */
  pauseMs: (account: string, ms: number) => number;
};

/** Who works, and behind it who waits, in order of arrival: until when each keeps its place. */
type Line = Map<object, number>;

/** Work that takes longer was killed with its invocation. */
const longestMs = 5_000;

/** The longest time between two checks of the line, and how late one may be to keep its place. */
const longestLookMs = 250;
const lateLookMs = 200;

/** From how many accounts on those that only pause are dropped. */
const maxRemembered = 1000;

/** A queue for one kind of work, with a line for each account. */
export function fairQueue({ maxWaiting, timeoutMs, stepMs, pauseMs }: Bounds) {
  const lines = new Map<string, Line>();

  const lineOf = (account: string): Line => {
    const line = lines.get(account) ?? new Map();
    if (!lines.has(account) && lines.size >= maxRemembered)
      for (const [other, old] of lines) if (withoutGone(old).size === 0) lines.delete(other);
    lines.set(account, line);
    return withoutGone(line);
  };

  return {
    /** Runs `work` in turn, or returns undefined if it would be too late. */
    async run<T>(account: string, work: () => Promise<T>): Promise<{ result: T } | undefined> {
      const me = {};
      const until = Date.now() + timeoutMs;
      let pause = 0;
      try {
        // An invocation cannot resolve another's promise, so waiting ones poll.
        for (;;) {
          const line = lineOf(account);
          const before = line.has(me) ? [...line.keys()].indexOf(me) : line.size;
          if (before === 0) break;
          if (before > maxWaiting || Date.now() >= until) return undefined;
          const lookMs = Math.min(longestLookMs, stepMs * before);
          line.set(me, Date.now() + lookMs + lateLookMs);
          await scheduler.wait(lookMs);
        }
        const began = Date.now();
        lineOf(account).set(me, began + longestMs);
        const result = await work();
        pause = pauseMs(account, Date.now() - began);
        return { result };
      } finally {
        const line = lineOf(account); // another one by now, if this work was forgotten
        if (pause > 0) line.set(me, Date.now() + pause);
        else line.delete(me);
        if (line.size === 0) lines.delete(account);
      }
    },

    remembered: (): number => lines.size,
  };
}

function withoutGone(line: Line): Line {
  const now = Date.now();
  for (const [entry, until] of line) if (until <= now) line.delete(entry);
  return line;
}

/** How long after a request an account counts as active, the last two that were, and when. */
const activeMs = 1_000;
let latest = { account: '', at: 0 };
let before = latest;

export function markActive(account: string): void {
  if (latest.account !== account) before = latest;
  latest = { account, at: Date.now() };
}

/** Whether another account has made a request in this isolate within the last second. */
export const othersAreActive = (account: string): boolean =>
  [latest, before].some((other) => other.account !== account && other.at > Date.now() - activeMs);

/** While others are active, pauses for as long as the work took. */
export const halfTheTime =
  (longestPauseMs: number) =>
  (account: string, ms: number): number =>
    othersAreActive(account) ? Math.min(ms, longestPauseMs) : 0;

/** How many large transactions of an account may wait, and what follows each. */
export const maxLargeWaiting = 10;
export const pauseAfterLarge = halfTheTime(500);

/** An account runs one large transaction at a time. The largest takes D1 some 100 ms. */
export const largeTransactions = fairQueue({
  maxWaiting: maxLargeWaiting,
  timeoutMs: 8_000, // less than the time for a call
  stepMs: 20,
  pauseMs: pauseAfterLarge,
});

/** The transactions of an account's workers, one at a time while others are active. */
export const transactions = fairQueue({
  maxWaiting: 1_000,
  timeoutMs: 5_000,
  stepMs: 2,
  pauseMs: halfTheTime(20),
});
