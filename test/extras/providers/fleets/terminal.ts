import { at } from '#src/extras/providers/connector/read.ts';
import { add, fleetOf, type Item, iso, shownPlace } from './fleet.ts';

/**
 * A fake of Terminal: it pages by cursor, wants both parts of the credential, and lists by when it
 * took something in or by when that began, but never both.
 */
export function fakeTerminal(data: TerminalData, { perPage = 100 }: { perPage?: number } = {}) {
  const visible = (items: Item[], query: URLSearchParams) =>
    items.filter((item) => query.get('deleted') === 'true' || !at(item, 'metadata', 'deletedAt'));
  const lists: { [path: string]: (query: URLSearchParams) => Item[] } = {
    '/vehicles': (query) => visible(data.vehicles, query),
    '/drivers': (query) => visible(data.drivers, query),
    '/groups': () => data.groups,
    '/trips': () => data.trips,
    '/safety/events': () => data.events,
  };

  function paged(items: Item[], query: URLSearchParams) {
    const by = query.has('startedAfter') ? 'started' : 'modified';
    const keyOf = (item: Item) =>
      String(by === 'started' ? item.startedAt : at(item, 'metadata', 'modifiedAt'));
    const place = (item: Item) => `${keyOf(item)} ${item.id}`;
    const [from, to] = [query.get(`${by}After`) ?? '', query.get(`${by}Before`) ?? '~'];
    const after = atob(query.get('cursor') ?? '');
    const found = items
      .filter((item) => keyOf(item) >= from && keyOf(item) < to && place(item) > after)
      .toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
    const results = found.slice(0, Math.min(perPage, Number(query.get('limit') ?? perPage)));
    const last = results.at(-1);
    return Response.json({
      results: results.map((item) => shown(item, query)),
      ...(last && found.length > results.length && { next: btoa(place(last)) }),
    });
  }

  /** With what was asked for put in, and without the provider's own records otherwise. */
  function shown({ raw = [], ...item }: Item, query: URLSearchParams) {
    const isExpanded = query.get('expand')?.includes('vehicle');
    const vehicle = isExpanded && data.vehicles.find(({ id }) => id === item.vehicle);
    return { ...item, ...(vehicle && { vehicle }), ...(query.get('raw') === 'true' && { raw }) };
  }

  return async (request: Request) => {
    const url = new URL(request.url);
    if (request.headers.get('authorization') !== `Bearer ${data.secretKey}`)
      return failed(401, 'unauthorized');
    if (request.headers.get('connection-token') !== data.connectionToken)
      return failed(403, 'forbidden');
    const path = url.pathname.replace(/^\/tsp\/v1/, '');
    const query = url.searchParams;
    if (path === '/connections/current')
      return Response.json({
        id: 'conn_1',
        status: data.status,
        provider: { code: 'samsara', name: 'Samsara' },
        company: { name: data.company },
      });
    const names = [...query.keys()].join(' ');
    if (names.includes('modified') && names.includes('started')) return failed(400, 'bad_request');
    const list = lists[path];
    return list ? paged(list(query), query) : failed(404, 'not_found');
  };
}

const failed = (status: number, code: string) => Response.json({ code }, { status });

/** 26 characters, as identifiers have after their prefix. */
const ulid = (n: number) => `01JD${String(n).padStart(22, '0')}`;

const taken = (ms: number) => ({ addedAt: iso(ms), modifiedAt: iso(ms) });
const longAgo = Date.parse('2026-01-10T08:00:00Z');

let made = 0;

/** What Terminal holds for one connection. Tests change it while it is read. */
export const terminalData = () => ({
  company: 'Example Haulage',
  status: 'connected',
  secretKey: 'sk_prod_secret_1',
  connectionToken: `con_tkn_secret_${made++}`,
  vehicles: [1, 2, 3].map((n) =>
    terminalVehicle(n, { groups: [3, 1].map((group) => terminalGroup(group, '').id) }),
  ),
  drivers: [1, 2, 3].map((n) => terminalDriver(n)),
  groups: [1, 2, 3].map((n) => terminalGroup(n, `Yard ${n}`)),
  trips: [] as Item[],
  events: [] as Item[],
});
export type TerminalData = ReturnType<typeof terminalData>;

export const terminalCredential = ({
  secretKey,
  connectionToken,
}: Pick<TerminalData, 'secretKey' | 'connectionToken'>) =>
  JSON.stringify({ secretKey, connectionToken });

export const terminalGroup = (n: number, name: string) => ({
  id: `group_${ulid(n)}`,
  name,
  metadata: taken(longAgo),
});

export const terminalVehicle = (n: number, more: Item = {}): Item => ({
  id: `vcl_${ulid(n)}`,
  name: `Truck ${n}`,
  status: 'active',
  sourceId: `28147490${n}`,
  provider: 'samsara',
  vin: `1FUJGLDR9CL${String(300000 + n)}`,
  make: 'Freightliner',
  model: 'Cascadia',
  year: 2022,
  groups: [],
  licensePlate: { state: 'TX', number: `TRM-${n}` },
  fuelType: 'diesel',
  metadata: { ...taken(longAgo), visibility: 'visible' },
  ...more,
});

export const terminalDriver = (n: number, more: Item = {}): Item => ({
  id: `drv_${ulid(n)}`,
  status: 'active',
  sourceId: `5000${n}`,
  provider: 'samsara',
  firstName: 'Kim',
  middleName: 'Lee',
  lastName: `Example ${n}`,
  email: `kim${n}@example.com`,
  phone: '+15125550100',
  license: { state: 'TX', number: `TX-${n}` },
  metadata: taken(longAgo),
  ...more,
});

/** A trip of a vehicle that began at a time (milliseconds since 1970) and took half an hour. */
const terminalTrip = (vehicle: Item, at: number) => ({
  id: `trp_${ulid(at)}`,
  sourceId: `t-${at}`,
  provider: 'samsara',
  vehicle: vehicle.id,
  driver: `drv_${ulid(1)}`,
  startedAt: iso(at),
  endedAt: iso(at + 1_800_000),
  startLocation: { latitude: 32.7767, longitude: -96.797 },
  endLocation: { latitude: 32.9, longitude: -96.9 },
  distance: 42.3,
  duration: 1_800_000,
  metadata: taken(at + 3_600_000),
});

/** A safety event of a vehicle at a time (milliseconds since 1970), taken in a minute later. */
export const terminalEvent = (vehicle: Item, type: string, at: number, more: Item = {}) => ({
  id: `sft_evt_${ulid(at)}`,
  type,
  sourceId: `e-${at}`,
  provider: 'samsara',
  sourceType: type,
  vehicle: vehicle.id,
  driver: `drv_${ulid(1)}`,
  startedAt: iso(at),
  endedAt: iso(at + 4_000),
  startLocation: { latitude: 32.8, longitude: -96.81 },
  endLocation: { latitude: 32.8, longitude: -96.8101 },
  stats: { maximumSpeed: 88.4, roadSpeedLimit: 80 },
  cameraMedia: { frontFacing: { available: false }, rearFacing: { available: false } },
  metadata: taken(at + 60_000),
  ...more,
});

export const terminalRaw = (provider: string, data: Item) => ({
  provider,
  data,
});

const reviewed = (eventState: string) => ({
  raw: [
    terminalRaw('samsara', {
      eventState,
      behaviorLabels: [{ label: 'Crash', source: 'automated' }],
    }),
  ],
});

export function terminalFleet(perPage?: number) {
  const data = { ...terminalData(), vehicles: [] as Item[], drivers: [] as Item[] };
  let clock = Date.now(); // each change comes after those before
  return fleetOf({
    provider: 'terminal',
    origin: 'https://api.withterminal.com',
    credential: terminalCredential(data),
    wrongCredential: terminalCredential({ ...data, secretKey: 'sk_prod_wrong_1' }),
    serve: fakeTerminal(data, perPage ? { perPage } : {}),
    asked: ['/tsp/v1/safety/events'],
    vehicle: (n) =>
      add(data.vehicles, terminalVehicle(n, { groups: data.groups.map(({ id }) => id) })),
    driver: (n) => add(data.drivers, terminalDriver(n)),
    trip: (vehicle, at) => add(data.trips, terminalTrip(vehicle, at)),
    event(vehicle, at, isCrash, more) {
      const type = isCrash ? 'crash' : 'harsh_brake';
      const event = terminalEvent(vehicle, type, at, { ...reviewed('needsReview'), ...more });
      return add(data.events, event);
    },
    changed: () => ({ metadata: taken(clock++) }),
    confirmed: reviewed('coached'),
    dismissed: reviewed('dismissed'),
    movedTo(latitude) {
      const place = { latitude, longitude: -96.81 };
      return { startLocation: place, endLocation: place };
    },
    shown: {
      organisation: 'Example Haulage',
      vehicles: {
        vin: '1FUJGLDR9CL300001',
        make: 'Freightliner',
        model: 'Cascadia',
        year: 2022,
        fuelType: 'diesel',
        licensePlate: 'TRM-1',
        groups: ['Yard 1', 'Yard 2', 'Yard 3'],
        status: 'active',
      },
      drivers: {
        name: 'Kim Lee Example 1',
        email: 'kim1@example.com',
        phone: '+15125550100',
        licenseState: 'TX',
        licenseNumber: 'TX-1',
        status: 1,
      },
      trips: {
        startLocation: shownPlace(32.7767, -96.797),
        endLocation: shownPlace(32.9, -96.9),
        distanceKm: 42.3,
        durationSeconds: 1800,
      },
      events: {
        translatedIncidentTypes: ['Harsh Braking'],
        location: shownPlace(32.8, -96.81),
        maxSpeedKph: 88.4,
        speedLimitKph: 80,
      },
    },
  });
}
