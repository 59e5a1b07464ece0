import { hourMs } from './durations.ts';
import { type Limiter, rateLimits, tokenLimiters } from './rate-limits.ts';
import { remembered } from './remembered.ts';

/** The accounts whose limit is raised, as this isolate last read it with one of their requests. */
const raised = remembered<Limiter>();

/** Notes what a check in the database says of an account's requests a minute; null: as usual. */
export function noteRequestsPerMinute(accountId: string, requestsPerMinute: number | null): void {
  const limiter = limiterFor(requestsPerMinute);
  if (limiter !== tokenLimiterOf(accountId)) raised.set(accountId, limiter, hourMs);
}

/** The limiter of an account's API tokens and ingest keys: the usual one until a check has said otherwise. */
export const tokenLimiterOf = (accountId: string | undefined): Limiter =>
  (accountId !== undefined && raised.get(accountId)) || tokenLimiters[0];

const limiterFor = (requestsPerMinute: number | null): Limiter =>
  tokenLimiters.find((limiter) => rateLimits[limiter].calls === requestsPerMinute) ??
  tokenLimiters[0];
