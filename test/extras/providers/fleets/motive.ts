import { serveMedia } from '#src/dev/fakes/media.ts';
import { add, type Fleet, type Item, idsOf, soon } from '#test/support/providers/fleet.ts';

/** Fields that Motive does not give: when an item changed, and that it is too slight to show. */
const hidden = ['changedAt', 'isSlight'];

/**
 * A fake of Motive: it pages by number, wraps each item, cuts times off to days, gives speeds in
 * miles unless told otherwise. `saysTotal: false` leaves out how many items there are.
 */
export function fakeMotive(
  data: MotiveData,
  { perPage = 100, saysTotal = true }: { perPage?: number; saysTotal?: boolean } = {},
) {
  const events = (items: Item[], query: URLSearchParams) => {
    const types = query.get('event_types')?.split(',');
    return items
      .filter(onDays(query, data.dayBeginsAt))
      .filter((item: Item | null) => !types || types.includes(String(item?.type)))
      .filter((item: Item | null) => !item?.isSlight || query.get('ignore_thresholds') === 'true');
  };
  const routes: { [path: string]: [string, string, (query: URLSearchParams) => Item[]] } = {
    '/v1/companies': [
      'companies',
      'company',
      () => [{ id: 5799, name: data.company, time_zone: 'UTC' }],
    ],
    '/v1/vehicles': ['vehicles', 'vehicle', (query) => data.vehicles.filter(changedAfter(query))],
    '/v1/groups': ['groups', 'group', () => data.groups],
    '/v1/users': [
      'users',
      'user',
      (query) => data.users.filter(({ role }) => role === (query.get('role') ?? role)),
    ],
    '/v1/driving_periods': [
      'driving_periods',
      'driving_period',
      (query) => data.periods.filter(onDays(query, 0)).filter(changedAfter(query)),
    ],
    '/v2/driver_performance_events': [
      'driver_performance_events',
      'driver_performance_event',
      (query) => events(data.performance, query).filter(changedAfter(query)),
    ],
    '/v1/speeding_events': [
      'speeding_events',
      'speeding_event',
      (query) => events(data.speeding, query),
    ],
  };

  return async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    if (url.pathname.startsWith('/media/')) return serveMedia(request);
    if (request.headers.get('x-api-key') !== data.key)
      return Response.json({ error_message: 'Invalid token' }, { status: 401 });
    const route = routes[url.pathname];
    if (!route) return new Response('Not found', { status: 404 });
    const query = url.searchParams;
    if (url.pathname === '/v1/driving_periods' && daysIn(query) > 30)
      return Response.json({ error_message: 'Date range can not exceed 30 days' }, { status: 400 });
    const [many, one, itemsFor] = route;
    const isMetric = request.headers.get('x-metric-units') === 'true';
    const items = itemsFor(query).toSorted((a, b) =>
      String(a?.start_time) > String(b?.start_time) ? -1 : 1,
    );
    const size = Math.min(perPage, 100, Number(query.get('per_page') ?? 25));
    const no = Number(query.get('page_no') ?? 1);
    return Response.json({
      [many]: items
        .slice((no - 1) * size, no * size)
        .map((item) => ({ [one]: shown(item, isMetric) })),
      ...(saysTotal && { pagination: { per_page: size, page_no: no, total: items.length } }),
    });
  };
}

function shown(item: Item | null, isMetric: boolean): Item | null {
  if (!item) return null;
  const fields = Object.entries(item).filter(([name]) => !hidden.includes(name));
  return Object.fromEntries(
    fields.map(([name, value]) => {
      const isSpeed =
        /^(?:start|end|max)_speed$|_vehicle_speed$/.test(name) && typeof value === 'number';
      return [name, isSpeed && !isMetric ? value / 1.609344 : value];
    }),
  );
}

const daysIn = (query: URLSearchParams): number =>
  (Date.parse(query.get('end_date') ?? '') - Date.parse(query.get('start_date') ?? '')) /
  86_400_000;

/** The days of the query, both included, by the day on which an item begins. */
const onDays = (query: URLSearchParams, dayBeginsAt: number) => {
  const [from = '', to = '~'] = ['start_date', 'end_date'].map(
    (name) => query.get(name)?.slice(0, 10) ?? undefined,
  );
  return (item: Item | null): boolean => {
    const ms = Date.parse(String(item?.start_time));
    if (Number.isNaN(ms)) return true;
    const day = new Date(ms - dayBeginsAt * 3_600_000).toISOString().slice(0, 10);
    return day >= from && day <= to;
  };
};

const changedAfter =
  (query: URLSearchParams) =>
  (item: Item | null): boolean =>
    String(item?.changedAt ?? item?.updated_at ?? '~') >= (query.get('updated_after') ?? '');

const iso = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+/, '');

let made = 0;

/** What Motive holds: three vehicles, and no events yet. Tests change it while it is read. */
export const motiveData = () => ({
  company: 'Sample Freight',
  key: `motive-secret-key-${made++}`,
  vehicles: [1, 2, 3].map((n) => motiveVehicle(n, { group_ids: [3, 1] })),
  users: [1, 2, 3].map((n) => motiveDriver(n)),
  groups: [1, 2, 3].map((id) => ({ id, name: `Yard ${id}` })),
  periods: [] as Item[],
  performance: [] as Item[],
  speeding: [] as Item[],
  /** By how many hours the company's own days begin after those of UTC. */
  dayBeginsAt: 0,
});
export type MotiveData = ReturnType<typeof motiveData>;

export const motiveVehicle = (n: number, more: Item = {}): Item => ({
  id: 1300180 + n,
  number: `Truck ${n}`,
  status: 'active',
  vin: `1FUJGLDR7CL${String(200000 + n)}`,
  make: 'Freightliner',
  model: '',
  year: '2022',
  license_plate_number: `MTV-${n}`,
  fuel_type: 'diesel',
  group_ids: [],
  created_at: '2024-03-01T10:00:00Z',
  updated_at: '2026-01-10T08:00:00Z',
  ...more,
});

export const motiveDriver = (n: number, more: Item = {}): Item => ({
  id: 4033170 + n,
  first_name: 'Sam',
  last_name: `Sample ${n}`,
  email: null,
  phone: '6155550100',
  phone_country_code: '+1',
  role: 'driver',
  status: 'active',
  drivers_license_number: `TN-${n}`,
  drivers_license_state: 'TN',
  username: `sam${n}`,
  group_ids: [],
  created_at: '2024-03-01T10:00:00Z',
  updated_at: '2026-01-10T08:00:00Z',
  ...more,
});

const inPassing = ({ id, number, vin, year, make, model }: Item): Item => ({
  vehicle: { id, number, year, make, model, vin, metric_units: false },
});

/** A driving period of half an hour from a time (milliseconds since 1970). */
export const motivePeriod = (vehicle: Item, at: number, more: Item = {}): Item => ({
  id: idOf(vehicle, at),
  start_time: iso(at),
  end_time: iso(at + 1_800_000),
  status: 'complete',
  type: 'driving',
  duration: 1800.4,
  start_kilometers: 184_220.5,
  end_kilometers: 184_262.75,
  origin: '2 mi E of Sampleton, TN',
  origin_lat: 36.1627,
  origin_lon: -86.7816,
  destination: 'Sampleton, TN',
  destination_lat: 36.2,
  destination_lon: -86.7,
  distance: '26.3 mi',
  driver: { id: 4033171, first_name: 'Sam', last_name: 'Sample 1' },
  ...inPassing(vehicle),
  changedAt: iso(at + 1_800_000),
  ...more,
});

const idOf = ({ id }: Item, at: number): number =>
  (at % 1_000_000_000) * 1000 + (Number(id) % 1000);

const happening = (vehicle: Item, at: number, seconds: number): Item => ({
  id: idOf(vehicle, at),
  start_time: iso(at),
  end_time: iso(at + seconds * 1000),
  duration: seconds,
  ...inPassing(vehicle),
});

/** An event of a vehicle at a time (milliseconds since 1970), as Motive gives it. */
export const motiveEvent = (vehicle: Item, type: string, at: number, more: Item = {}): Item => ({
  ...happening(vehicle, at, 4),
  type,
  lat: 36.1627,
  lon: -86.7816,
  location: '2 mi E of Sampleton, TN',
  start_speed: 96.56,
  end_speed: 40.2,
  max_speed: null,
  coaching_status: 'pending_review',
  coached_at: null,
  primary_behavior: [],
  secondary_behaviors: [],
  metadata: { severity: null },
  driver: { id: 4033171, first_name: 'Sam', last_name: 'Sample 1' },
  camera_media: null,
  changedAt: iso(at + 20_000),
  ...more,
});

/** Speeding of a vehicle at a time (milliseconds since 1970), as Motive gives it. */
export const motiveSpeeding = (vehicle: Item, at: number, more: Item = {}): Item => ({
  ...happening(vehicle, at, 69),
  type: 'posted',
  status: 'valid',
  start_lat: 36.1627,
  start_lon: -86.7816,
  max_vehicle_speed: 121.5,
  max_over_speed_in_kph: 16.7,
  min_posted_speed_limit_in_kph: 88.5,
  max_posted_speed_limit_in_kph: 104.6,
  coaching_status: 'coachable',
  metadata: { severity: 'high' },
  driver: null,
  ...more,
});

/** Its events are of both lists, and its days begin at any hour. */
export function motiveFleet(options?: Parameters<typeof fakeMotive>[1]): Fleet {
  const data = {
    ...motiveData(),
    vehicles: [] as Item[],
    users: [] as Item[],
    dayBeginsAt: made++ % 24,
  };
  const { vehicles } = data;
  const vehicle = (n: number) => vehicles[n % vehicles.length] ?? {};
  const changedAt = () => new Date().toISOString();
  return {
    provider: 'motive',
    origin: 'https://api.gomotive.com',
    credential: data.key,
    wrongCredential: 'wrong-key-1',
    serve: fakeMotive(data, options),
    asked: [
      '/v1/speeding_events',
      '/v2/driver_performance_events',
      '/v2/driver_performance_events',
    ],
    vehicle: (n) => add(vehicles, motiveVehicle(n, { group_ids: [3, 1] })),
    driver: (n) => add(data.users, motiveDriver(n)),
    trip: (vehicle, _, at) => add(data.periods, motivePeriod(vehicle, at)),
    event: (vehicle, _, at, isCrash, more) =>
      add(data.performance, motiveEvent(vehicle, isCrash ? 'crash' : 'hard_brake', at, more)),
    other: (vehicle, _, at) => add(data.speeding, motiveSpeeding(vehicle, at)),
    addVehicle: (n) => void vehicles.push(motiveVehicle(n, { updated_at: changedAt() })),
    addEvent(n, isCrash) {
      if (n % 3 === 2 && !isCrash) {
        const event = motiveSpeeding(vehicle(n), soon(n));
        data.speeding.push(event);
        return { sourceId: `speeding:${event.id}`, confirm() {}, move() {} };
      }
      const type = isCrash ? 'crash' : 'cell_phone';
      const event = motiveEvent(vehicle(n), type, soon(n), { changedAt: changedAt() });
      data.performance.push(event);
      return {
        sourceId: String(event.id),
        confirm: () =>
          Object.assign(event, { coaching_status: 'coachable', changedAt: changedAt() }),
        move: (lat) => Object.assign(event, { lat, changedAt: changedAt() }),
      };
    },
    setVin(n, vin) {
      const { id } = Object.assign(vehicle(n), { vin, updated_at: changedAt() });
      for (const one of data.performance)
        if ((one.vehicle as Item).id === id) Object.assign(one.vehicle as Item, { vin });
    },
    known: () => ({
      vehicles: idsOf(data.vehicles),
      drivers: idsOf(data.users),
      trips: idsOf(data.periods),
      safety_events: [
        ...idsOf(data.performance),
        ...idsOf(data.speeding).map((id) => `speeding:${id}`),
      ],
    }),
  };
}
