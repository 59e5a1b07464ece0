import type { Json } from '../connector.ts';
import { at, iso, place } from '../read.ts';
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
  const narrow = asks.map(({ item }) => positionsCall(item, narrowMs));
  const results = await ask(api, [...narrow, ...devices.map(deviceCall)]);
  const places = asks.map(({ item }, i) => nearest(item, results[i], narrowMs));
  const left = asks.flatMap(({ wide }, i) => (wide && places[i] === null ? [i] : []));
  const wider = await ask(
    api,
    left.map((i) => positionsCall(asks[i]?.item, wideMs)),
  );
  for (const [n, i] of left.entries()) places[i] = nearest(asks[i]?.item, wider[n], wideMs);
  const found = devices.map((id, i): [string, unknown] => [id, at(results[asks.length + i], 0)]);
  return { places, devices: new Map(found.filter(([, device]) => device !== undefined)) };
}

type Call = { method: string; params: object } | undefined;

/** The results of these calls; undefined for calls that cannot be made, and for all if Geotab refuses them. */
async function ask(api: Api, calls: Call[]): Promise<unknown[]> {
  const made = calls.flatMap((call) => call ?? []);
  let results: unknown[] = [];
  try {
    results = await rpcAll(api, made);
  } catch (error) {
    if (!(error instanceof GeotabError) || error.kind !== 'unexpected') throw error;
  }
  let n = 0;
  return calls.map((call) => call && results[n++]);
}

function positionsCall(item: unknown, spanMs: number): Call {
  const [device, ms] = [reference(item, 'device'), beganAt(item)];
  if (typeof device !== 'string' || !Number.isFinite(ms)) return undefined;
  const search = {
    deviceSearch: { id: device },
    fromDate: iso(ms - spanMs),
    toDate: iso(ms + spanMs),
  };
  return { method: 'Get', params: { typeName: 'LogRecord', search, resultsLimit: maxPositions } };
}

const deviceCall = (id: string): Call => ({
  method: 'Get',
  params: { typeName: 'Device', search: { id }, resultsLimit: 1 },
});

function devicesOf(asks: Ask[]): string[] {
  const items = asks.map(({ item }) => item);
  const sorted = [...items.filter(isCollision), ...items];
  const ids = sorted.map((item) => reference(item, 'device')).filter((id) => typeof id === 'string');
  return [...new Set(ids)].slice(0, maxDevices);
}

/** The position nearest in time to the beginning of the exception. */
function nearest(item: unknown, positions: unknown, spanMs: number): Json {
  if (!Array.isArray(positions)) return null;
  let best: { place: Json; offMs: number } | undefined;
  for (const position of positions) {
    const offMs = Math.abs(Date.parse(String(at(position, 'dateTime'))) - beganAt(item));
    const there = placeIn(position);
    if (there === null || !(offMs <= spanMs)) continue;
    if (!best || offMs < best.offMs) best = { place: there, offMs };
  }
  return best?.place ?? null;
}

function placeIn(position: unknown): Json {
  const [latitude, longitude] = [at(position, 'latitude'), at(position, 'longitude')];
  const isPlace = typeof latitude === 'number' && typeof longitude === 'number';
  return isPlace ? (place(latitude, longitude) as Json) : null;
}
