import { maxReplyBytes } from '#src/extras/providers/connector/call.ts';
import { nextTry } from '#src/extras/providers/geotab/exceptions.ts';
import { distanceOf } from '#src/extras/providers/geotab/records.ts';
import {
  aheadBy,
  dismissed,
  providerStory,
  pullAll,
  pullColumn,
  pullRun,
  reported,
} from '#test/support/provider.ts';
import { add, type Item, iso } from '#test/support/providers/fleet.ts';
import {
  fakeGeotab,
  type GeotabCall,
  type GeotabFault,
  geotabChange,
  geotabCredential,
  geotabDatabase,
  geotabDevice,
  geotabError,
  geotabException,
  geotabPosition,
  geotabRule,
  geotabTrip,
  geotabUser,
} from '#test/support/providers/geotab.ts';
import { rows } from '#test/support/rows.ts';
import { operator } from '#test/support/world.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

let made = 0;
let data: ReturnType<typeof geotabDatabase>;
let vans: [Item, Item, Item];
let calls: GeotabCall[];
let fault: GeotabFault;
const tale = providerStory('geotab', () => geotabCredential(data));
const { connected, arrived, notified, levels, names, drivers, trips, events, accidents } = tale;
const connectOnly = (more?: object) => tale.connectWith(geotabCredential(data), [], more);

beforeEach(() => {
  data = geotabDatabase(`acme${made++}`); // connections of other tests may still be pulled: not from this one
  vans = [geotabDevice(1), geotabDevice(2), geotabDevice(3)];
  data.devices.push(...vans);
  calls = [];
  fault = () => undefined;
  serve();
});

/** Has the database served at the usual host, and with `moves` at that one alone. */
function serve(options: { perPage?: number; moves?: string } = {}) {
  const fake = fakeGeotab(data, {
    perPage: 2,
    ...options,
    fault(call) {
      calls.push(call);
      return fault(call);
    },
  });
  for (const host of ['my', 'my42', 'my43']) tale.hooks.serves(`https://${host}.geotab.com`, fake);
}

const count = (method: string) => calls.filter((call) => call.method === method).length;
/** Where the events of a connection were, as far as that is known. */
const latitudes = async (id: string) =>
  (await events(id))
    .map(({ location }) => (location as { latitude: number } | null)?.latitude)
    .sort();
const stored = (id: string) => rows('select 1 from safety_events where connection_id = ?1', id);

/** An event of the vehicle from now on, wherever it was then. */
const braking = (van: Item, more: Item = {}, at = Date.now() + 1): Item =>
  add(data.exceptions, geotabException(van, 'RuleHarshBrakingId', at, more));

/** Something of the vehicle that happens from now on, where it was then. */
function happens(van: Item, rule: string, more: Item = {}, at = Date.now() + 1): Item {
  data.positions.push(geotabPosition(van, at - 5_000));
  return add(data.exceptions, geotabException(van, rule, at, more));
}

const dismiss = (exception: Item) =>
  geotabChange(exception, {
    state: 'ExceptionEventStateDismissedId',
    lastModifiedDateTime: iso(Date.now() + 30_000),
  });

async function pullAfter(id: string, minutes: number) {
  aheadBy(minutes);
  await pullAll(id);
}

type Feeds = { [name: string]: { cursor: Item; problem?: Item } };

const feedsOf = async (id: string): Promise<Feeds> =>
  JSON.parse(String(await pullColumn(id, 'feeds')));

const cursorOf = async (id: string) => (await feedsOf(id)).events?.cursor ?? {};

const problemOf = async (id: string) =>
  Object.values(await feedsOf(id)).find(({ problem }) => problem !== undefined)?.problem;

it('vehicles and drivers come whole, as customers know them', async () => {
  data.devices.push(
    geotabDevice(4, { deviceType: 'None', name: 'Trailer' }),
    geotabDevice(5, {
      vehicleIdentificationNumber: '?',
      engineVehicleIdentificationNumber: '2FZHATDC5KAA00001',
      vinInfoYear: undefined,
      activeTo: '2026-01-01T00:00:00.000Z',
      groups: Array.from({ length: 40 }, (_, i) => ({ id: `c${i}` })),
    }),
  );
  for (let i = 0; i < 40; i++)
    data.groups.push({ id: `c${i}`, name: `Depot ${String(i).padStart(2, '0')}` });
  data.users.push(
    geotabUser(1),
    geotabUser(2, {
      name: 'lee',
      firstName: '',
      lastName: '',
      activeTo: '2026-01-01T00:00:00.000Z',
    }),
    geotabUser(3, { isDriver: false }),
  );
  const id = await connected();
  const vehicles = await tale.vehicles(id);
  const named = (name: string) => vehicles.find((one) => one.name === name);
  expect(vehicles).toHaveLength(4);
  expect(named('Van 1')).toMatchObject({
    vin: '1FTBW3XM510000001',
    make: 'Ford',
    model: 'Transit',
    year: 2023,
    licensePlate: 'VAN-1',
    groups: ['North'],
    status: 'active',
  });
  expect(named('Van 5')).toMatchObject({
    vin: '2FZHATDC5KAA00001',
    year: null,
    status: 'inactive',
  });
  expect(named('Van 5')?.groups).toHaveLength(20);
  expect(
    (await drivers(id)).map(({ name, email, status }) => [name, email, status]).sort(),
  ).toEqual([
    ['Sam Ortiz 1', 'sam1@acme.example.com', 1],
    ['lee', null, 0],
  ]);
});

it('vehicles and drivers are followed by version, and walked through once a day', async () => {
  const id = await connected();
  geotabChange(vans[0], { name: 'Van 1 (new)' });
  data.devices.push(geotabDevice(6));
  const walks = () => calls.filter(({ params }) => params.sort !== undefined).length;
  const before = walks();
  await pullAll(id);
  expect(walks()).toBe(before);
  expect(await names(id)).toEqual(['Van 1 (new)', 'Van 2', 'Van 3', 'Van 6']);
  Object.assign(vans[1], { activeTo: iso(Date.now() - 1) }); // no new version: its time has run out
  await pullAfter(id, 24 * 60 + 1);
  expect(await names(id, { status: 'inactive' })).toEqual(['Van 2']);
});

it('trips come with where they ended, once, and in their last version', async () => {
  const trip = geotabTrip(vans[0], Date.now() - 3 * day);
  data.trips.push(trip, geotabTrip(vans[1], Date.now() - 9 * day, { driver: 'UnknownDriverId' }));
  const id = await connected([], { historyDays: 20 });
  data.trips.push(geotabTrip(vans[2], Date.now() + 1));
  geotabChange(trip, { distance: 25.1 });
  await pullAll(id);
  const listed = await trips(id);
  expect(listed).toHaveLength(3);
  expect(listed.find(({ startedAt }) => startedAt === trip.start)).toMatchObject({
    endedAt: trip.stop,
    startLocation: null,
    endLocation: { latitude: 39.75, longitude: -104.87 },
    distanceKm: 25.1,
    durationSeconds: 1800,
  });
  expect(listed.filter(({ driverId }) => driverId === null)).toHaveLength(1);
});

describe('safety events', () => {
  it('come with the place that is nearest in time', async () => {
    const before = Date.now() - 3 * day;
    happens(vans[0], 'RuleHarshBrakingId', {}, before);
    const id = await connected([2], { historyDays: 30 });
    const at = Date.now() + 1;
    happens(vans[1], 'RulePostedSpeedingId', { details: { maxSpeed: 121, speedLimit: 100 } }, at);
    data.positions.push(
      geotabPosition(vans[1], at + 2_000, { latitude: 40.1, longitude: -105.1 }),
      geotabPosition(vans[2], at, { latitude: 50, longitude: -100 }),
    );
    await pullAll(id);
    await arrived(1);
    expect(notified()).toMatchObject([
      { vehicleName: 'Van 2', translatedIncidentTypes: ['Speeding'] },
    ]);
    expect(await events(id)).toMatchObject([
      { startedAt: iso(before), location: { latitude: 39.7392, longitude: -104.9903 } },
      {
        incidentTypes: ['RulePostedSpeedingId'],
        location: { latitude: 40.1, longitude: -105.1 },
        maxSpeedKph: 121,
        speedLimitKph: 100,
        startedAt: iso(at),
        issuedOn: iso(at + 20_000),
        endedAt: iso(at + 4_000),
      },
    ]);
  });

  it("are those of stock rules, and of customers' by name or by the connection's map", async () => {
    data.rules.push(
      geotabRule('aOwn1', 'Hard Cornering'),
      geotabRule('aOwn2', 'Depot speed'),
      geotabRule('aOwn3', 'Left the zone'),
    );
    const incidentTypeMap = { 'Depot speed': ['Speeding'], RuleHarshBrakingId: [] };
    const id = await connectOnly({ incidentTypeMap });
    const own = ['aOwn1', 'aOwn2', 'aOwn3'];
    const stock = ['RuleEngineLightOnId', 'RuleHarshBrakingId', 'RuleJackrabbitStartsId'];
    for (const [i, rule] of [...own, ...stock].entries())
      happens(vans[0], rule, {}, Date.now() + 1 + i);
    await pullAll(id);
    const words = async () =>
      (await events(id)).flatMap(({ incidentTypes }) => incidentTypes).sort();
    expect(await words()).toEqual(['Depot speed', 'Hard Cornering', 'RuleJackrabbitStartsId']);
    await operator.patch(`/operator/connections/${id}`, {
      incidentTypeMap: { 'Left the zone': ['Other'] },
    });
    happens(vans[0], 'aOwn3', {}, Date.now() + 99);
    await pullAll(id);
    expect(await words()).toContain('Left the zone');
    const asked = calls.filter(({ typeName }) => typeName === 'Rule');
    expect(asked).toHaveLength(2); // not on every pull
  });

  it('get a place that arrives within an hour, but are notified immediately', async () => {
    const id = await connected([2]);
    const at = Date.now() + 1;
    for (const van of vans.slice(0, 2)) braking(van, { diagnostics: 'x'.repeat(3000) }, at); // much that we do not need
    data.positions.push(geotabPosition(vans[1], at - 5 * minute)); // too far for a precise place
    await pullAll(id);
    await arrived(2);
    expect(await latitudes(id)).toEqual([undefined, undefined]);
    expect(await cursorOf(id)).toMatchObject({ waiting: [{ word: 'RuleHarshBrakingId' }, {}] });
    data.positions.push(geotabPosition(vans[0], at + 1_000, { latitude: 41 }));
    await pullAfter(id, 2);
    expect(await latitudes(id)).toEqual([41, undefined]);
    await pullAfter(id, 13);
    expect(await latitudes(id)).toEqual([39.7392, 41]);
    expect((await cursorOf(id)).waiting).toEqual([]);
    expect(tale.hooks.got).toHaveLength(2);
  });

  it.each([
    ['over the limit', () => geotabError('OverLimitException')],
    ['a page of HTML', () => new Response('<html>')],
    ['half a reply', () => new Response('{"result": [')],
  ])(
    'are notified though what is looked up is %s, and get their place once it is not',
    async (_, reply) => {
      const id = await connected([1, 2]);
      happens(vans[0], 'RuleHarshBrakingId');
      happens(vans[1], 'RuleEnhancedMajorCollisionId');
      fault = ({ method }) => (method === 'ExecuteMultiCall' ? reply() : undefined);
      await pullAll(id);
      await arrived(2);
      expect(await latitudes(id)).toEqual([undefined, undefined]);
      fault = () => undefined;
      await pullAll(id);
      await arrived(3);
      expect(await latitudes(id)).toEqual([39.7392, 39.7392]);
      expect(levels(vans[1].vehicleIdentificationNumber)).toEqual([[1, false, false]]);
    },
  );

  it('stop waiting for a place after an hour, and never wait in unbounded numbers', async () => {
    const id = await connected();
    const at = Date.now() + 1;
    for (let i = 0; i < 310; i++) braking(vans[0], {}, at + i);
    braking(vans[1], { id: `a${'x'.repeat(5_000)}` }, at); // refused, and too long to keep
    await pullAll(id);
    const { waiting } = await cursorOf(id);
    expect(waiting).not.toHaveLength(310);
    expect(JSON.stringify(waiting).length).toBeGreaterThan(27_000);
    expect(JSON.stringify(waiting).length).toBeLessThan(28_100);
    await pullAfter(id, 62);
    for (let i = 0; i < 12; i++) await pullRun(id);
    expect((await cursorOf(id)).waiting).toEqual([]);
    expect(await stored(id)).toHaveLength(310);
  });

  it('that are dismissed are withdrawn, and wait for a place no longer', async () => {
    const id = await connectOnly();
    const at = Date.now() + 1;
    const event = braking(vans[0], { state: undefined }, at);
    braking(vans[1], { state: 'ExceptionEventStateDismissedId' });
    await pullAll(id);
    expect((await cursorOf(id)).waiting).toHaveLength(1);
    dismiss(event);
    await pullAll(id);
    expect((await cursorOf(id)).waiting).toEqual([]);
    expect((await events(id)).map(({ withdrawn }) => withdrawn)).toEqual([true, true]);
  });

  it('of history get their place though its first look-up brings a page of HTML', async () => {
    const at = Date.now() - day;
    happens(vans[0], 'RuleHarshBrakingId', {}, at);
    let failures = 0;
    fault = ({ method, params }) =>
      method === 'ExecuteMultiCall' &&
      JSON.stringify(params).includes('LogRecord') &&
      failures++ === 0
        ? new Response('<html>')
        : undefined;
    const id = await connected([], { historyDays: 2 });
    await pullAll(id);
    expect(failures).toBeGreaterThan(1);
    expect(await rows('select location from safety_events where connection_id = ?1', id)).toEqual([
      { location: expect.stringContaining('39.7392') },
    ]);
  });

  it('that are many are read from history in spans small enough to come whole', async () => {
    const at = Date.now() - 2 * day;
    for (let i = 0; i < 240; i++) braking(vans[0], {}, at + i * minute);
    // One that lasts for days overlaps every span, and is there once.
    happens(vans[1], 'RuleIdlingId', { activeTo: iso(Date.now() - hour) }, at - 3 * day);
    const id = await connected([], { historyDays: 10 });
    expect(await stored(id)).toHaveLength(241);
    const lookUps = calls.filter(({ params }) => JSON.stringify(params).includes('LogRecord'));
    expect(lookUps.length).toBeGreaterThan(4);
  });
});

describe('collisions', () => {
  it('are level 1 when they are seen, and level 2 after an hour unless dismissed', async () => {
    const id = await connected([1]);
    happens(vans[0], 'RuleEnhancedMajorCollisionId');
    const alarm = happens(vans[1], 'RuleEnhancedMinorCollisionId');
    happens(vans[2], 'RuleAccidentId');
    await pullAll(id);
    await arrived(3);
    expect((await cursorOf(id)).waiting).toHaveLength(2);
    dismiss(alarm);
    await pullAll(id);
    expect((await cursorOf(id)).waiting).toHaveLength(1);
    await pullAfter(id, 62);
    await arrived(5);
    const vins = vans.map(({ vehicleIdentificationNumber: vin }) => vin);
    const first = [1, false, false];
    expect(vins.map(levels)).toEqual([
      [first, [2, true, false]],
      [first, [2, false, false]],
      [first],
    ]);
    expect((await cursorOf(id)).waiting).toEqual([]);
    const listed = await accidents(id);
    const listedAs = (vin: unknown) => listed.find((one) => one.vin === vin);
    expect(vins.map((vin) => listedAs(vin)?.dismissed)).toEqual([false, true, false]);
    expect(listed.map(({ severity }) => severity).sort()).toEqual(['high', 'low', null]);
    expect(listedAs(vins[0])?.location).toMatchObject({ latitude: 39.7392, longitude: -104.9903 });
    expect(await events(id)).toHaveLength(3);
  });

  describe('that several rules find, seconds apart,', () => {
    it('are one accident, also when the second is known later, and was made earlier', async () => {
      const id = await connected([1]);
      const at = Date.now() + 10_000;
      happens(vans[0], 'RuleAccidentId', {}, at);
      await pullAll(id);
      await arrived(1);
      happens(vans[0], 'RuleEnhancedMinorCollisionId', {}, at - 3_000);
      happens(vans[1], 'RuleEnhancedMinorCollisionId', {}, at); // another vehicle's
      happens(vans[0], 'RuleAccidentId', {}, at + 5 * minute); // another time
      await pullAll(id);
      await pullAfter(id, 70);
      await arrived(5);
      const found = (await accidents(id)).map(
        ({ severity, notificationLevel }) => `${severity} ${notificationLevel}`,
      );
      expect(found.sort()).toEqual(['low 2', 'low 2', 'null 1']);
      expect(await events(id)).toHaveLength(4);
    });

    it('are a false alarm once the one that Geotab analyses is dismissed', async () => {
      const id = await connected([1]);
      const at = Date.now() + 1;
      happens(vans[0], 'RuleAccidentId', {}, at);
      const major = happens(vans[0], 'RuleEnhancedMajorCollisionId', {}, at + 2_000);
      const legacy = happens(vans[1], 'RuleAccidentId', {}, at);
      happens(vans[1], 'RuleEnhancedMajorCollisionId', {}, at + 2_000);
      await pullAll(id);
      await arrived(2);
      for (const exception of [major, legacy]) dismiss(exception);
      await pullAll(id);
      await pullAfter(id, 62);
      await arrived(4);
      const [first, other] = vans.map(({ vehicleIdentificationNumber: vin }) => levels(vin));
      expect([first, other]).toEqual([dismissed, reported.slice(0, 2)]);
      expect((await accidents(id)).map(({ dismissed }) => dismissed).sort()).toEqual([false, true]);
    });
  });

  it('of history are confirmed or dismissed, one for several rules, and notify nobody', async () => {
    const at = Date.now() - 2 * day;
    happens(vans[0], 'RuleAccidentId', {}, at);
    happens(vans[0], 'RuleEnhancedMajorCollisionId', {}, at + 2_000);
    happens(
      vans[1],
      'RuleEnhancedMajorCollisionId',
      { state: 'ExceptionEventStateDismissedId' },
      at,
    );
    const id = await connected([1, 2], { historyDays: 10 });
    const listed = await accidents(id);
    expect(
      listed.map(({ notificationLevel: level, dismissed }) => `${level} ${dismissed}`).sort(),
    ).toEqual([...['1 true', '2 false']]);
    expect(tale.hooks.got).toEqual([]);
  });
});

describe('sessions', () => {
  it('are kept from run to run, and renewed once they have expired', async () => {
    const id = await connected();
    await pullAll(id);
    expect(count('Authenticate')).toBe(2); // to test the credential, and for the first turn
    data.sessions.clear();
    happens(vans[0], 'RuleHarshBrakingId');
    await pullAll(id);
    expect(count('Authenticate')).toBe(3);
    expect(await events(id)).toHaveLength(1);
  });

  it('are good for the server that Geotab names', async () => {
    serve({ moves: 'my42.geotab.com' });
    const id = await connected();
    expect(await names(id)).toHaveLength(3);
    const others = calls.filter(({ method }) => method !== 'Authenticate');
    expect(others.filter(({ host }) => host !== 'my42.geotab.com')).toEqual([]);
    // The database moves once more: its old server does not have it.
    serve({ moves: 'my43.geotab.com' });
    await pullRun(id);
    await pullAll(id);
    expect(calls.at(-1)?.host).toBe('my43.geotab.com');
    expect(await problemOf(id)).toBeUndefined();
  });

  it.each(['geotab.com.evil.example.com', '10.0.0.1', 'my.geotab.com/@evil.com'])(
    "never go to a server that is not Geotab's: %s",
    async (path) => {
      const credentials = { sessionId: 's', database: 'acme', userName: 'u' };
      fault = () => Response.json({ result: { credentials, path } });
      expect(await tale.tryToConnect()).toMatchObject({
        status: 400,
        message: expect.stringContaining('a server that is not its own'),
      });
      expect(calls.map(({ method }) => method)).toEqual(['Authenticate']);
    },
  );
});

it.each([
  ['secret', 'must be JSON'],
  ['{"server": "a b", "database": "acme", "user": "u", "password": "p"}', 'must be a host'],
  [
    '{"server": "10.0.0.1", "database": "acme", "user": "u", "password": "p"}',
    'must be a public host',
  ],
  ['{"database": "acme", "user": "\\u0007", "password": "p"}', 'user must have'],
])('a credential that cannot be one is refused: %s', async (credential, reason) => {
  const { status, message } = await tale.tryToConnect(credential);
  expect([status, message]).toEqual([400, expect.stringContaining(reason)]);
  expect(calls).toEqual([]);
});

it('a credential is the same one with another password, and another one for another database', async () => {
  await connectOnly();
  const again = await tale.tryToConnect(geotabCredential(data, 'https://MY.geotab.com/'));
  expect([again.status, again.message]).toEqual([400, expect.stringContaining('already')]);
  data.database = 'other';
  expect((await tale.tryToConnect()).status).toBe(200);
});

describe('what goes wrong', () => {
  const inAMinute = () => iso(Date.now() + 58_000);
  it.each([
    ['', () => ({ 'retry-after': '58' })],
    [', and when it is reset', () => ({ 'x-rate-limit-reset': inAMinute() })],
  ])(
    'a limit in a reply of 200%s has the connection wait as long as Geotab says',
    async (_, headers) => {
      const id = await connected();
      happens(vans[0], 'RuleHarshBrakingId');
      fault = ({ typeName }) =>
        typeName === 'ExceptionEvent' ? geotabError('OverLimitException', headers()) : undefined;
      const before = Date.now();
      await pullRun(id);
      expect(Math.round((Number(await pullColumn(id, 'due_at')) - before) / 10_000)).toBe(6);
      fault = () => undefined;
      await pullAll(id);
      expect(await events(id)).toHaveLength(1);
    },
  );

  it.each([
    ['the database is being moved', () => geotabError('DbUnavailableException'), 'unavailable'],
    ['the balancer refuses', () => new Response('<html>', { status: 403 }), 'unavailable'],
    ['an error has no type', () => Response.json({ error: 'no' }), 'unexpected'],
  ])('when %s, the feed waits, and nothing is lost', async (_, reply, kind) => {
    const id = await connected();
    happens(vans[0], 'RuleHarshBrakingId');
    fault = ({ method, typeName }) =>
      method === 'GetFeed' && typeName === 'ExceptionEvent' ? reply() : undefined;
    await pullRun(id);
    expect(await problemOf(id)).toMatchObject({ kind });
    fault = () => undefined;
    await pullAll(id);
    expect(await events(id)).toHaveLength(1);
    expect(await problemOf(id)).toBeUndefined();
  });

  it.each([
    ['more than is read of any reply', () => new Response('{}'.padEnd(maxReplyBytes + 1))],
    ['what is no JSON', () => new Response('<html>')],
    ['only some of the results', () => Response.json({ result: [] })],
    ['that the login may not see it, nor rules', () => geotabError('GenericException'), 'Rule'],
  ])('events do not wait for a look-up that returns %s', async (_, reply, also = 'no other') => {
    fault = ({ method, typeName }) =>
      method === 'ExecuteMultiCall' || typeName === also ? reply() : undefined;
    const id = await connectOnly();
    happens(vans[0], 'RuleHarshBrakingId');
    await pullAll(id);
    expect(await latitudes(id)).toEqual([undefined]);
    expect(await problemOf(id)).toBeUndefined();
  });
});

it.each([
  [{ distance: 113.27, maximumSpeed: 104 }, 113.27],
  [{ distance: 113_276.75, maximumSpeed: 104 }, 113.27675],
  [{ distance: 113_276.75 }, 113.27675],
  [{ distance: 113.27, maximumSpeed: 'fast' }, 113.27],
  [{ distance: 'far' }, 'far'], // is dropped, with a warning
  [{}, null],
])('what Geotab writes means by the distance of %j in 1:27:41 %j km', (trip, km) => {
  expect(distanceOf(trip, 5_261)).toEqual(km);
});

it('looks for a place that is still to come after 1, 2, 4 minutes and so on, for an hour', () => {
  const tries: number[] = [];
  for (let at = nextTry(0, 0); at !== undefined; at = nextTry(0, at)) tries.push(at / minute);
  expect(tries).toEqual([1, 2, 4, 8, 16, 32, 60]);
});
