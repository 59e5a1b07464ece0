import type { Json } from '../connector.ts';
import { at, iso, itemsAt, msOf, place } from '../read.ts';
import { beganAt, isCollision, reference } from './records.ts';
import { type Api, GeotabError, rpcAll } from './rpc.ts';

/** An exception to find the place of; `wide` if an imprecise one will do. */
export type Ask = { item: unknown; wide: boolean };

/** The place of each exception, or null, and the devices by id. */
export type Found = { places: Json[]; devices: Map<string, unknown> };

/** How far from an exception's beginning positions are looked for, at first and otherwise. */
const narrowMs = 60_000;
const wideMs = 10 * 60_000;

/** Enough for one position a second in the narrow window; the wide one is for vehicles that report rarely. */
const maxPositions = 300;

/** How many devices are requested, those of collisions first: an accident needs its vehicle's VIN. */
const maxDevices = 50;

/**
 * Looks up where vehicles were when exceptions began, and their devices. If Geotab refuses, nothing is found.
 *
 * @throws Problem
 */
export async function lookUp(api: Api, asks: Ask[]): Promise<Found> {
  const devices = devicesOf(asks);
  const near = await getAll(api, [
    ...asks.map(({ item }) => positionsOf(item, narrowMs)),
    ...devices.map((id) => ({ typeName: 'Device', search: { id }, resultsLimit: 1 })),
  ]);
  const places = asks.map(({ item }, i) => nearest(item, near[i], narrowMs));
  const left = asks.flatMap(({ wide }, i) => (wide && places[i] === null ? [i] : []));
  const wider = await getAll(
    api,
    left.map((i) => positionsOf(asks[i]?.item, wideMs)),
  );
  for (const [n, i] of left.entries()) places[i] = nearest(asks[i]?.item, wider[n], wideMs);
  const found = devices.map((id, i): [string, unknown] => [id, at(near[asks.length + i], 0)]);
  return { places, devices: new Map(found.filter(([, device]) => device !== undefined)) };
}

/** What these calls of `Get` find; nothing if Geotab refuses them. */
async function getAll(api: Api, wanted: object[]): Promise<unknown[]> {
  try {
    return await rpcAll(
      api,
      wanted.map((params) => ({ method: 'Get', params })),
    );
  } catch (error) {
    if (error instanceof GeotabError && error.kind === 'unexpected') return [];
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

function devicesOf(asks: Ask[]): string[] {
  const items = asks.map(({ item }) => item);
  const sorted = [...items.filter(isCollision), ...items];
  const ids = sorted.map((item) => reference(item, 'device')).filter((id) => typeof id === 'string');
  return [...new Set(ids)].slice(0, maxDevices);
}

/** The position nearest in time to the beginning of the exception. */
function nearest(item: unknown, positions: unknown, spanMs: number): Json {
  let best: { place: Json; offMs: number } | undefined;
  for (const position of itemsAt({ positions }, 'positions')) {
    const [latitude, longitude] = [at(position, 'latitude'), at(position, 'longitude')];
    const offMs = Math.abs(msOf(at(position, 'dateTime')) - beganAt(item));
    const isPlace = typeof latitude === 'number' && typeof longitude === 'number' && offMs <= spanMs;
    const found = isPlace ? (place(latitude, longitude) as Json) : null;
    if (found !== null && (!best || offMs < best.offMs)) best = { place: found, offMs };
  }
  return best?.place ?? null;
}
