import {
  fakeTerminal,
  type TerminalData,
  terminalCredential,
  terminalData,
  terminalDriver,
  terminalEvent,
  terminalRaw,
  terminalTrip,
  terminalVehicle,
} from '#test/extras/providers/fleets/terminal.ts';
import { dismissed, providerStory, pullAll, pullStatus, reported } from '#test/support/provider.ts';
import { iso } from '#test/support/providers/fleet.ts';
import { operator } from '#test/support/world.ts';

const day = 86_400_000;
const soon = () => Date.now() + 1_000;

let data: TerminalData;
const tale = providerStory('terminal', () => terminalCredential(data));
const {
  connectWith,
  connected,
  arrived,
  notified,
  levels,
  names,
  drivers,
  events,
  trips,
  accidents,
} = tale;

beforeEach(() => {
  data = terminalData();
  const terminal = fakeTerminal(data, { perPage: 2 });
  tale.hooks.serves('https://api.withterminal.com', terminal);
});

const changed = (item: object, more: object, at = Date.now() + 120_000) =>
  Object.assign(item, more, { metadata: { addedAt: iso(at), modifiedAt: iso(at) } });
const [truck, other] = [terminalVehicle(1), terminalVehicle(2)];

it('loads what there is, and what happened by when it began, as customers know it', async () => {
  data.vehicles[1] = terminalVehicle(2, { name: undefined, vin: undefined, status: 'inactive' });
  data.drivers[1] = terminalDriver(2, {
    firstName: '',
    middleName: '',
    lastName: '',
    username: 'kim.2',
  });
  const days = [2, 9, 20, 29, 31];
  data.events = days.map((ago) => terminalEvent(truck, 'harsh_brake', ago, Date.now() - ago * day));
  data.trips = days.map((ago) => terminalTrip(truck, ago, Date.now() - ago * day));
  const id = await connected([1, 2], { historyDays: 30 });
  const vehicles = await tale.vehicles(id);
  expect(vehicles).toHaveLength(3);
  expect(vehicles.find(({ name }) => name === 'Truck 1')).toMatchObject({
    sourceId: truck.id,
    vin: '1FUJGLDR9CL300001',
    make: 'Freightliner',
    model: 'Cascadia',
    year: 2022,
    fuelType: 'diesel',
    licensePlate: 'TRM-1',
    groups: ['Yard 3', 'Yard 1'],
    status: 'active',
  });
  expect(vehicles.find(({ name }) => name === '281474902')).toMatchObject({
    vin: null,
    status: 'inactive',
  });
  const listed = await drivers(id);
  expect(listed.map(({ name }) => name).sort()).toEqual([
    'Kim Lee Example 1',
    'Kim Lee Example 3',
    'kim.2',
  ]);
  expect(listed.find(({ name }) => name === 'Kim Lee Example 1')).toMatchObject({
    email: 'kim1@example.com',
    phone: '+15125550100',
    licenseState: 'TX',
    licenseNumber: 'TX-1',
    status: 1,
  });
  const [found, driven] = [await events(id), await trips(id)];
  expect([found.length, driven.length]).toEqual([4, 4]);
  expect(tale.hooks.got).toEqual([]);
  const { organisation, feeds } = await pullStatus(id);
  expect(organisation).toBe('Example Haulage');
  expect(feeds.flatMap(({ history }) => history?.share ?? [])).toEqual([1, 1]);
  expect(found[0]).toMatchObject({
    translatedIncidentTypes: ['Harsh Braking'],
    location: { latitude: 32.8, longitude: -96.81 },
    vehicleVin: '1FUJGLDR9CL300001',
    maxSpeedKph: 88.4,
    speedLimitKph: 80,
    issuedOn: iso(Date.parse(String(data.events[3]?.startedAt)) + 60_000),
  });
  expect(driven[0]).toMatchObject({
    startLocation: { latitude: 32.7767, longitude: -96.797 },
    endLocation: { latitude: 32.9, longitude: -96.9 },
    distanceKm: 42.3,
    durationSeconds: 1800,
  });
  const gone = {
    addedAt: iso(0),
    modifiedAt: iso(soon()),
    deletedAt: iso(soon()),
    visibility: 'deleted',
  };
  for (const item of [data.vehicles[2], data.drivers[2]])
    Object.assign(item ?? {}, { metadata: gone });
  await pullAll(id);
  expect(await tale.vehicles(id, { status: 'inactive' })).toHaveLength(2);
  expect(await drivers(id, { status: '0' })).toHaveLength(1);
});

it('tells of nothing from before the connection, and takes over what is changed later', async () => {
  const id = await connected([2]);
  const speeding = terminalEvent(truck, 'speeding', 1, soon(), {
    driver: undefined,
    stats: undefined,
  });
  data.events.push(
    speeding,
    terminalEvent(other, 'cell_phone', 2, soon(), {
      startLocation: undefined,
      extensions: { here: { speedLimit: 90 } },
      stats: { maximumSpeed: 101 },
    }),
    // Taken in late: it began before the connection was made.
    terminalEvent(truck, 'harsh_turn', 3, Date.now() - day, {
      metadata: { modifiedAt: iso(soon()) },
    }),
  );
  await pullAll(id);
  await arrived(2);
  expect(notified().map(({ vehicleName }) => vehicleName)).toEqual(['Truck 1', 'Truck 2']);
  const found = await events(id);
  expect(found).toHaveLength(3);
  expect(found.find(({ vehicleName }) => vehicleName === 'Truck 2')).toMatchObject({
    location: { latitude: 32.8, longitude: -96.8101 },
    speedLimitKph: 90,
  });
  changed(speeding, { driver: data.drivers[0]?.id });
  await pullAll(id);
  const [after] = await events(id, { eventTypes: 'Speeding' });
  expect(after?.driverId).not.toBeNull();
  changed(
    speeding,
    { raw: [terminalRaw('motive', { coaching_status: 'dismissed' })] },
    Date.now() + 240_000,
  );
  await pullAll(id);
  expect(await events(id, { withdrawn: 'true' })).toMatchObject([{ vehicleName: 'Truck 1' }]);
  expect(tale.hooks.got).toHaveLength(2);
});

const samsara = (eventState: string) =>
  terminalRaw('samsara', { eventState, behaviorLabels: [{ label: 'Crash', source: 'automated' }] });

it('a crash follows what the provider behind Terminal says, and has a report with its video', async () => {
  const id = await connected([1]);
  const crash = terminalEvent(truck, 'crash', 1, soon(), { raw: [samsara('needsReview')] });
  const alarm = terminalEvent(other, 'crash', 2, soon(), {
    provider: 'motive',
    raw: [
      terminalRaw('motive', { driver_performance_event: { coaching_status: 'pending_review' } }),
    ],
  });
  data.events.push(crash, alarm);
  await pullAll(id);
  await arrived(2);
  changed(crash, { raw: [samsara('coached')] });
  changed(alarm, { raw: [terminalRaw('motive', { coaching_status: 'uncoachable' })] });
  await pullAll(id);
  await arrived(4);
  changed(crash, { cameraMedia: { frontFacing: { available: true } } }, Date.now() + 240_000);
  await pullAll(id);
  await arrived(5);
  expect(levels(truck.vin)).toEqual(reported);
  expect(levels(other.vin)).toEqual(dismissed);
});

it('a crash is dismissed when it has become something else, or else stays at level 1', async () => {
  const id = await connected([1]);
  const near = terminalEvent(truck, 'crash', 1, soon(), { provider: 'azuga' });
  const crash = terminalEvent(other, 'crash', 2, soon(), {
    provider: 'azuga',
    cameraMedia: { frontFacing: { available: true } },
  });
  data.events.push(near, crash);
  await pullAll(id);
  changed(near, { type: 'near_crash' });
  await pullAll(id);
  await arrived(3);
  expect(levels(truck.vin)).toEqual(dismissed);
  expect(levels(other.vin)).toEqual([[1, false, false]]);
  expect((await accidents(id)).map(({ dismissed }) => dismissed).sort()).toEqual([false, true]);
});

it("counts the provider's own word where the connection's map has it", async () => {
  const id = await connected([], { incidentTypeMap: { HARSH_U_TURN: ['Unsafe Maneuver'] } });
  data.events = ['HARSH_U_TURN', 'HARSH_LEFT'].map((sourceType, n) =>
    terminalEvent(truck, 'harsh_turn', n, soon(), { sourceType }),
  );
  await pullAll(id);
  expect((await events(id)).map(({ incidentTypes }) => String(incidentTypes)).sort()).toEqual([
    'harsh_turn',
    'harsh_turn,HARSH_U_TURN',
  ]);
});

it('says that Terminal has lost the customer, and goes on when they are back', async () => {
  const id = await connected();
  data.status = 'disconnected';
  const why =
    'Terminal is no longer connected to Samsara: the customer has to connect it again, through Terminal.';
  expect((await tale.tryToConnect()).message).toBe(`credential ${why}`);
  await pullAll(id);
  expect(await tale.vehicles(id)).toHaveLength(3);
  const problem = (await pullStatus(id)).feeds.find(({ feed }) => feed === 'vehicles')?.problem;
  expect(problem?.advice).toBe(`${why} We will keep trying.`);
  data.status = 'connected';
  await pullAll(id);
  expect((await pullStatus(id)).feeds.map(({ problem }) => problem)).toEqual([
    null,
    null,
    null,
    null,
  ]);
  changed(data.vehicles[0] ?? {}, { name: 'Truck one' });
  await pullAll(id);
  expect(await names(id)).toContain('Truck one');
});

it('tells connections apart by their tokens, and takes another secret key for one', async () => {
  const id = await connectWith(terminalCredential(data));
  expect((await tale.tryToConnect()).status).toBe(400);
  data.secretKey = 'sk_prod_secret_2';
  const path = `/operator/connections/${id}/credential`;
  expect((await operator.put(path, { credential: terminalCredential(data) })).status).toBe(200);
  await pullAll(id);
  expect(await tale.vehicles(id)).toHaveLength(3);
});
