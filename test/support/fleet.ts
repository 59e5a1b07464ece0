import { accident, safetyEvent, vehicle } from './records.ts';
import { as, type World, world } from './world.ts';

/** An item of a list, as far as all of them are alike. */
export type Item = Record<string, unknown> & { id: string; sourceId: string };

/** A fleet of two connections with trips and safety events, and an account that has nothing. */
export async function seededFleet(): Promise<{ us: World; them: World; trucks: string; vans: string }> {
  const us = await world({ providers: ['motive', 'samsara'] });
  const them = await world();
  const [trucks = '', vans = ''] = us.connections.map(({ id }) => id);
  const event = (sourceId: string, startedAt: string, more: object) =>
    safetyEvent({ sourceId, startedAt, ...more });
  await as(us.connection.ingestKey).send(
    vehicle(),
    vehicle({ sourceId: 'truck-2', name: 'Truck 2', status: 'inactive', vin: 'VIN2' }),
    { kind: 'driver', sourceId: 'ann', name: 'Ann', licenseState: 'CO', status: 1 },
    { kind: 'driver', sourceId: 'bob', name: 'Bob', licenseState: 'NM', status: 0 },
    ...[1, 2, 3].map((hour) => ({
      kind: 'trip',
      sourceId: `trip-${hour}`,
      vehicle: hour === 2 ? 'truck-2' : 'truck-1',
      ...(hour === 3 ? {} : { driver: 'ann' }),
      startedAt: `2026-11-20T0${hour}:00:00Z`,
    })),
    event('a', '2026-11-19T10:00:00Z', { incidentTypes: ['crash'], driver: 'ann' }),
    event('b', '2026-11-20T00:00:00Z', { incidentTypes: ['hard_brake', 'cell_phone'] }),
    event('c', '2026-11-20T10:00:00Z', {
      ...{ incidentTypes: ['something_new'], vehicle: 'truck-2', trip: 'not yet known' },
      ...{ location: { latitude: 3, longitude: 4 }, maxSpeedKph: 90.5, speedLimitKph: 80 },
      endedAt: '2026-11-20T10:01:00Z',
    }),
    accident(),
  );
  await as(us.connections[1]?.ingestKey ?? '').send(
    vehicle({ sourceId: 'van', name: 'Van' }),
    { kind: 'trip', sourceId: 'v', vehicle: 'van', startedAt: '2026-11-20T02:30:00Z' },
    { kind: 'driver', sourceId: 'cid', name: 'Cid' },
  );
  return { us, them, trucks, vans };
}

/** Reads one page of a list. */
export const listPage = (token: string, path: string, connection?: string) =>
  as(token, connection ? { 'Connection-Id': connection } : {}).get<Item[]>(path);
