import { minuteMs } from '../../platform/durations.ts';
import type { Json, ProviderRecord } from '../connector.ts';
import { field } from '../read.ts';
import {
  accidentRecords,
  briefly,
  confirmedAt,
  eventRecord,
  isCollision,
  isValid,
  ruleOf,
} from './events.ts';
import type { Found } from './places.ts';
import { reference, vehicleRecord, vinOf } from './records.ts';
import type { Api } from './rpc.ts';
import { type Rules, wordOf } from './rules.ts';

/**
 * An exception to report: since when we know it, its vehicle's VIN and its place as far as they are known, and when it is
 * looked at again if it was reported before. Times are milliseconds since 1970.
 */
export type Seen = { item: Json; word: string; since: number; vin: Json; location: Json; at?: number };

/** How many a connection keeps to look at again, and how long one may be: they are kept with its cursor. */
export const maxWaiting = 300;
const maxLength = 2_000;

/** How late positions may arrive. */
export const waitsMs = 60 * minuteMs;

/** After this an imprecise place is good enough: until then a late vehicle may still send a better one. */
export const preciseMs = 10 * minuteMs;

/** When to look again for something known since then: less and less often, the last time at the end. */
export function nextTry(since: number, now: number): number | undefined {
  if (now - since >= waitsMs) return undefined;
  return Math.min(now + Math.max(minuteMs, now - since), since + waitsMs);
}

/** Collisions first, then the newest. */
export const keptWaiting = (all: Seen[]): Seen[] =>
  all
    .filter((one) => JSON.stringify(one).length <= maxLength)
    .toSorted((a, b) => rank(b) - rank(a))
    .slice(0, maxWaiting);

const rank = ({ item, since }: Seen) => (isCollision(item) ? Number.MAX_SAFE_INTEGER : 0) + since;

export const idOf = (item: unknown): unknown => field(item, 'id');

/**
 * An exception that a page has, if it is taken: of those that are not valid only collisions are, which may have been
 * reported. `known` is what was kept of it.
 */
export function seenIn(
  api: Api,
  rules: Rules,
  item: unknown,
  { since, vin = null, location = null }: Pick<Seen, 'since'> & Partial<Seen>,
): Seen | undefined {
  const word = wordOf(api, rules, ruleOf(item));
  if (word === undefined || !(isValid(item) || isCollision(item))) return undefined;
  return { item: briefly(item) as Json, word, since, vin, location };
}

/** The records of exceptions with what was found of them, and those that are looked at again. */
export function recordsOf(seen: Seen[], found: Found, now: number) {
  const records: ProviderRecord[] = [];
  const waiting: Seen[] = [];
  for (const [i, { item, word, since, at, ...known }] of seen.entries()) {
    const location = found.places[i] ?? known.location;
    const vin = vinIn(found, item) ?? known.vin;
    const isNews = at === undefined || (known.location === null && location !== null);
    if (isValid(item) && isNews) records.push(eventRecord(item, word, location));
    const confirmed = confirmedAt(item, since);
    if (isCollision(item))
      records.push(...accidentRecords(item, { vin, location, confirmed: confirmed <= now }));
    const isLacking = isCollision(item) ? vin === null || location === null : location === null;
    const looks = [isLacking ? nextTry(since, now) : undefined, confirmed > now ? confirmed : undefined];
    const next = isValid(item)
      ? Math.min(...looks.filter((ms) => ms !== undefined))
      : Number.POSITIVE_INFINITY;
    if (Number.isFinite(next)) waiting.push({ item, word, since, vin, location, at: next });
  }
  const vehicles = [...found.devices.values()].map((device) => vehicleRecord(device, new Map()));
  return { records, vehicles, waiting };
}

function vinIn({ devices }: Found, item: unknown): Json {
  const device = devices.get(String(reference(item, 'device')));
  return device === undefined ? null : (vinOf(device) as Json);
}
