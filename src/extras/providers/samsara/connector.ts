import { call } from '../connector/call.ts';
import {
  type Access,
  type Connector,
  type Feed,
  type Json,
  type Page,
  ProviderError,
} from '../connector/connector.ts';
import { followAll, type OpenCrash } from '../connector/crash.ts';
import { changedSince, inPasses, listFeed, type Pass } from '../connector/passes.ts';
import { wantedNames } from '../connector/pick.ts';
import { at, field, idFrom, iso, listAt, msOf } from '../connector/read.ts';
import { isHmac, isRecent } from '../connector/signature.ts';
import { assess, driverRecord, tripRecord, vehicleOfEvent, vehicleRecord } from './events.ts';

type Api = Access;

/** Samsara allows 512 vehicles or drivers a page; this many stay well below the largest response. */
const perPage = 200;

/** The limit of `/trips/stream`. */
const vehiclesPerCall = 50;

/** Passes overlap, because clocks differ and Samsara's writes take time. */
const overlapMs = 5 * 60_000;
const tripOverlapMs = 10 * 60_000;

type Query = { [name: string]: string | number | boolean | undefined };

async function get(api: Api, path: string, query: Query): Promise<unknown> {
  const headers = { Authorization: `Bearer ${api.credential}` };
  return (await call(api, { url: `${api.baseUrl}${path}`, headers, query })).json;
}

/** A page of one of Samsara's lists, and the next cursor; null after the last. */
async function page(api: Api, path: string, query: Query, after: Json) {
  const reply = await get(api, path, {
    ...query,
    after: typeof after === 'string' ? after : undefined,
  });
  const items = listAt(reply, 'data');
  const cursor = field(reply, 'pagination', 'endCursor');
  const more = at(reply, 'pagination', 'hasNextPage') === true;
  if (more && typeof cursor !== 'string')
    throw new ProviderError('unexpected', 'says that there is another page, and not where');
  const known = typeof cursor === 'string' ? cursor : null;
  return { items, cursor: known, more, next: more ? known : undefined };
}

/** A position in lists that are read one after the other in each pass. */
type ListPosition = { list: number; after: Json };

const changesOf = (path: string, queries: Query[]) => async (api: Api, pass: Pass) => {
  const { list, after } = (pass.position as ListPosition | null) ?? { list: 0, after: null };
  const query = { limit: perPage, updatedAfterTime: changedSince(pass), ...queries[list] };
  const { items, cursor, more } = await page(api, path, query, after);
  const next = more ? { list, after: cursor } : { list: list + 1, after: null };
  return { items, next: next.list < queries.length ? next : undefined };
};

/** Samsara's cursor, the newest time, and the crashes that may lose their label. */
type Progress = { after: Json; from: number; newest: number; open: OpenCrash[] };

const eventQuery = { includeAsset: true, includeDriver: true, includeVgOnlyEvents: true };

async function eventPage(api: Api, query: Query, after: Json, known: OpenCrash[]) {
  const read = (api: Api, query: Query, after: Json) =>
    page(api, '/safety-events/stream', { ...eventQuery, ...query }, after);
  const found = await read(api, query, after);
  const createdAt = async ({ issuedOn, startedAt }: OpenCrash, api: Api) => {
    const ms = msOf(issuedOn) || msOf(startedAt);
    const [startTime, endTime] = [iso(ms), iso(ms + 1000)];
    return (await read(api, { startTime, endTime, queryByTimeField: 'createdAtTime' }, null)).items;
  };
  const { items, records, open } = await followAll(api, found.items, known, assess, createdAt);
  return { ...found, read: { records, vehicles: items.map(vehicleOfEvent) }, open };
}

const events: Feed<Api> = {
  everyMinutes: 1,
  async changes(api, cursor, since) {
    const position = (cursor as Progress | null) ?? {
      after: null,
      from: since,
      newest: since,
      open: [],
    };
    const query = { startTime: iso(position.from - overlapMs) };
    const {
      items,
      cursor: after,
      more,
      read,
      open,
    } = await eventPage(api, query, position.after, position.open);
    const times = items.map((item) => msOf(at(item, 'updatedAtTime')));
    // A time in the future would skip everything before it.
    const newest = Math.max(position.newest, ...times.filter((ms) => ms <= Date.now()));
    // A cursor's parameters must not change: the time only advances without a cursor.
    const from = after === null ? newest : position.from;
    return { ...read, cursor: { after, from, newest, open }, more };
  },
  restart(cursor) {
    const { newest, open } = cursor as Progress; // as `changes` has written it
    return { after: null, from: newest, newest, open };
  },
  history: {
    windowDays: 7,
    isExact: true,
    async page(api, { from, to }, after) {
      const query = { startTime: iso(from), endTime: iso(to), queryByTimeField: 'createdAtTime' };
      const { read, next } = await eventPage(api, query, after, []);
      return { ...read, next };
    },
  },
};

/** A position in trips: some vehicles, their cursor, and that of further vehicles. */
type TripPlace = { ids: string; after: Json; vehicles: Json };

/** The ids of a page of vehicles, because `/trips/stream` needs them. */
async function someVehicles(api: Api, after: Json): Promise<TripPlace> {
  const { items, next = null } = await page(
    api,
    '/fleet/vehicles',
    { limit: vehiclesPerCall },
    after,
  );
  const ids = items.map((item) => at(item, 'id')).filter((id) => typeof id === 'string');
  return { ids: ids.join(','), after: null, vehicles: next };
}

async function tripPage(api: Api, position: Json, query: Query): Promise<Page> {
  const { ids, after, vehicles } =
    (position as TripPlace | null) ?? (await someVehicles(api, null));
  const asked = { ids, includeAsset: true, ...query };
  const { items, next } = ids ? await page(api, '/trips/stream', asked, after) : { items: [] };
  const isLast = next !== undefined || vehicles === null;
  const rest = isLast ? undefined : await someVehicles(api, vehicles);
  return {
    records: items.map(tripRecord),
    vehicles: items.map(vehicleOfEvent),
    next: next === undefined ? rest : { ids, after: next, vehicles },
  };
}

const trips = inPasses<Api>({
  everyMinutes: 5,
  overlapMs: tripOverlapMs,
  read: (api, { from, position }) => tripPage(api, position, { startTime: iso(from) }),
  history: {
    windowDays: 30,
    page: (api, { from, to }, position) =>
      tripPage(api, position, { startTime: iso(from), endTime: iso(to), queryBy: 'tripStartTime' }),
  },
});

const wanted = wantedNames(
  `
    data pagination endCursor hasNextPage id name updatedAtTime vin year make model licensePlate
    externalIds samsara.vin tags username phone licenseState licenseNumber driverActivationStatus
    asset driver startLocation endLocation location latitude longitude address streetNumber street
    pointOfInterest city state tripStartTime tripEndTime behaviorLabels label source eventState
    dismissalReason code startMs endMs createdAtTime maxAccelerationGForce speedingMetadata
    maxSpeedKilometersPerHour postedSpeedLimitKilometersPerHour media input url cameraRole
    incidentReportUrl
  `,
  {},
  ['url'], // signed links are long
);

/** Samsara. Comments say how certain its API's behaviour is. */
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
  wanted,
  open: (access) => access,
  async check(api) {
    const me = await get(api, '/me', {});
    return { name: at(me, 'data', 'name'), id: idFrom(at(me, 'data', 'id')) };
  },
  feeds: {
    vehicles: listFeed(overlapMs, changesOf('/fleet/vehicles', [{}]), (items) =>
      items.map(vehicleRecord),
    ),
    // Without the status only active drivers are returned.
    drivers: listFeed(
      overlapMs,
      changesOf(
        '/fleet/drivers',
        ['active', 'deactivated'].map((driverActivationStatus) => ({ driverActivationStatus })),
      ),
      (items) => items.map(driverRecord),
    ),
    trips,
    events,
  },
  webhook: {
    steps: [
      'In Samsara, open Settings → Webhooks and add a webhook with this URL.',
      'Choose the event types AlertIncident, SevereSpeedingStarted and SpeedingEventStarted.',
      'Copy its secret key into the field below.',
      'Add an alert for safety events that notifies this webhook.',
    ],
    isSigned,
  },
};

/** Whether Samsara signed a call: `v1:<seconds>:<body>`, with the bytes of the secret, which is base64. */
async function isSigned(
  headers: Headers,
  body: Uint8Array<ArrayBuffer>,
  secret: string,
): Promise<boolean> {
  const timestamp = headers.get('x-samsara-timestamp') ?? '';
  const [version, hex = ''] = (headers.get('x-samsara-signature') ?? '').split('=');
  if (version !== 'v1' || !isRecent(Number(timestamp) * 1000)) return false;
  return isHmac('SHA-256', [`v1:${timestamp}:`, body], () => ({
    key: Uint8Array.fromBase64(secret),
    signature: Uint8Array.fromHex(hex),
  }));
}
