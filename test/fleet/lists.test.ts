import { beforeAll, describe, expect, it } from 'vitest';
import { recordId } from '../../src/db/ids.ts';
import { accident, as, safetyEvent, vehicle, type World, world } from '../support/world.ts';

type Item = Record<string, unknown> & { id: string; sourceId: string };

let us: World;
let them: World;
let vans: string;
let trucks: string;
beforeAll(async () => {
  us = await world({ providers: ['motive', 'samsara'] });
  them = await world();
  [trucks = '', vans = ''] = us.connections.map(({ id }) => id);
  await as(us.connection.ingestKey).send(
    vehicle(),
    vehicle({
      sourceId: 'truck-2',
      name: 'Truck 2',
      status: 'inactive',
      vin: 'VIN2',
      make: 'Volvo',
      model: 'FH',
      year: 2021,
      fuelType: 'diesel',
      licensePlate: 'B-FD 1',
      odometerKm: 120_000.5,
      lastLocation: { latitude: 1, longitude: 2, speedKph: 80, timestamp: '2026-11-20T20:00:00+01:00' },
    }),
    { kind: 'driver', sourceId: 'ann', name: 'Ann', email: 'ann@example.com', licenseState: 'CO', status: 1 },
    { kind: 'driver', sourceId: 'bob', name: 'Bob', licenseState: 'NM', status: 0 },
    ...[1, 2, 3].map((hour) => ({
      kind: 'trip',
      sourceId: `trip-${hour}`,
      vehicle: hour === 2 ? 'truck-2' : 'truck-1',
      ...(hour === 3 ? {} : { driver: 'ann' }),
      startedAt: `2026-11-20T0${hour}:00:00Z`,
      distanceKm: 12.5,
      durationSeconds: 1800,
      startLocation: { latitude: 1, longitude: 2 },
    })),
    safetyEvent({
      startedAt: '2026-11-19T10:00:00Z',
      sourceId: 'a',
      incidentTypes: ['crash'],
      driver: 'ann',
    }),
    safetyEvent({
      startedAt: '2026-11-20T00:00:00Z',
      sourceId: 'b',
      incidentTypes: ['hard_brake', 'cell_phone'],
    }),
    safetyEvent({
      startedAt: '2026-11-20T10:00:00Z',
      sourceId: 'c',
      incidentTypes: ['something_new'],
      vehicle: 'truck-2',
      trip: 'not yet known',
      location: { latitude: 3, longitude: 4 },
      maxSpeedKph: 90.5,
      speedLimitKph: 80,
      endedAt: '2026-11-20T10:01:00Z',
    }),
    accident(),
  );
  await as(us.connections[1]?.ingestKey ?? '').send(
    vehicle({ sourceId: 'van', name: 'Van' }),
    { kind: 'trip', sourceId: 'v', vehicle: 'van', startedAt: '2026-11-20T02:30:00Z' },
    { kind: 'driver', sourceId: 'cid', name: 'Cid' },
  );
});
const list = (path: string, connection?: string, token = us.apiToken) =>
  as(token, connection ? { 'Connection-Id': connection } : {}).get<Item[]>(path);
const day = 'from=2026-11-20&to=2026-11-21';
const sourceIds = async (path: string, connection?: string) =>
  (await list(path, connection)).data.map(({ sourceId }) => sourceId);

describe('items have every field of design 7', () => {
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

  it('a connection', async () => {
    const { data, ...reply } = await list('/connections');
    expect(reply).toMatchObject({ status: 200, message: 'Connections' });
    expect(reply).not.toHaveProperty('next');
    expect(data).toEqual([
      {
        id: trucks,
        name: null,
        provider: 'motive',
        tSP: 'Motive',
        healthStatus: 1,
        createdAt: time,
        updatedAt: time,
      },
      {
        id: vans,
        name: null,
        provider: 'samsara',
        tSP: 'Samsara',
        healthStatus: 1,
        createdAt: time,
        updatedAt: time,
      },
    ]);
  });

  it('a driver', async () => {
    const { data } = await list('/drivers?licenseState=CO');
    expect(data).toEqual([
      {
        id: recordId(trucks, 'driver', 'ann'),
        connectionId: trucks,
        sourceId: 'ann',
        name: 'Ann',
        email: 'ann@example.com',
        phone: null,
        licenseState: 'CO',
        licenseNumber: null,
        status: 1,
        createdAt: time,
        updatedAt: time,
      },
    ]);
  });

  it('a vehicle', async () => {
    const { data } = await list('/vehicles?vin=VIN2', trucks);
    expect(data).toEqual([
      {
        id: recordId(trucks, 'vehicle', 'truck-2'),
        connectionId: trucks,
        sourceId: 'truck-2',
        name: 'Truck 2',
        vin: 'VIN2',
        groups: ['North'],
        status: 'inactive',
        make: 'Volvo',
        model: 'FH',
        year: 2021,
        fuelType: 'diesel',
        licensePlate: 'B-FD 1',
        odometerKm: 120_000.5,
        lastLocation: {
          latitude: 1,
          longitude: 2,
          altitudeMeters: null,
          speedKph: 80,
          timestamp: '2026-11-20T19:00:00.000Z',
        },
        createdAt: time,
        updatedAt: time,
      },
    ]);
  });

  it('a trip', async () => {
    const { data } = await list('/trips?limit=1');
    expect(data).toEqual([
      {
        id: recordId(trucks, 'trip', 'trip-1'),
        connectionId: trucks,
        sourceId: 'trip-1',
        vehicleId: recordId(trucks, 'vehicle', 'truck-1'),
        driverId: recordId(trucks, 'driver', 'ann'),
        startedAt: '2026-11-20T01:00:00.000Z',
        endedAt: null,
        startLocation: { latitude: 1, longitude: 2 },
        endLocation: null,
        distanceKm: 12.5,
        durationSeconds: 1800,
        createdAt: time,
        updatedAt: time,
      },
    ]);
  });

  it('a safety event, with the id of a trip that is not known yet, and without recipients', async () => {
    const { data } = await list('/safety-events?from=2026-11-20T01:00:00Z&to=2026-11-21', trucks);
    expect(data).toEqual([
      {
        id: recordId(trucks, 'safetyEvent', 'c'),
        connectionId: trucks,
        tSP: 'Motive',
        sourceId: 'c',
        incidentTypes: ['something_new'],
        translatedIncidentTypes: ['Other'],
        eventRisk: 1,
        issuedOn: '2026-11-20T10:00:00.000Z',
        startedAt: '2026-11-20T10:00:00.000Z',
        endedAt: '2026-11-20T10:01:00.000Z',
        location: { latitude: 3, longitude: 4 },
        vehicleId: recordId(trucks, 'vehicle', 'truck-2'),
        vehicleName: 'Truck 2',
        vehicleVin: 'VIN2',
        vehicleGroups: ['North'],
        driverId: null,
        tripId: recordId(trucks, 'trip', 'not yet known'),
        maxSpeedKph: 90.5,
        speedLimitKph: 80,
        createdAt: time,
        updatedAt: time,
      },
    ]);
  });
});

describe('filters', () => {
  const truck1 = () => recordId(trucks, 'vehicle', 'truck-1');
  const truck2 = () => recordId(trucks, 'vehicle', 'truck-2');
  const ann = () => recordId(trucks, 'driver', 'ann');

  it('of /connections: the Connection-Id', async () => {
    expect((await list('/connections', vans)).data.map(({ id }) => id)).toEqual([vans]);
  });

  it('of /drivers: status and licence state, in all connections or one', async () => {
    expect((await sourceIds('/drivers')).sort()).toEqual(['ann', 'bob', 'cid']);
    expect(await sourceIds('/drivers', vans)).toEqual(['cid']);
    expect((await sourceIds('/drivers?status=1')).sort()).toEqual(['ann', 'cid']);
    expect(await sourceIds('/drivers?status=0&licenseState=CO')).toEqual([]);
  });

  it('of /vehicles: status and VIN', async () => {
    expect((await sourceIds('/vehicles', trucks)).sort()).toEqual(['truck-1', 'truck-2']);
    expect(await sourceIds('/vehicles?status=active', trucks)).toEqual(['truck-1']);
    expect(await sourceIds('/vehicles?vin=VIN2&status=active', trucks)).toEqual([]);
    expect(await sourceIds('/vehicles?vin=VIN2', vans)).toEqual([]);
  });

  it('of /trips: range, vehicles and drivers, repeated or with commas', async () => {
    expect(await sourceIds('/trips')).toEqual(['trip-1', 'trip-2', 'v', 'trip-3']);
    expect(await sourceIds('/trips', vans)).toEqual(['v']);
    expect(await sourceIds('/trips?from=2026-11-20T02:00:00Z&to=2026-11-20T03:00:00Z')).toEqual([
      'trip-2',
      'v',
    ]);
    expect(await sourceIds('/trips?from=2026-11-20T04:00:00%2B01:00')).toEqual(['trip-3']);
    expect(await sourceIds('/trips?to=2026-11-20')).toEqual([]);
    expect(await sourceIds(`/trips?vehicleIds=${truck1()}`)).toEqual(['trip-1', 'trip-3']);
    expect(await sourceIds(`/trips?vehicleIds=${truck1()},${truck2().toUpperCase()}`)).toEqual([
      'trip-1',
      'trip-2',
      'trip-3',
    ]);
    expect(
      await sourceIds(`/trips?vehicleIds=${truck1()}&vehicleIds=${truck2()}&driverIds=${ann()}`),
    ).toEqual(['trip-1', 'trip-2']);
    expect(await sourceIds(`/trips?driverIds=${ann()}`, vans)).toEqual([]);
  });

  it('of /safety-events: range, vehicles, drivers, types and risk', async () => {
    const all = 'from=2026-11-19&to=2026-11-21';
    expect(await sourceIds(`/safety-events?${all}`, trucks)).toEqual(['a', 'b', 'c']);
    expect(await sourceIds(`/safety-events?${day}`, trucks)).toEqual(['b', 'c']);
    expect(await sourceIds('/safety-events?from=2026-11-19&to=2026-11-20', trucks)).toEqual(['a']);
    expect(await sourceIds(`/safety-events?${all}&minEventRisk=4`, trucks)).toEqual(['a', 'b']);
    expect(await sourceIds(`/safety-events?${all}&eventTypes=phone-usage,Other`, trucks)).toEqual(['b', 'c']);
    expect(await sourceIds(`/safety-events?${all}&vehicleIds=${truck2()}`, trucks)).toEqual(['c']);
    expect(await sourceIds(`/safety-events?${all}&driverIds=${ann()}&minEventRisk=5`, trucks)).toEqual(['a']);
    const many = Array.from({ length: 11 }, (_, i) => recordId(trucks, 'vehicle', `none-${i}`));
    expect(await sourceIds(`/safety-events?${all}&vehicleIds=${[truck1(), ...many]}`, trucks)).toEqual([
      'a',
      'b',
    ]);
  });

  it('that are unknown are ignored', async () => {
    expect(await sourceIds('/trips?colour=red&limit=2')).toEqual(['trip-1', 'trip-2']);
  });
});

describe('a list refuses', () => {
  it.each([
    ['/vehicles', undefined, 'Connection-Id header is required'],
    [`/safety-events?${day}`, undefined, 'Connection-Id header is required'],
    ['/trips', 'abc', 'Invalid connection id'],
    ['/vehicles', '00000000-0000-7000-8000-000000000000', 'Invalid connection id'],
    ['/connections', '00000000-0000-7000-8000-000000000000', 'Invalid connection id'],
  ])('%s with Connection-Id %s', async (path, connection, message) => {
    expect(await list(path, connection)).toMatchObject({ status: 400, message });
  });

  it("every list, another account's connection", async () => {
    for (const path of ['/connections', '/drivers', '/vehicles', '/trips', `/safety-events?${day}`])
      expect(await list(path, trucks, them.apiToken)).toMatchObject({
        status: 400,
        message: 'Invalid connection id',
      });
  });

  it.each([
    ['limit=0', 'limit must be a whole number of at least 1'],
    ['limit=-1', 'limit must be a whole number of at least 1'],
    ['limit=1.5', 'limit must be'],
    ['limit=', 'limit must be'],
    ['limit=ten', 'limit must be'],
    ['cursor=', 'Invalid cursor'],
    ['cursor=abc', 'Invalid cursor'],
    ['from=yesterday', 'from must be an RFC 3339 time'],
    ['from=2026-02-31', 'from must be a time that exists'],
    ['from=2026-11-21&to=2026-11-21', 'from must be before to'],
    ['vehicleIds=truck-1', 'vehicleIds must be UUIDs'],
    ['driverIds=', 'driverIds must be UUIDs'],
  ])('/trips?%s', async (query, message) => {
    const reply = await list(`/trips?${query}`);
    expect(reply).toMatchObject({ status: 400, message: expect.stringContaining(message) });
    expect(reply.errors?.[0]?.field).toBe(query.split('=')[0]);
  });

  it.each([
    ['', 'from is required'],
    ['from=2026-11-20', 'to is required'],
    [`${day}&eventTypes=Teleport`, 'eventTypes must be normalised incident types'],
    [`${day}&minEventRisk=6`, 'minEventRisk must be from 1 to 5'],
  ])('/safety-events?%s', async (query, message) => {
    expect(await list(`/safety-events?${query}`, trucks)).toMatchObject({ status: 400, message });
  });

  it.each([
    ['/drivers?status=2', 'status must be 1 (active) or 0 (inactive)'],
    ['/drivers?status=active', 'status must be 1'],
  ])('%s', async (path, message) => {
    expect(await list(path)).toMatchObject({ status: 400, message: expect.stringContaining(message) });
  });
});

describe('limit', () => {
  it('is 50 unless given, and 500 at most', async () => {
    const other = await world();
    const records = (n: number, from: number) =>
      Array.from({ length: n }, (_, i) => vehicle({ sourceId: `v${from + i}` }));
    await as(other.connection.ingestKey).send(...records(500, 0));
    await as(other.connection.ingestKey).send(...records(10, 500));
    const page = (query: string) => list(`/vehicles${query}`, other.connection.id, other.apiToken);
    expect((await page('')).data).toHaveLength(50);
    const first = await page('?limit=9999');
    expect(first.data).toHaveLength(500);
    const second = await page(`?limit=9999&cursor=${first.next}`);
    expect(second.data).toHaveLength(10);
    expect(second).not.toHaveProperty('next');
    expect(new Set([...first.data, ...second.data].map(({ id }) => id)).size).toBe(510);
  });
});
