import { Refusal } from '../errors.ts';
import { addressGroup } from './address-group.ts';
import type { Context } from './context.ts';
import { type Limiter, rateLimits } from './rate-limits.ts';

/** Counts one more call of `key`. @throws Refusal: rate limited */
export async function limit(env: Env, limiter: Limiter, key: string): Promise<void> {
  if (!(await withinLimit(env, limiter, key))) throw rateLimited(limiter);
}

/** Counts one more call from this client's address. @throws Refusal: rate limited */
export const limitByAddress = (c: Context, limiter: Limiter): Promise<void> =>
  limit(c.env, limiter, addressGroup(c.req.header('cf-connecting-ip') ?? 'unknown'));

/** Whether `key` is within a limit. True when the limiter itself fails: it must not take the service down. */
export const withinLimit = (env: Env, limiter: Limiter, key: string): Promise<boolean> =>
  env[limiter].limit({ key }).then(
    ({ success }) => success,
    () => true,
  );

/** The refusal of a caller who is over a limit; `retryAfter` is the rest of the current period. */
export function rateLimited(limiter: Limiter): Refusal {
  const { seconds } = rateLimits[limiter];
  const elapsed = (Date.now() / 1000) % seconds;
  return new Refusal({ kind: 'rate limited', retryAfter: Math.ceil(seconds - elapsed) });
}
