import { minuteMs } from '../../../core/platform/durations.ts';
import { type Json, ProviderError } from '../connector/connector.ts';
import { at, field, iso, listAt, msOf, place } from '../connector/read.ts';
import { beganAt, collisionRules, isCollision, madeAt, reference, twinMs } from './records.ts';
import { type Api, rpcAll } from './rpc.ts';

/** After this an imprecise place is good enough. */
const preciseMs = 10 * minuteMs;

/** How far from an exception's beginning positions are looked for, at first and otherwise. */
const narrowMs = minuteMs;
const wideMs = 10 * minuteMs;

/** Enough for one position a second in the narrow window; the wide one is for vehicles that report rarely. */
const maxPositions = 300;

/** An exception to report, with its vehicle's VIN and place, and when it is looked at again. */
export type Seen = { item: Json; word: string; vin: unknown; location: unknown; at?: number };

const maxTwins = 20;

export const idOf = (item: unknown): unknown => field(item, 'id');

/** What is found of exceptions; `isLate` if it is to be looked up at the next pull, as nothing could be now. */
export type Found = {
  places: unknown[];
  devices: Map<unknown, unknown>;
  twins: Map<unknown, unknown[]>;
  isLate?: true;
};

/** Nothing, if Geotab does not work: events do not wait for their place. */
export function unlessWorking(error: unknown): Found {
  if (error instanceof ProviderError)
    return { places: [], devices: new Map(), twins: new Map(), isLate: true };
  throw error;
}

/**
 * Looks up vehicles' places when exceptions began, devices, and collisions' other exceptions. If
 * Geotab refuses, nothing is found.
 * @throws Problem
 */
export async function lookUp(api: Api, seen: Seen[], now: number): Promise<Found> {
  const items = seen.map(({ item }) => item);
  const ids = new Set(
    items.map((item) => reference(item, 'device')).filter((id) => typeof id === 'string'),
  );
  const crashes = items.filter(isCollision);
  const [near = [], found = [], beside = []] = await getAll(api, [
    items.map((item) => positionsOf(item, narrowMs)),
    [...ids].map((id) => ({ typeName: 'Device', search: { id }, resultsLimit: 1 })),
    crashes.flatMap(exceptionsBeside),
  ]);
  const places = items.map((item, i) => nearest(item, near[i], narrowMs));
  const remaining = items.filter(
    (item, i) => places[i] === null && now - madeAt(item) >= preciseMs,
  );
  const [wide = []] = await getAll(api, [remaining.map((item) => positionsOf(item, wideMs))]);
  for (const [i, item] of remaining.entries())
    places[items.indexOf(item)] = nearest(item, wide[i], wideMs);
  const devices = found.flatMap((list) => list.slice(0, 1));
  const { length } = collisionRules;
  const sameCrashes = crashes.map((item, i) => {
    const all = beside.slice(i * length, (i + 1) * length).flat();
    return [idOf(item), all.filter((other) => isTwin(item, other))] as const;
  });
  return {
    places,
    devices: new Map(devices.map((device) => [idOf(device), device])),
    twins: new Map(sameCrashes),
  };
}

/** What calls of `Get` find, by groups; nothing if Geotab refuses them. @throws Problem, if it does not reply */
async function getAll(api: Api, wanted: object[][]): Promise<unknown[][][]> {
  const calls = wanted.flat().map((params) => ({ method: 'Get', params }));
  try {
    const lists = (await rpcAll(api, calls)).map((list) => listAt(list));
    return wanted.map(({ length }) => lists.splice(0, length));
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'unexpected') return [];
    throw error;
  }
}

/** Asks for the positions of an exception's vehicle around its beginning: none, if these are unknown. */
function positionsOf(item: unknown, spanMs: number): object {
  const ms = beganAt(item) || 0;
  const dates = { fromDate: iso(ms - spanMs), toDate: iso(ms + spanMs) };
  const search = { deviceSearch: { id: String(reference(item, 'device')) }, ...dates };
  return { typeName: 'LogRecord', search, resultsLimit: maxPositions };
}

/** Asks for a vehicle's exceptions of collision rules, dismissed ones too. */
function exceptionsBeside(item: unknown): object[] {
  const ms = beganAt(item) || 0;
  const dates = { fromDate: iso(ms - twinMs), toDate: iso(ms + twinMs) };
  const deviceSearch = { id: String(reference(item, 'device')) };
  return collisionRules.map((id) => {
    const search = { deviceSearch, ruleSearch: { id }, ...dates };
    const dismissedToo = { includeInvalidated: true, includeDismissedEvents: true };
    return {
      typeName: 'ExceptionEvent',
      search: { ...search, ...dismissedToo },
      resultsLimit: maxTwins,
    };
  });
}

/** Whether another exception is of the same collision. */
const isTwin = (item: unknown, other: unknown): boolean =>
  idOf(other) !== idOf(item) && Math.abs(beganAt(other) - beganAt(item)) <= twinMs;

/** The place of the position nearest in time to the beginning of the exception, or null. */
function nearest(item: unknown, positions: unknown[] = [], spanMs: number): unknown {
  const found = positions.flatMap((position) => {
    const [latitude, longitude] = [at(position, 'latitude'), at(position, 'longitude')];
    const offMs = Math.abs(msOf(at(position, 'dateTime')) - beganAt(item));
    const isPlace =
      typeof latitude === 'number' && typeof longitude === 'number' && offMs <= spanMs;
    const location = isPlace ? place(latitude, longitude) : null;
    return location === null ? [] : [{ location, offMs }];
  });
  return found.toSorted((a, b) => a.offMs - b.offMs)[0]?.location ?? null;
}
