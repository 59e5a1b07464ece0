import type { Json } from '../connector.ts';
import { confirmedAt, isCollision, isValid } from './events.ts';

/** An exception that waits for a position: since when we know it, and when its place is looked for next. */
export type Waiting = { item: Json; word: string; since: number; at: number };

/** A collision that is told of, and at what time it is taken for confirmed. */
export type OpenCrash = { item: Json; vin: Json; location: Json; due: number };

/** How many of each a connection keeps, and how long one may be: they are kept with its cursor. */
export const maxWaiting = 200;
export const maxOpen = 300;
const maxLength = 2_000;

const minuteMs = 60_000;

/** Positions may come in so much later than what happened. */
export const waitsMs = 60 * minuteMs;

/** An imprecise place is good enough after this: until then, a vehicle that is late may still send a better one. */
export const preciseMs = 10 * minuteMs;

/** When to look again for something that we have known since then: the longer, the less often, the last time at the end. */
export function nextTry(since: number, now: number): number | undefined {
  if (now - since >= waitsMs) return undefined;
  return Math.min(now + Math.max(minuteMs, now - since), since + waitsMs);
}

/** Those that are kept: collisions first, then the newest. */
export function keptWaiting(all: Waiting[]): Waiting[] {
  const rank = ({ item, since }: Waiting) => (isCollision(item) ? Number.MAX_SAFE_INTEGER : 0) + since;
  return all
    .filter(isShort)
    .toSorted((a, b) => rank(b) - rank(a))
    .slice(0, maxWaiting);
}

/** Those that are kept: the newest. */
export const keptOpen = (all: OpenCrash[]): OpenCrash[] =>
  all
    .filter(isShort)
    .toSorted((a, b) => b.due - a.due)
    .slice(0, maxOpen);

const isShort = (kept: object): boolean => JSON.stringify(kept).length <= maxLength;

/** Whether something is still missing that an exception is told with. */
export const lacks = (item: unknown, { vin, location }: { vin: unknown; location: unknown }): boolean =>
  isCollision(item) ? vin === null || location === null : isValid(item) && location === null;

/** A collision whose level 2 may still come, when it is known who and where; otherwise undefined. */
export function openCrash(
  item: Json,
  { vin, location }: { vin: Json; location: Json },
): OpenCrash | undefined {
  const due = confirmedAt(item);
  const isKnown = vin !== null && location !== null;
  return due !== undefined && isKnown && isValid(item) ? { item, vin, location, due } : undefined;
}
