import { Refusal } from '../errors.ts';
import { type Limiter, rateLimits } from '../rate-limits.ts';
import { remembered } from '../remembered.ts';
import type { Context } from './context.ts';

/** Counts a call of `key`. @throws Refusal: rate limited */
export async function limit(env: Env, limiter: Limiter, key: string): Promise<void> {
  if (!(await withinLimit(env, limiter, key))) throw rateLimited(limiter);
}

/** Counts a call from this client's address. @throws Refusal: rate limited */
export const limitByAddress = (c: Context, limiter: Limiter): Promise<void> =>
  limit(c.env, limiter, addressOf(c));

/** Refuses a key that was just over a limit, without counting. @throws Refusal: rate limited */
export function refuseIfOver(limiter: Limiter, key: string): void {
  if (over.get(nameOf(limiter, key))) throw rateLimited(limiter);
}

/** The client's address, or the network that it is counted with. */
export const addressOf = (c: Context): string =>
  addressGroup(c.req.header('cf-connecting-ip') ?? 'unknown');

/** What an address counts as: IPv6 as its /64, which is one household's. */
export function addressGroup(address: string): string {
  if (!address.includes(':')) return address;
  const [before = [], after = []] = address
    .split('::')
    .map((part) => part.split(':').filter(Boolean));
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`;
}

const nameOf = (limiter: Limiter, key: string): string => `${limiter} ${key}`;

/** The keys over a limit, by limiter and key: refused without asking again. */
const over = remembered<true>();
const overMs = 5_000;

/** Whether `key` is within a limit; true when the limiter fails. Refusals are remembered for seconds. */
export async function withinLimit(env: Env, limiter: Limiter, key: string): Promise<boolean> {
  const name = nameOf(limiter, key);
  if (over.get(name)) return false;
  const { success } = await env[limiter].limit({ key }).catch(() => ({ success: true }));
  if (success) return true;
  over.set(name, true, Math.min(overMs, restOfPeriodMs(limiter)));
  return false;
}

/** The refusal of a caller over a limit; `retryAfter` is the rest of the current period. */
const rateLimited = (limiter: Limiter): Refusal =>
  new Refusal({ kind: 'rate limited', retryAfter: Math.ceil(restOfPeriodMs(limiter) / 1000) });

function restOfPeriodMs(limiter: Limiter): number {
  const periodMs = rateLimits[limiter].seconds * 1000;
  return periodMs - (Date.now() % periodMs);
}
