import { Refusal } from '../errors.ts';
import { slotsPerAccount } from '../fair-queue.ts';

/** How many large transactions of an account may wait for their turn, and for how long. */
export const maxWaiting = 10;
const patienceMs = 10_000;

/** For how long an account counts as active after a request. */
const activeMs = 1_000;

/** The longest rest after a transaction; the largest takes D1 some 100 ms. */
const longestRestMs = 500;

/** The last two accounts that asked for something in this isolate, and when. */
let latest = { accountId: '', at: 0 };
let before = latest;

/** Notes that an account is active now. */
export function noteActivity(accountId: string): void {
  if (latest.accountId !== accountId) before = latest;
  latest = { accountId, at: Date.now() };
}

/**
 * Runs a transaction of an account that holds D1 for so long that others would notice. In an isolate, an account runs
 * one of these at a time, and while other accounts are active each is followed by a rest as long as itself: half of
 * D1's time is left to the others. Returns 'busy', without having run it, if none became free within ten seconds.
 */
export async function inTurn<T>(accountId: string, work: () => Promise<T>): Promise<{ result: T } | 'busy'> {
  return (await turns.run(accountId, patienceMs, async () => ({ result: await work() }))) ?? 'busy';
}

/** The same for a request. @throws Refusal: rate limited, when too many wait or this one has waited for too long */
export async function inTurnOrRefuse<T>(accountId: string, work: () => Promise<T>): Promise<T> {
  const done = turns.waiting(accountId) < maxWaiting ? await inTurn(accountId, work) : 'busy';
  if (done === 'busy') throw new Refusal({ kind: 'rate limited', retryAfter: 1 });
  return done.result;
}

/** How long an account rests after a transaction that took D1 so many milliseconds; 0 while it is alone. */
export const restFor = (accountId: string, ms: number): number =>
  othersAreActive(accountId) ? Math.min(ms, longestRestMs) : 0;

const turns = slotsPerAccount(1, 20, restFor);

/** Whether another account has asked for something in this isolate within the last second. */
export const othersAreActive = (accountId: string): boolean =>
  [latest, before].some((other) => other.accountId !== accountId && other.at > Date.now() - activeMs);
