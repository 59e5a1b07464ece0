import { add, type Fleet, type Item, idsOf, iso, soon } from '#test/support/providers/fleet.ts';

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

  function paged(items: Item[], query: URLSearchParams): Response {
    const key = (item: Item) =>
      query.has('startedAfter')
        ? `${at(item, 'startedAt')}`
        : `${at(item, 'metadata', 'modifiedAt')}`;
    const place = (item: Item) => `${key(item)} ${at(item, 'id')}`;
    const [from, to] = query.has('startedAfter')
      ? [query.get('startedAfter') ?? '', query.get('startedBefore') ?? '~']
      : [query.get('modifiedAfter') ?? '', query.get('modifiedBefore') ?? '~'];
    const after = query.has('cursor') ? atob(query.get('cursor') ?? '') : '';
    const found = items
      .filter((item) => key(item) >= from && key(item) < to && place(item) > after)
      .toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
    const results = found.slice(0, Math.min(perPage, Number(query.get('limit') ?? perPage)));
    const last = results.at(-1);
    return Response.json({
      results: results.map((item) => shown(item, query)),
      ...(last && found.length > results.length && { next: btoa(place(last)) }),
    });
  }

  /** With what was asked for put in, and without the provider's own records otherwise. */
  function shown(item: Item, query: URLSearchParams): Item {
    const { raw, ...rest } = item ?? {};
    const vehicle = query.get('expand')?.includes('vehicle')
      ? data.vehicles.find((one) => at(one, 'id') === rest.vehicle)
      : undefined;
    return {
      ...rest,
      ...(vehicle && { vehicle }),
      ...(query.get('raw') === 'true' && { raw: raw ?? [] }),
    };
  }

  return async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    if (request.headers.get('authorization') !== `Bearer ${data.secretKey}`)
      return failed(401, 'unauthorized', 'Unauthorized Request');
    if (request.headers.get('connection-token') !== data.connectionToken)
      return failed(403, 'forbidden', 'Forbidden Request');
    const path = url.pathname.replace(/^\/tsp\/v1/, '');
    const query = url.searchParams;
    if (path === '/connections/current')
      return Response.json({
        id: 'conn_01JD0000000000000000000001',
        status: data.status,
        provider: { code: 'samsara', name: 'Samsara' },
        company: { name: data.company, dotNumbers: [] },
        createdAt: iso(longAgo),
      });
    const names = [...query.keys()];
    if (
      names.some((name) => name.startsWith('modified')) &&
      names.some((name) => name.startsWith('started'))
    )
      return failed(400, 'bad_request', 'Filter by one sort of time');
    const list = lists[path];
    return list ? paged(list(query), query) : failed(404, 'not_found', 'Resource not found');
  };
}

const failed = (status: number, code: string, message: string): Response =>
  Response.json({ code, message }, { status });

const at = (item: Item | null, ...path: string[]): unknown =>
  path.reduce((found: unknown, key) => (found as Item | null | undefined)?.[key], item); // whatever it is

/** 26 characters, as identifiers have after their prefix. */
const ulid = (n: number): string => `01JD${String(n).padStart(22, '0')}`;

const taken = (ms: number): Item => ({ addedAt: iso(ms), modifiedAt: iso(ms) });
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
}: Pick<TerminalData, 'secretKey' | 'connectionToken'>): string =>
  JSON.stringify({ secretKey, connectionToken });

export const terminalGroup = (n: number, name: string): Item => ({
  id: `group_${ulid(n)}`,
  name,
  status: 'active',
  sourceId: `g${n}`,
  provider: 'samsara',
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
  devices: [],
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
export const terminalTrip = (vehicle: Item, n: number, at: number, more: Item = {}): Item => ({
  id: `trp_${ulid(n)}`,
  sourceId: `t-${n}`,
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
  ...more,
});

/** A safety event of a vehicle at a time (milliseconds since 1970), taken in a minute later. */
export const terminalEvent = (
  vehicle: Item,
  type: string,
  n: number,
  at: number,
  more: Item = {},
): Item => ({
  id: `sft_evt_${ulid(n)}`,
  type,
  sourceId: `e-${n}`,
  provider: 'samsara',
  sourceType: type,
  vehicle: vehicle.id,
  driver: `drv_${ulid(1)}`,
  startedAt: iso(at),
  endedAt: iso(at + 4_000),
  startLocation: { latitude: 32.8, longitude: -96.81 },
  endLocation: { latitude: 32.8, longitude: -96.8101 },
  stats: { maximumSpeed: 88.4, averageSpeed: 70.1, roadSpeedLimit: 80, heading: 90 },
  cameraMedia: { frontFacing: { available: false }, rearFacing: { available: false } },
  metadata: taken(at + 60_000),
  ...more,
});

export const terminalRaw = (provider: string, data: Item): Item => ({
  provider,
  schema: 'safety_event',
  extractedAt: iso(longAgo),
  data,
});

const review = (eventState: string) => [
  terminalRaw('samsara', { eventState, behaviorLabels: [{ label: 'Crash', source: 'automated' }] }),
];

export function terminalFleet(perPage?: number): Fleet {
  const data = { ...terminalData(), vehicles: [] as Item[], drivers: [] as Item[] };
  const { vehicles } = data;
  const vehicle = (n: number) => vehicles[n % vehicles.length] ?? {};
  let clock = Date.now();
  const taken = () => {
    const at = iso(clock++); // each change comes after those before
    return { metadata: { addedAt: at, modifiedAt: at } };
  };
  return {
    provider: 'terminal',
    origin: 'https://api.withterminal.com',
    credential: terminalCredential(data),
    wrongCredential: terminalCredential({ ...data, secretKey: 'sk_prod_wrong_1' }),
    serve: fakeTerminal(data, perPage ? { perPage } : {}),
    asked: ['/tsp/v1/safety/events'],
    vehicle: (n) => add(vehicles, terminalVehicle(n, { groups: data.groups.map(({ id }) => id) })),
    driver: (n) => add(data.drivers, terminalDriver(n)),
    trip: (vehicle, n, at) => add(data.trips, terminalTrip(vehicle, n, at)),
    event(vehicle, n, at, isCrash, more) {
      const type = isCrash ? 'crash' : 'harsh_brake';
      return add(
        data.events,
        terminalEvent(vehicle, type, n, at, { raw: review('reviewed'), ...more }),
      );
    },
    addVehicle: (n) => void vehicles.push(terminalVehicle(n, taken())),
    addEvent(n, isCrash) {
      const more = { ...taken(), raw: review('needsReview') };
      const event = terminalEvent(
        vehicle(n),
        isCrash ? 'crash' : 'speeding',
        10 + n,
        soon(n),
        more,
      );
      data.events.push(event);
      return {
        sourceId: String(event.id),
        confirm: () => Object.assign(event, taken(), { raw: review('coached') }),
        move(latitude) {
          const place = { latitude, longitude: -96.81 };
          Object.assign(event, taken(), { startLocation: place, endLocation: place });
        },
      };
    },
    setVin: (n, vin) => void Object.assign(vehicle(n), taken(), { vin }),
    known: () => ({
      vehicles: idsOf(data.vehicles),
      drivers: idsOf(data.drivers),
      trips: idsOf(data.trips),
      safety_events: idsOf(data.events),
    }),
  };
}
