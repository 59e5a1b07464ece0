import { Refusal } from '../errors.ts';
import { type Limiter, rateLimits } from '../rate-limits.ts';
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
  if (isOver(nameOf(limiter, key))) throw rateLimited(limiter);
}

/** The client's address, or the network that it is counted with. */
export const addressOf = (c: Context): string => addressGroup(c.req.header('cf-connecting-ip') ?? 'unknown');

/**
 * What a client address counts as: an IPv4 address itself, however it is written, and an IPv6 address its /64, of which
 * one household has 2^64 addresses. Anything else counts as itself.
 */
export function addressGroup(address: string): string {
  const groups = ipv6Groups(address);
  if (!groups) return address;
  const [high = 0, low = 0] = groups.slice(6);
  const isMapped = groups.slice(0, 6).join() === '0,0,0,0,0,65535';
  if (isMapped) return [high >> 8, high & 255, low >> 8, low & 255].join('.'); // an IPv4 address
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

/** The eight numbers of an IPv6 address in the URL parser's shortest form; undefined for anything else. */
function ipv6Groups(address: string): number[] | undefined {
  const host = URL.parse(`http://[${address.replace(/%.*/, '')}]`)?.hostname;
  if (!host) return undefined;
  const [before = [], after = []] = host
    .slice(1, -1)
    .split('::')
    .map((part) => part.split(':').flatMap((group) => (group ? [Number.parseInt(group, 16)] : [])));
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after];
}

const nameOf = (limiter: Limiter, key: string): string => `${limiter} ${key}`;
const isOver = (name: string): boolean => (over.get(name) ?? 0) > Date.now();

/** The keys over a limit, by limiter and key, and until when they are refused without asking again. */
const over = new Map<string, number>();
const maxOver = 1000;
const overMs = 5_000;

/**
 * Whether `key` is within a limit. True when the limiter fails, which must not take the service down. The isolate
 * remembers refusals for some seconds, so that a flood costs little.
 */
export async function withinLimit(env: Env, limiter: Limiter, key: string): Promise<boolean> {
  const name = nameOf(limiter, key);
  if (isOver(name)) return false;
  const { success } = await env[limiter].limit({ key }).catch(() => ({ success: true }));
  if (success) return true;
  if (over.size >= maxOver) over.clear();
  over.set(name, Date.now() + Math.min(overMs, restOfPeriodMs(limiter)));
  return false;
}

/** The refusal of a caller over a limit; `retryAfter` is the rest of the current period. */
export const rateLimited = (limiter: Limiter): Refusal =>
  new Refusal({ kind: 'rate limited', retryAfter: Math.ceil(restOfPeriodMs(limiter) / 1000) });

function restOfPeriodMs(limiter: Limiter): number {
  const periodMs = rateLimits[limiter].seconds * 1000;
  return periodMs - (Date.now() % periodMs);
}
