import { Refusal } from '../errors.ts';
import type { Context } from './context.ts';

/** The rate limit of a credential, as `wrangler.toml` sets it: calls in a number of seconds. */
export const tokenLimit = { calls: 600, seconds: 60 };

/** Counts one more unauthenticated request from this client's address. @throws Refusal: rate limited */
export async function limitUnknown(c: Context): Promise<void> {
  const address = c.req.header('cf-connecting-ip') ?? 'unknown';
  if (!(await withinLimit(c.env.UNKNOWN_LIMIT, address))) throw rateLimited();
}

/** Whether `key` is within its limit. True when the limiter itself fails: it must not take the service down. */
export const withinLimit = (limiter: RateLimit, key: string): Promise<boolean> =>
  limiter.limit({ key }).then(
    ({ success }) => success,
    () => true,
  );

/** The refusal of a caller who is over the limit; `retryAfter` is the rest of the current period. */
export function rateLimited(): Refusal {
  const elapsed = (Date.now() / 1000) % tokenLimit.seconds;
  return new Refusal({ kind: 'rate limited', retryAfter: Math.ceil(tokenLimit.seconds - elapsed) });
}
