/**
 * Shares an isolate's work between accounts: each may do so much at a time, and all together; more waits in a line of
 * its account. While others are active, an account does less and pauses in between. Isolates know nothing of each
 * other: D1 (a webhook's window) and Cloudflare's rate limiter (calls by token) bound an account across all of them.
 */
export type Bounds = {
  /** Of one account. */
  atOnce: number | ((account: string) => number);
  /** Of all accounts together; without limit by default. */
  inAll?: number;
  /** How many may wait in line (without limit by default), and for how long. */
  maxWaiting?: number;
  timeoutMs: number;
  /** About how long one takes, and so how often a waiting one checks. */
  stepMs: number;
  /** For how long the place of work that took `ms` stays empty. */
  pauseMs?: (account: string, ms: number) => number;
  /** Work that takes longer was killed with its invocation: its place is free. */
  longestMs?: number;
};

/** Who works, and behind them who waits, in order of arrival: until when each keeps its place. */
type Line = Map<object, number>;

/** The longest time between two checks of the line, and how late one may be to keep its place. */
const longestLookMs = 250;
const lateLookMs = 200;

/** From how many accounts on those that only pause are dropped. */
const maxRemembered = 1000;

/** A queue for one kind of work, with a line for each account, or for whatever else `account` identifies. */
export function fairQueue({
  atOnce,
  inAll = Number.POSITIVE_INFINITY,
  maxWaiting = Number.POSITIVE_INFINITY,
  timeoutMs,
  stepMs,
  pauseMs = () => 0,
  longestMs = 5_000,
}: Bounds) {
  const lines = new Map<string, Line>();
  /** Who works, of all accounts: until when each keeps its place. */
  const working: Line = new Map();
  const placesOf = (account: string) => (typeof atOnce === 'number' ? atOnce : atOnce(account));

  const lineOf = (account: string): Line => {
    const known = lines.get(account);
    if (known) return known;
    if (lines.size >= maxRemembered)
      for (const [other, line] of lines) {
        dropGone(line);
        if (line.size === 0) lines.delete(other);
      }
    const line: Line = new Map();
    lines.set(account, line);
    return line;
  };

  /** Starts `me` if it is its turn: 0; otherwise its place in line, from 1. */
  const placeOf = (account: string, me: object): number => {
    const line = lineOf(account);
    dropGone(line);
    const known = [...line.keys()].indexOf(me);
    // Those in front may not have checked yet: enough places stay free for them.
    const place = 1 + (known < 0 ? line.size : known) - placesOf(account);
    if (place > 0) return place;
    dropGone(working);
    if (working.size >= inAll) return 1;
    working.set(me, Date.now() + longestMs);
    line.set(me, Date.now() + longestMs);
    return 0;
  };

  return {
    /** Runs `work` in turn, or returns undefined if it would be too late. */
    async run<T>(
      account: string,
      work: () => Promise<T>,
      latest = Number.POSITIVE_INFINITY,
    ): Promise<{ result: T } | undefined> {
      const me = {};
      const until = Math.min(Date.now() + timeoutMs, latest);
      let pause = 0;
      try {
        // An invocation cannot resolve another's promise, so waiting ones poll.
        for (let place = placeOf(account, me); place > 0; place = placeOf(account, me)) {
          if (place > maxWaiting || Date.now() >= until) return undefined;
          const lookMs = Math.min(longestLookMs, stepMs * place);
          lineOf(account).set(me, Date.now() + lookMs + lateLookMs);
          await scheduler.wait(lookMs);
        }
        const began = Date.now();
        const result = await work();
        pause = pauseMs(account, Date.now() - began);
        return { result };
      } finally {
        working.delete(me);
        const line = lineOf(account); // another one by now, if this work was forgotten
        if (pause > 0) line.set(me, Date.now() + pause);
        else line.delete(me);
        if (line.size === 0) lines.delete(account);
      }
    },

    waiting: (account: string): number => Math.max(0, (lines.get(account)?.size ?? 0) - placesOf(account)),

    remembered: (): number => lines.size,
  };
}

function dropGone(line: Line): void {
  const now = Date.now();
  for (const [entry, until] of line) if (until <= now) line.delete(entry);
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
  atOnce: 1,
  maxWaiting: maxLargeWaiting,
  timeoutMs: 10_000,
  stepMs: 20,
  pauseMs: pauseAfterLarge,
});
