import { serveMedia } from './media.ts';

/** The data of a fake Samsara; tests and the demo change it while it is being read. */
export type SamsaraData = {
  organisation: string;
  organisationId?: string;
  token: string;
  vehicles: Item[];
  drivers: Item[];
  trips: Item[];
  events: Item[];
};

type Item = { [field: string]: unknown };

/** A fake of Samsara's API after its description. A page has at most `perPage` items. */
export function fakeSamsara(data: SamsaraData, { perPage = 100 }: { perPage?: number } = {}) {
  const routes: { [path: string]: (query: URLSearchParams) => unknown } = {
    '/me': () => ({ data: { id: data.organisationId ?? '20936', name: data.organisation } }),
    '/fleet/vehicles': (query) => listed(data.vehicles.filter(changedAfter(query)), query),
    '/fleet/drivers': (query) => {
      const status = query.get('driverActivationStatus') ?? 'active';
      return listed(
        data.drivers
          .filter((driver) => driver.driverActivationStatus === status)
          .filter(changedAfter(query)),
        query,
      );
    },
    '/trips/stream': (query) => {
      const ids = query.get('ids')?.split(',') ?? [];
      const own = data.trips.filter(({ asset }) => ids.includes(String((asset as Item).id)));
      return streamed(own, query, query.get('queryBy') ?? 'updatedAtTime');
    },
    '/safety-events/stream': (query) =>
      streamed(data.events, query, query.get('queryByTimeField') ?? 'updatedAtTime'),
  };

  const listed = (items: Item[], query: URLSearchParams) =>
    paged(items, query, Math.min(perPage, Number(query.get('limit') ?? perPage)), '');

  /** In the order of their times. With no end, the last page's cursor keeps working. */
  function streamed(items: Item[], query: URLSearchParams, by: string) {
    const from = query.get('startTime') ?? '';
    const to = query.get('endTime');
    const found = items
      .filter((item) => String(item[by]) >= from && (to === null || String(item[by]) < to))
      .toSorted((a, b) => (String(a[by]) < String(b[by]) ? -1 : 1));
    if (to !== null) return paged(found, query, perPage, '');
    const after = query.get('after');
    const rest = after ? found.filter((item) => keyOf(item, by) > after) : found;
    const page = rest.slice(0, perPage);
    const last = page.at(-1);
    const endCursor = last ? keyOf(last, by) : (after ?? '');
    return { data: page, pagination: { endCursor, hasNextPage: rest.length > perPage } };
  }

  const keyOf = (item: Item, by: string) => `${item[by]} ${item.id ?? item.tripStartTime}`;

  function paged(items: Item[], query: URLSearchParams, size: number, end: string) {
    const at = Number(query.get('after') || 0);
    const more = items.length > at + size;
    return {
      data: items.slice(at, at + size),
      pagination: { endCursor: more ? String(at + size) : end, hasNextPage: more },
    };
  }

  return async (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname.startsWith('/media/')) return serveMedia(request);
    if (request.headers.get('authorization') !== `Bearer ${data.token}`)
      return Response.json({ message: 'Invalid token.', requestId: 'b1fca1a2' }, { status: 401 });
    const route = routes[pathname];
    if (!route) return new Response('rpc error: not found', { status: 404 });
    return Response.json(route(searchParams));
  };
}

const changedAfter =
  (query: URLSearchParams) =>
  (item: Item | null): boolean =>
    String(item?.updatedAtTime ?? '~') >= (query.get('updatedAfterTime') ?? '');

export const samsaraVehicle = (n: number, more: Item = {}): Item => ({
  id: String(281474900000000 + n),
  name: `Truck ${n}`,
  vin: `1FUJGLDR5CL${String(100000 + n)}`,
  make: 'Freightliner',
  model: 'Cascadia',
  year: '2022',
  licensePlate: `PLT-${n}`,
  notes: '',
  tags: [{ id: '3914', name: 'North' }],
  updatedAtTime: '2026-01-10T08:00:00Z',
  ...more,
});

export const samsaraDriver = (n: number, more: Item = {}): Item => ({
  id: String(50000 + n),
  name: `Robin Reyes ${n}`,
  username: `robin${n}`,
  driverActivationStatus: 'active',
  phone: '+13035550100',
  licenseNumber: `99-${n}`,
  licenseState: 'CO',
  updatedAtTime: '2026-01-10T08:00:00Z',
  ...more,
});

/** A trip of half an hour that began at `at` (milliseconds since 1970). */
export const samsaraTrip = (vehicle: Item, at: number, more: Item = {}): Item => ({
  asset: { id: vehicle.id, name: vehicle.name, vin: vehicle.vin, type: 'vehicle' },
  completionStatus: 'completed',
  tripStartTime: new Date(at).toISOString(),
  tripEndTime: new Date(at + 1_800_000).toISOString(),
  updatedAtTime: new Date(at + 1_800_000).toISOString(),
  startLocation: { latitude: 39.7392, longitude: -104.9903, headingDegrees: 120 },
  endLocation: { latitude: 39.75, longitude: -104.87, headingDegrees: 90 },
  ...more,
});

/** How long after an event its camera has uploaded it. */
export const uploadMs = 20_000;

/** A safety event at `at` (milliseconds since 1970). */
export const samsaraEvent = (vehicle: Item, label: string, at: number, more: Item = {}): Item => ({
  id: `${vehicle.id}-${at}`,
  asset: { id: vehicle.id, name: vehicle.name, vin: vehicle.vin, type: 'vehicle' },
  driver: { id: '50001', name: 'Robin Reyes 1' },
  behaviorLabels: [{ label, source: 'automated' }],
  eventState: 'needsReview',
  startMs: new Date(at).toISOString(),
  endMs: new Date(at + 4_000).toISOString(),
  createdAtTime: new Date(at + uploadMs).toISOString(),
  updatedAtTime: new Date(at + uploadMs).toISOString(),
  location: {
    latitude: 39.7392,
    longitude: -104.9903,
    address: {
      streetNumber: '1437',
      street: 'Bannock Street',
      city: 'Denver',
      state: 'Colorado',
    },
  },
  maxAccelerationGForce: 0.61,
  media: [],
  incidentReportUrl: `https://cloud.samsara.com/o/20936/fleet/reports/safety/vehicle/${vehicle.id}/incident/${at}`,
  ...more,
});
