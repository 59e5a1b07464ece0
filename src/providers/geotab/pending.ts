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

/** An exception that waits for a position: since when we know it, and when its place is looked for next. */
export type Waiting = { item: Json; word: string; since: number; at: number };

/** A collision that was reported, and at what time it counts as confirmed. */
export type OpenCrash = { item: Json; vin: Json; location: Json; due: number };

/** How many of each a connection keeps, and how long one may be: they are kept with its cursor. */
export const maxWaiting = 200;
export const maxOpen = 300;
const maxLength = 2_000;

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
export const keptWaiting = (all: Waiting[]): Waiting[] =>
  kept(all, maxWaiting, ({ item, since }) => (isCollision(item) ? Number.MAX_SAFE_INTEGER : 0) + since);

/** Those that are kept: the newest. */
export const keptOpen = (all: OpenCrash[]): OpenCrash[] => kept(all, maxOpen, ({ due }) => due);

const kept = <T extends object>(all: T[], most: number, rank: (one: T) => number): T[] =>
  all
    .filter((one) => JSON.stringify(one).length <= maxLength)
    .toSorted((a, b) => rank(b) - rank(a))
    .slice(0, most);

/** Whether something is still missing that an exception is reported with. */
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

/** An exception to report. `since` is when we first knew it; `isNew` says that a page has it, and not our own memory. */
export type Seen = { item: Json; word: string; since: number; isNew: boolean };

/** The id of an exception. */
export const idOf = (item: unknown): unknown => field(item, 'id');

/** An exception that a page has, if it is taken: of those that are not valid only collisions are, which may have been reported. */
export function seenIn(api: Api, rules: Rules, item: unknown, since: number): Seen | undefined {
  const word = wordOf(api, rules, ruleOf(item));
  if (word === undefined || !(isValid(item) || isCollision(item))) return undefined;
  return { item: briefly(item) as Json, word, since, isNew: true };
}

/** The records of exceptions with what was found of them; those that lack something; and open collisions. */
export function recordsOf(seen: Seen[], found: Found, before: OpenCrash[]) {
  const open = new Map(before.map((crash) => [idOf(crash.item), crash]));
  const records: ProviderRecord[] = [];
  const lacking: Seen[] = [];
  for (const [i, one] of seen.entries()) {
    const { item, word, isNew } = one;
    const known = open.get(idOf(item));
    const location = found.places[i] ?? known?.location ?? null;
    const vin = vinIn(found, item) ?? known?.vin ?? null;
    if (isValid(item) && (isNew || location !== null)) records.push(eventRecord(item, word, location));
    if (isCollision(item)) records.push(...accidentRecords(item, { vin, location }));
    const crash = openCrash(item, { vin, location });
    if (crash) open.set(idOf(item), crash);
    else open.delete(idOf(item));
    if (lacks(item, { vin, location })) lacking.push(one);
  }
  const vehicles = [...found.devices.values()].map((device) => vehicleRecord(device, new Map()));
  return { records, vehicles, lacking, open: [...open.values()] };
}

function vinIn({ devices }: Found, item: unknown): Json {
  const device = devices.get(String(reference(item, 'device')));
  return device === undefined ? null : (vinOf(device) as Json);
}

/** The records of the open collisions that nobody has dismissed in time, and the collisions that are left. */
export function confirm(open: OpenCrash[], now: number): { confirmed: ProviderRecord[]; open: OpenCrash[] } {
  const isDue = ({ due }: OpenCrash) => due <= now;
  return {
    confirmed: open
      .filter(isDue)
      .flatMap(({ item, vin, location }) => accidentRecords(item, { vin, location, confirmed: true })),
    open: open.filter((crash) => !isDue(crash)),
  };
}
