import type { Json, ProviderRecord } from '../connector.ts';
import { field } from '../read.ts';
import { accidentRecords, briefly, eventRecord, isCollision, isValid, ruleOf } from './events.ts';
import { lacks, type OpenCrash, openCrash } from './pending.ts';
import type { Found } from './places.ts';
import { vehicleRecord, vinOf } from './records.ts';
import type { Api } from './rpc.ts';
import { type Rules, wordOf } from './rules.ts';
import { reference } from './values.ts';

/** An exception to tell of. `since` is when we first knew it; `isNew` says that a page has it, and not our own memory. */
export type Seen = { item: Json; word: string; since: number; isNew: boolean };

/** What tells one exception from another. */
export const idOf = (item: unknown): unknown => field(item, 'id');

/** An exception that a page has, if it is taken: of those that do not stand only collisions are, which may be told of. */
export function seenIn(api: Api, rules: Rules, item: unknown, since: number): Seen | undefined {
  const word = wordOf(api, rules, ruleOf(item));
  if (word === undefined || !(isValid(item) || isCollision(item))) return undefined;
  return { item: briefly(item) as Json, word, since, isNew: true };
}

/** The records of exceptions with what was found of them; those that something is lacking of; and open collisions. */
export function tell(seen: Seen[], found: Found, before: OpenCrash[]) {
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
