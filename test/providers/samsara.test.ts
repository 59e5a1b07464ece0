import { beforeEach, expect, it, vi } from 'vitest';
import {
  fakeSamsara,
  type SamsaraData,
  samsaraDriver,
  samsaraEvent,
  samsaraTrip,
  samsaraVehicle,
} from '../../src/dev/fakes/samsara.ts';
import { connect, pullAll, read } from '../support/provider.ts';
import { receiver } from '../support/receiver.ts';
import { as, operator, type World, webhookBody, world } from '../support/world.ts';

const origin = 'https://api.samsara.com';
const day = 86_400_000;
const iso = (ms: number) => new Date(ms).toISOString();

let us: World;
let hooks: ReturnType<typeof receiver>;
let data: SamsaraData;

beforeEach(async () => {
  hooks = receiver();
  us = await world();
  const vehicles = [1, 2, 3].map((n) => samsaraVehicle(n));
  data = {
    organisation: 'Acme Trucking',
    token: 'samsara_api_secret_1',
    vehicles,
    drivers: [samsaraDriver(1), samsaraDriver(2, { driverActivationStatus: 'deactivated' })],
    trips: [],
    events: [],
  };
  hooks.serves(origin, fakeSamsara(data, { perPage: 2 }));
  return () => vi.restoreAllMocks();
});

const connected = (more?: object) => connect(us, 'samsara', data.token, more);

it('takes in vehicles and drivers, all pages of them, as customers know them', async () => {
  const id = await connected();
  await pullAll(id);
  const vehicles = await read(us, id, '/vehicles');
  expect(vehicles).toHaveLength(3);
  expect(vehicles.find(({ name }) => name === 'Truck 1')).toMatchObject({
    vin: '1FUJGLDR5CL100001',
    make: 'Freightliner',
    year: 2022,
    licensePlate: 'PLT-1',
    groups: ['North'],
    status: 'active',
  });
  const drivers = await read(us, id, '/drivers');
  expect(drivers.map(({ name, status }) => [name, status]).sort()).toEqual([
    ['Robin Reyes 1', 1],
    ['Robin Reyes 2', 0],
  ]);
});

it('tells of what happens after the connection was made, once, and of nothing before', async () => {
  const [truck] = data.vehicles;
  if (!truck) throw new Error('no truck');
  const before = Date.now() - 3 * day;
  data.events.push(samsaraEvent(truck, 'Braking', before));
  data.trips.push(samsaraTrip(truck, before));
  const id = await connected({ historyDays: 30 });
  await as(us.apiToken).post('/webhook', webhookBody(us, { connectionIds: [id] }));
  await pullAll(id);
  expect(hooks.got).toEqual([]);
  data.events.push(samsaraEvent(truck, 'Speeding', Date.now() + 1));
  await pullAll(id);
  await pullAll(id);
  await vi.waitFor(() => expect(hooks.got).toHaveLength(1), { timeout: 20_000 });
  const range = `from=${iso(before - day)}&to=${iso(Date.now() + day)}`;
  const events = await read(us, id, `/safety-events?${range}`);
  expect(events).toHaveLength(2);
  expect(events[0]).toMatchObject({ location: { address: '1437 Bannock Street, Denver, Colorado' } });
  expect(await read(us, id, `/trips?${range}`)).toHaveLength(1);
  expect(hooks.got[0]?.body.data).toMatchObject({
    vehicleName: 'Truck 1',
    translatedIncidentTypes: ['Speeding'],
  });
});

it('raises a crash through its levels as Samsara confirms it, and dismisses what was none', async () => {
  const [truck, other] = data.vehicles;
  if (!truck || !other) throw new Error('no trucks');
  const id = await connected();
  await as(us.apiToken).post('/webhook', webhookBody(us, { connectionIds: [id], notificationTypes: [1] }));
  await pullAll(id);
  const crash = samsaraEvent(truck, 'Crash', Date.now() + 1);
  const alarm = samsaraEvent(other, 'Crash', Date.now() + 1);
  data.events.push(crash, alarm);
  await pullAll(id);
  const change = (event: object, more: object) =>
    Object.assign(event, more, { updatedAtTime: iso(Date.now() + 60_000) });
  change(crash, { eventState: 'reviewed' });
  change(alarm, { eventState: 'dismissed', dismissalReason: { code: 'incorrect' } });
  await pullAll(id);
  change(crash, {
    updatedAtTime: iso(Date.now() + 90_000),
    media: [{ input: 'front', url: 'https://media.example.com/1' }],
  });
  await pullAll(id);
  await vi.waitFor(() => expect(hooks.got).toHaveLength(5), { timeout: 20_000 });
  const told = hooks.got.map(({ body }) => body.data);
  const levels = (vin: unknown) =>
    told
      .filter((one) => one.vin === vin)
      .map((one) => [one.notificationLevel, one.isAccurate, one.reportReady]);
  expect(levels(truck.vin)).toEqual([
    [1, false, false],
    [2, true, false],
    [3, true, true],
  ]);
  expect(levels(other.vin)).toEqual([
    [1, false, false],
    [2, false, false],
  ]);
  const range = `from=${iso(Date.now() - day)}&to=${iso(Date.now() + day)}`;
  const accidents = await read(us, id, `/accidents?${range}`);
  expect(accidents.map(({ dismissed }) => dismissed).sort()).toEqual([false, true]);
  expect(accidents.find(({ vin }) => vin === truck.vin)).toMatchObject({
    reportUrl: crash.incidentReportUrl,
  });
});

it('is not led astray by a time in the future', async () => {
  hooks.serves(origin, async (request) => {
    const reply = await fakeSamsara(data, { perPage: 500 })(request);
    if (!request.url.includes('/safety-events/')) return reply;
    const { data: items } = await reply.json<{ data: unknown[] }>();
    return Response.json({ data: items, pagination: { hasNextPage: false } }); // no cursor goes on working
  });
  const [truck] = data.vehicles;
  const id = await connected();
  await pullAll(id);
  data.events.push(
    samsaraEvent(truck ?? {}, 'Braking', Date.now() + 1, { updatedAtTime: '2099-01-01T00:00:00Z' }),
  );
  await pullAll(id);
  data.events.push(
    samsaraEvent(truck ?? {}, 'HarshTurn', Date.now() + 2, { updatedAtTime: iso(Date.now()) }),
  );
  await pullAll(id);
  const range = `from=${iso(Date.now() - day)}&to=${iso(Date.now() + day)}`;
  expect(await read(us, id, `/safety-events?${range}`)).toMatchObject([{ incidentTypes: ['HarshTurn'] }]);
});

it('tells at once of an event whose vehicle is not known yet', async () => {
  const id = await connected();
  await as(us.apiToken).post('/webhook', webhookBody(us, { connectionIds: [id] }));
  await pullAll(id);
  const fresh = samsaraVehicle(9);
  data.events.push(samsaraEvent(fresh, 'Braking', Date.now() + 1));
  await pullAll(id);
  await vi.waitFor(() => expect(hooks.got).toHaveLength(1), { timeout: 20_000 });
  expect(hooks.got[0]?.body.data).toMatchObject({ vehicleName: 'Truck 9', vehicleVin: fresh.vin });
});

it('goes on with the other records when one is not as it should be, and says which and why', async () => {
  data.vehicles = [
    samsaraVehicle(1, { name: 'n'.repeat(1_000_000) }),
    samsaraVehicle(2, { vin: null, year: 2022, tags: 'none', make: 7 }),
    samsaraVehicle(3, { vin: null }),
    null as never,
  ];
  const id = await connected();
  await pullAll(id);
  expect((await read(us, id, '/vehicles')).map(({ name }) => name)).toEqual(['Truck 3']);
  const { data: status } = await operator.get<{ refusals: { kind: string; reason: string }[] }>(
    `/operator/connections/${id}/pull`,
  );
  expect(status.refusals.map(({ kind, reason }) => `${kind}: ${reason}`).sort()).toEqual([
    'vehicle: make must be a string',
    'vehicle: name can be at most 200 characters; name can be at most 200 bytes',
    'vehicle: sourceId must be a string; name must be a string',
  ]);
});

it('refuses a credential that Samsara refuses, and saves nothing', async () => {
  const path = `/operator/accounts/${us.accountId}/connections`;
  const { data: before } = await operator.get(path);
  const { status, message, errors } = await operator.post(path, {
    provider: 'samsara',
    credential: 'samsara_api_wrong',
  });
  expect(status).toBe(400);
  expect(errors?.[0]?.field).toBe('credential');
  expect(message).toContain('Samsara refuses the API token');
  expect(message).not.toContain('samsara_api_wrong');
  expect((await operator.get(path)).data).toEqual(before);
});
