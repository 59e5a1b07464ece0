import { ago } from '#test/support.ts';
import { add, fleetOf, type Item, shownPlace } from './fleet.ts';

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
      .filter(({ type }) => !types || types.includes(String(type)))
      .filter(({ isSlight }) => !isSlight || query.get('ignore_thresholds') === 'true');
  };
  const changed = (items: Item[], query: URLSearchParams) =>
    items.filter(
      (item) =>
        String(item.changedAt ?? item.updated_at ?? '~') >= (query.get('updated_after') ?? ''),
    );
  const lists: { [name: string]: (query: URLSearchParams) => Item[] } = {
    companies: () => [{ id: 5799, name: data.company }],
    vehicles: (query) => changed(data.vehicles, query),
    groups: () => data.groups,
    users: (query) => data.users.filter(({ role }) => role === (query.get('role') ?? role)),
    driving_periods: (query) => changed(data.periods.filter(onDays(query, 0)), query),
    driver_performance_events: (query) => changed(events(data.performance, query), query),
    speeding_events: (query) => events(data.speeding, query),
  };

  return async (request: Request) => {
    const url = new URL(request.url);
    if (request.headers.get('x-api-key') !== data.key)
      return new Response('Invalid token', { status: 401 });
    const many = url.pathname.replace(/^\/v\d\//, '');
    const list = lists[many];
    if (!list) return new Response('Not found', { status: 404 });
    const query = url.searchParams;
    if (many === 'driving_periods' && daysIn(query) > 30)
      return new Response('Date range can not exceed 30 days', { status: 400 });
    const one = many.replace(/ies$/, 'ys').replace(/s$/, '');
    const isMetric = request.headers.get('x-metric-units') === 'true';
    const items = list(query).toSorted((a, b) =>
      String(a.start_time) > String(b.start_time) ? -1 : 1,
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

/** Without what Motive does not give, and with speeds in miles per hour unless they are to be metric. */
function shown({ changedAt: _, isSlight: __, ...item }: Item, isMetric: boolean) {
  const isSpeed = (name: string) => /^(?:start|end|max)_speed$|_vehicle_speed$/.test(name);
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => [
      name,
      isSpeed(name) && typeof value === 'number' && !isMetric ? value / 1.609344 : value,
    ]),
  );
}

const daysIn = (query: URLSearchParams) => {
  const [start = 0, end = 0] = ['start_date', 'end_date'].map((name) =>
    Date.parse(query.get(name) ?? ''),
  );
  return (end - start) / 86_400_000;
};

/** The days of the query, both included, by the day on which an item begins. */
const onDays = (query: URLSearchParams, dayBeginsAt: number) => {
  const [from, to] = [query.get('start_date') ?? '', query.get('end_date') ?? '~'];
  return (item: Item) => {
    const ms = Date.parse(String(item.start_time));
    if (Number.isNaN(ms)) return true;
    const day = new Date(ms - dayBeginsAt * 3_600_000).toISOString().slice(0, 10);
    return day >= from && day <= to;
  };
};

const iso = (ms: number) => new Date(ms).toISOString().replace(/\.\d+/, '');

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
  updated_at: '2026-01-10T08:00:00Z',
  ...more,
});

const inPassing = ({ id, number, vin, year, make, model }: Item) => ({
  vehicle: { id, number, year, make, model, vin },
});

/** A driving period of half an hour from a time (milliseconds since 1970). */
export const motivePeriod = (vehicle: Item, at: number, more: Item = {}) => ({
  id: idOf(vehicle, at),
  start_time: iso(at),
  end_time: iso(at + 1_800_000),
  status: 'complete',
  duration: 1800.4,
  start_kilometers: 184_220.5,
  end_kilometers: 184_262.75,
  origin: '2 mi E of Sampleton, TN',
  origin_lat: 36.1627,
  origin_lon: -86.7816,
  destination: 'Sampleton, TN',
  destination_lat: 36.2,
  destination_lon: -86.7,
  driver: { id: 4033171 },
  ...inPassing(vehicle),
  changedAt: iso(at + 1_800_000),
  ...more,
});

const idOf = ({ id }: Item, at: number) => (at % 1_000_000_000) * 1000 + (Number(id) % 1000);

const happening = (vehicle: Item, at: number, seconds: number) => ({
  id: idOf(vehicle, at),
  start_time: iso(at),
  end_time: iso(at + seconds * 1000),
  duration: seconds,
  ...inPassing(vehicle),
});

/** An event of a vehicle at a time (milliseconds since 1970), as Motive gives it. */
export const motiveEvent = (vehicle: Item, type: string, at: number, more: Item = {}) => ({
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
  driver: { id: 4033171 },
  camera_media: null,
  changedAt: iso(at + 20_000),
  ...more,
});

/** Speeding of a vehicle at a time (milliseconds since 1970), as Motive gives it. */
export const motiveSpeeding = (vehicle: Item, at: number, more: Item = {}) => ({
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
export function motiveFleet(options?: Parameters<typeof fakeMotive>[1]) {
  const nothing = { vehicles: [] as Item[], users: [motiveDriver(9, { role: 'admin' })] };
  const data = { ...motiveData(), ...nothing, dayBeginsAt: made++ % 24 };
  return fleetOf({
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
    vehicle: (n) => add(data.vehicles, motiveVehicle(n, { group_ids: [3, 1] })),
    driver: (n) => add(data.users, motiveDriver(n, { status: n === 2 ? 'deactivated' : 'active' })),
    trip: (vehicle, at) => add(data.periods, motivePeriod(vehicle, at)),
    event: (vehicle, at, isCrash, more) =>
      add(data.performance, motiveEvent(vehicle, isCrash ? 'crash' : 'hard_brake', at, more)),
    other: (vehicle, at) => add(data.speeding, motiveSpeeding(vehicle, at)),
    changed: () => ({ changedAt: ago(0), updated_at: ago(0) }),
    confirmed: { coaching_status: 'coachable' },
    dismissed: { coaching_status: 'uncoachable' },
    movedTo: (lat) => ({ lat }),
    sourceIdOf: (item) => (data.speeding.includes(item) ? `speeding:${item.id}` : String(item.id)),
    shown: {
      organisation: 'Sample Freight',
      vehicles: {
        sourceId: '1300181',
        vin: '1FUJGLDR7CL200001',
        make: 'Freightliner',
        model: null,
        year: 2022,
        fuelType: 'diesel',
        licensePlate: 'MTV-1',
        groups: ['Yard 3', 'Yard 1'],
        status: 'active',
      },
      drivers: {
        name: 'Sam Sample 2',
        email: null,
        phone: '+1 6155550100',
        licenseState: 'TN',
        status: 0,
      },
      trips: {
        startLocation: shownPlace(36.1627, -86.7816, '2 mi E of Sampleton, TN'),
        endLocation: shownPlace(36.2, -86.7, 'Sampleton, TN'),
        distanceKm: 42.25,
        durationSeconds: 1800,
      },
      events: {
        sourceId: expect.stringContaining('speeding:'),
        translatedIncidentTypes: ['Speeding'],
        eventRisk: 4,
        location: shownPlace(36.1627, -86.7816),
        driverId: null,
        maxSpeedKph: 121.5,
        speedLimitKph: 104.6,
      },
    },
  });
}
