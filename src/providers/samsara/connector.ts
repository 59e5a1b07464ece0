import { call } from '../call.ts';
import type { Access, Connector, Feed, Json, Page } from '../connector.ts';
import { Problem } from '../problem.ts';
import { at, field, listAt } from '../read.ts';
import { fromBase64, fromHex, isHmac, isRecent } from '../signature.ts';
import {
  driverRecord,
  eventRecords,
  isWorthTelling,
  tripRecord,
  vehicleOfEvent,
  vehicleRecord,
} from './events.ts';

type Api = Access;

/** Samsara gives 512 vehicles or drivers a page; so many stay far below what a reply may be. */
const perPage = 200;

/** `/trips/stream` takes so many vehicles at once. */
const vehiclesPerCall = 50;

/** Changes are asked for from a little before the last pass began: clocks differ, and writes take their time there. */
const overlapMs = 5 * 60_000;
const tripOverlapMs = 10 * 60_000;
const dayMs = 86_400_000;

type Query = { [name: string]: string | number | boolean | undefined };

async function get(api: Api, path: string, query: Query): Promise<unknown> {
  const headers = { Authorization: `Bearer ${api.credential}` };
  return (await call({ url: `${api.baseUrl}${path}`, headers, query })).json;
}

/** A page of one of Samsara's lists, and the cursor of the next one; null after the last. */
async function page(api: Api, path: string, query: Query, after: Json) {
  const reply = await get(api, path, { ...query, after: typeof after === 'string' ? after : undefined });
  const items = listAt(reply, 'data');
  const cursor = field(reply, 'pagination', 'endCursor');
  const more = at(reply, 'pagination', 'hasNextPage') === true;
  if (more && typeof cursor !== 'string')
    throw new Problem('unexpected', 'says that there is another page, and not where');
  return { items, cursor: typeof cursor === 'string' ? cursor : null, more };
}

const iso = (ms: number): string => new Date(ms).toISOString();

/**
 * Where a pass of vehicles or drivers stands: the part it is at, the cursor in it, when it began, and from when it asks;
 * and when a pass last asked for everything.
 */
type Pass = { part: number; after: Json; beganAt: number; from: number | null; wholeAt: number };

/** A pass asks for what has changed since the one before; once a day for everything, in case a change was missed. */
function beginPass(before: Pass | null): Pass {
  const now = Date.now();
  const isWhole = !before || now - before.wholeAt > dayMs;
  return isWhole
    ? { part: 0, after: null, beganAt: now, from: null, wholeAt: now }
    : { part: 0, after: null, beganAt: now, from: before.beganAt - overlapMs, wholeAt: before.wholeAt };
}

/** A feed that goes through lists, one after the other, pass after pass. */
const passes = (
  parts: { path: string; query: Query }[],
  record: (item: unknown) => Page['records'][number],
): Feed<Api> => ({
  everyMinutes: 15,
  async changes(api, cursor) {
    const before = cursor as Pass | null;
    const pass = before && before.part < parts.length ? before : beginPass(before);
    const { path, query } = parts[pass.part] ?? { path: '', query: {} };
    const updatedAfterTime = pass.from === null ? undefined : iso(pass.from);
    const found = await page(api, path, { limit: perPage, updatedAfterTime, ...query }, pass.after);
    const next = found.more
      ? { ...pass, after: found.cursor }
      : { ...pass, part: pass.part + 1, after: null }; // the pass is over after its last part
    return { records: found.items.map(record), cursor: next, more: next.part < parts.length };
  },
});

/** Where the stream of safety events stands: Samsara's cursor, which goes on working, or else from when to ask. */
type Place = { after: Json; newest: number };

const eventQuery = { includeAsset: true, includeDriver: true, includeVgOnlyEvents: true };

const eventPage = (items: unknown[]): Pick<Page, 'records' | 'vehicles'> => ({
  records: items.filter(isWorthTelling).flatMap(eventRecords),
  vehicles: items.map(vehicleOfEvent),
});

const events: Feed<Api> = {
  everyMinutes: 1,
  async changes(api, cursor, since) {
    const place = (cursor as Place | null) ?? { after: null, newest: since };
    const startTime = iso(place.newest - overlapMs);
    const found = await page(api, '/safety-events/stream', { ...eventQuery, startTime }, place.after);
    const times = found.items.map((item) => Date.parse(String(at(item, 'updatedAtTime'))));
    // A time in the future would have all that comes before it left out.
    const newest = Math.max(place.newest, ...times.filter((ms) => ms <= Date.now()));
    // The parameters of a cursor must stay as they were: the time only moves when there is no cursor.
    const next =
      found.cursor === null ? { after: null, newest } : { after: found.cursor, newest: place.newest };
    return { ...eventPage(found.items), cursor: next, more: found.more };
  },
  history: {
    windowDays: 7,
    async page(api, { from, to }, cursor) {
      const query = {
        ...eventQuery,
        startTime: iso(from),
        endTime: iso(to),
        queryByTimeField: 'createdAtTime',
      };
      const found = await page(api, '/safety-events/stream', query, cursor);
      return { ...eventPage(found.items), cursor: found.cursor, more: found.more };
    },
  },
};

/** Where a pass of trips stands: the vehicles that are left, the cursor in the first fifty, and from when it asks. */
type TripPass = { vehicles: Json; ids: string[]; after: Json; beganAt: number; from: number };

/** The ids of a page of vehicles: `/trips/stream` returns those of the vehicles that it is asked for. */
async function vehicleIds(api: Api, after: Json) {
  const found = await page(api, '/fleet/vehicles', { limit: perPage }, after);
  const ids = found.items.map((item) => at(item, 'id')).filter((id) => typeof id === 'string');
  return { ids, next: found.more ? found.cursor : null };
}

async function tripPage(api: Api, pass: TripPass, query: Query) {
  const ids = pass.ids.slice(0, vehiclesPerCall);
  if (ids.length === 0) return { records: [], vehicles: [], next: undefined };
  const found = await page(
    api,
    '/trips/stream',
    { ids: ids.join(','), includeAsset: true, ...query },
    pass.after,
  );
  const rest = found.more ? pass.ids : pass.ids.slice(vehiclesPerCall);
  const after = found.more ? found.cursor : null;
  if (rest.length > 0) return { ...tripsOf(found.items), next: { ...pass, ids: rest, after } };
  if (pass.vehicles === null) return { ...tripsOf(found.items), next: undefined };
  const more = await vehicleIds(api, pass.vehicles);
  return { ...tripsOf(found.items), next: { ...pass, ids: more.ids, vehicles: more.next, after: null } };
}

const tripsOf = (items: unknown[]) => ({
  records: items.map(tripRecord),
  vehicles: items.map(vehicleOfEvent),
});

const trips: Feed<Api> = {
  everyMinutes: 5,
  async changes(api, cursor, since) {
    const known = cursor as TripPass | { from: number } | null;
    const pass =
      known && 'ids' in known ? known : await beginTrips(api, known?.from ?? since - tripOverlapMs);
    const { next, ...found } = await tripPage(api, pass, { startTime: iso(pass.from) });
    const after = next ?? { from: pass.beganAt - tripOverlapMs };
    return { ...found, cursor: after, more: next !== undefined };
  },
  history: {
    windowDays: 30,
    async page(api, { from, to }, cursor) {
      const pass = (cursor as TripPass | null) ?? (await beginTrips(api, from));
      const query = { startTime: iso(from), endTime: iso(to), queryBy: 'tripStartTime' };
      const { next, ...found } = await tripPage(api, pass, query);
      return { ...found, cursor: next ?? null, more: next !== undefined };
    },
  },
};

async function beginTrips(api: Api, from: number): Promise<TripPass> {
  const beganAt = Date.now();
  const { ids, next } = await vehicleIds(api, null);
  return { ids, vehicles: next, after: null, beganAt, from };
}

/** Samsara. What is known of its API, and how sure that is, is said where it matters. */
export const samsara: Connector<Api> = {
  provider: 'samsara',
  name: 'Samsara',
  baseUrl: 'https://api.samsara.com',
  regions: { eu: 'https://api.eu.samsara.com', ca: 'https://api.ca.samsara.com' },
  credential: {
    label: 'API token',
    where: 'In Samsara: Settings → API Tokens → Add an API Token',
    scopes: [
      'Read Vehicles',
      'Read Drivers',
      'Read Trips',
      'Read Safety Events & Scores',
      'Read Org Information',
    ],
    example: 'samsara_api_…',
  },
  maxHistoryDays: 365,
  readCredential(text) {
    const token = text.trim();
    if (!/^[\x21-\x7e]{8,500}$/.test(token))
      throw new Problem('invalid', 'The token must be one word of 8 to 500 characters, as Samsara shows it.');
    return { credential: token, identity: token };
  },
  open: (access) => access,
  async check(api) {
    const name = at(await get(api, '/me', {}), 'data', 'name');
    return typeof name === 'string' ? name : 'Samsara';
  },
  feeds: {
    vehicles: passes([{ path: '/fleet/vehicles', query: {} }], vehicleRecord),
    // Without the status only active drivers come.
    drivers: passes(
      ['active', 'deactivated'].map((driverActivationStatus) => ({
        path: '/fleet/drivers',
        query: { driverActivationStatus },
      })),
      driverRecord,
    ),
    trips,
    events,
  },
  webhook: {
    steps: [
      'In Samsara, open Settings → Webhooks and add a webhook with this URL.',
      'Choose the event types AlertIncident, SevereSpeedingStarted and SpeedingEventStarted.',
      'Copy its secret key from there to here.',
      'Add an alert for safety events that notifies this webhook.',
    ],
    isSigned,
  },
};

/** Whether Samsara signed a call: `v1:<seconds>:<body>`, with the secret's bytes, which it shows as base64. */
async function isSigned(headers: Headers, body: Uint8Array<ArrayBuffer>, secret: string): Promise<boolean> {
  const timestamp = headers.get('x-samsara-timestamp') ?? '';
  const [version, hex = ''] = (headers.get('x-samsara-signature') ?? '').split('=');
  if (version !== 'v1' || !isRecent(Number(timestamp) * 1000)) return false;
  return isHmac('SHA-256', fromBase64(secret), [`v1:${timestamp}:`, body], fromHex(hex));
}
