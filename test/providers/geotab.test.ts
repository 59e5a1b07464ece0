import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  fakeGeotab,
  type GeotabCall,
  type GeotabFault,
  geotabCredential,
  geotabDatabase,
  geotabError,
} from '../../src/dev/fakes/geotab.ts';
import {
  geotabChange,
  geotabDevice,
  geotabException,
  geotabPosition,
  geotabRule,
  geotabTrip,
  geotabUser,
} from '../../src/dev/fakes/geotab-items.ts';
import { connect, pullAll, read, turn } from '../support/provider.ts';
import { receiver } from '../support/receiver.ts';
import { as, operator, type World, webhookBody, world } from '../support/world.ts';

const origin = 'https://my.geotab.com';
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const iso = (ms: number) => new Date(ms).toISOString();

type Item = { [field: string]: unknown };

let made = 0;
let us: World;
let hooks: ReturnType<typeof receiver>;
let data: ReturnType<typeof geotabDatabase>;
let vans: [Item, Item, Item];
let calls: GeotabCall[];
let fault: GeotabFault;

beforeEach(async () => {
  hooks = receiver();
  us = await world();
  data = geotabDatabase(`acme${made++}`); // connections of other tests may still be pulled: not from this one
  vans = [geotabDevice(1), geotabDevice(2), geotabDevice(3)];
  data.devices.push(...vans);
  calls = [];
  fault = () => undefined;
  serve();
  return () => vi.restoreAllMocks();
});

/** Has the database served at the usual host, and with `moves` at that one alone. */
function serve(options: { perPage?: number; moves?: string } = {}) {
  const fake = fakeGeotab(data, {
    perPage: 2,
    ...options,
    fault(call, count) {
      calls.push(call);
      return fault(call, count);
    },
  });
  hooks.serves(origin, fake);
  for (const host of ['my42', 'my43']) hooks.serves(`https://${host}.geotab.com`, fake);
}

const connected = (more?: object) => connect(us, 'geotab', geotabCredential(data), more);
const tellMe = (id: string, more = {}) =>
  as(us.apiToken).post('/webhook', webhookBody(us, { connectionIds: [id], ...more }));
const told = (times: number) => vi.waitFor(() => expect(hooks.got).toHaveLength(times), { timeout: 20_000 });
const count = (method: string) => calls.filter((call) => call.method === method).length;
const range = `from=${iso(Date.now() - 40 * day)}&to=${iso(Date.now() + day)}`;
const eventsOf = (id: string) => read(us, id, `/safety-events?${range}`);
const accidentsOf = (id: string) => read(us, id, `/accidents?${range}`);

/** Something of the vehicle that happens from now on, where it was then. */
function happens(van: Item, rule: string, more: Item = {}, at = Date.now() + 1): Item {
  const exception = geotabException(van, rule, at, more);
  data.exceptions.push(exception);
  data.positions.push(geotabPosition(van, at - 5_000));
  return exception;
}

/** Time passes for what a connection keeps in its cursor. */
const passes = (id: string, ms: number) =>
  env.DB.prepare(
    `update pulls set feeds = json_set(feeds,
      '$.events.cursor.waiting', (select json_group_array(json_set(value, '$.at', value->>'at' - ?2,
        '$.since', value->>'since' - ?2)) from json_each(feeds, '$.events.cursor.waiting')),
      '$.events.cursor.open', (select json_group_array(json_set(value, '$.due', value->>'due' - ?2))
        from json_each(feeds, '$.events.cursor.open')))
    where connection_id = ?1`,
  )
    .bind(id, ms)
    .run();

/** The types that a call in bulk is about. */
const typesIn = ({ calls }: Item): unknown[] =>
  (calls as { params: Item }[]).map(({ params }) => params.typeName); // as our own client sends them

type Feeds = { [name: string]: { cursor: Item; problem?: Item } };

const feedsOf = async (id: string): Promise<Feeds> =>
  JSON.parse(
    (await env.DB.prepare('select feeds from pulls where connection_id = ?1')
      .bind(id)
      .first<string>('feeds')) ?? '',
  );

const cursorOf = async (id: string) => (await feedsOf(id)).events?.cursor ?? {};

const problemOf = async (id: string) =>
  Object.values(await feedsOf(id)).find(({ problem }) => problem !== undefined)?.problem;

describe('vehicles and drivers', () => {
  it('come whole, as customers know them', async () => {
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
      geotabUser(2, { name: 'lee', firstName: '', lastName: '', activeTo: '2026-01-01T00:00:00.000Z' }),
      geotabUser(3, { isDriver: false }),
    );
    const id = await connected();
    await pullAll(id);
    const vehicles = await read(us, id, '/vehicles');
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
    expect(named('Van 5')).toMatchObject({ vin: '2FZHATDC5KAA00001', year: null, status: 'inactive' });
    expect(named('Van 5')?.groups).toHaveLength(20);
    const drivers = await read(us, id, '/drivers');
    expect(drivers.map(({ name, email, status }) => [name, email, status]).sort()).toEqual([
      ['Sam Ortiz 1', 'sam1@acme.example.com', 1],
      ['lee', null, 0],
    ]);
  });

  it('are followed by version, and walked through once a day for what Geotab does not tell', async () => {
    data.users.push(geotabUser(1));
    const id = await connected();
    await pullAll(id);
    geotabChange(vans[0], { name: 'Van 1 (new)' });
    data.devices.push(geotabDevice(6));
    const walks = () => calls.filter(({ params }) => params.sort !== undefined).length;
    const before = walks();
    await pullAll(id);
    expect(walks()).toBe(before);
    const names = async () => (await read(us, id, '/vehicles')).map(({ name }) => name).sort();
    expect(await names()).toEqual(['Van 1 (new)', 'Van 2', 'Van 3', 'Van 6']);
    Object.assign(vans[1], { activeTo: iso(Date.now() - 1) }); // no new version: its time has run out
    await env.DB.prepare(
      `update pulls set feeds = json_set(feeds, '$.vehicles.cursor.walkedAt', 0) where connection_id = ?1`,
    )
      .bind(id)
      .run();
    await pullAll(id);
    expect((await read(us, id, '/vehicles?status=inactive')).map(({ name }) => name)).toEqual(['Van 2']);
  });

  it('miss nothing that changes while they are walked through', async () => {
    const id = await connected();
    fault = ({ method, params }) => {
      if (method === 'Get' && (params.sort as Item)?.offset && data.devices.length === 3) {
        data.devices.push(geotabDevice(7));
        geotabChange(vans[0], { name: 'Van 1 (new)' }); // its page has been read
      }
      return undefined;
    };
    await pullAll(id);
    const names = (await read(us, id, '/vehicles')).map(({ name }) => name).sort();
    expect(names).toEqual(['Van 1 (new)', 'Van 2', 'Van 3', 'Van 7']);
  });
});

describe('trips', () => {
  it('come with where they ended, once, and in their last version', async () => {
    const trip = geotabTrip(vans[0], Date.now() - 3 * day);
    data.trips.push(trip, geotabTrip(vans[1], Date.now() - 9 * day, { driver: 'UnknownDriverId' }));
    const id = await connected({ historyDays: 20 });
    await pullAll(id);
    const fresh = geotabTrip(vans[2], Date.now() + 1);
    data.trips.push(fresh);
    geotabChange(trip, { distance: 25.1 });
    await pullAll(id);
    const trips = await read(us, id, `/trips?${range}`);
    expect(trips).toHaveLength(3);
    expect(trips.find(({ startedAt }) => startedAt === trip.start)).toMatchObject({
      endedAt: trip.stop,
      startLocation: null,
      endLocation: { latitude: 39.75, longitude: -104.87 },
      distanceKm: 25.1,
      durationSeconds: 1800,
    });
    expect(trips.filter(({ driverId }) => driverId === null)).toHaveLength(1);
  });
});

describe('safety events', () => {
  it('come with the place that is nearest in time, and are told once if they happened since', async () => {
    const before = Date.now() - 3 * day;
    happens(vans[0], 'RuleHarshBrakingId', {}, before);
    const id = await connected({ historyDays: 30 });
    await tellMe(id);
    await pullAll(id);
    expect(hooks.got).toEqual([]);
    const at = Date.now() + 1;
    happens(vans[1], 'RulePostedSpeedingId', { details: { maxSpeed: 121, speedLimit: 100 } }, at);
    data.positions.push(
      geotabPosition(vans[1], at + 2_000, { latitude: 40.1, longitude: -105.1 }),
      geotabPosition(vans[2], at, { latitude: 50, longitude: -100 }),
    );
    await pullAll(id);
    await pullAll(id);
    await told(1);
    expect(hooks.got[0]?.body.data).toMatchObject({
      vehicleName: 'Van 2',
      translatedIncidentTypes: ['Speeding'],
    });
    const events = await eventsOf(id);
    expect(events).toHaveLength(2);
    expect(events.find(({ startedAt }) => startedAt === iso(at))).toMatchObject({
      incidentTypes: ['RulePostedSpeedingId'],
      location: { latitude: 40.1, longitude: -105.1 },
      maxSpeedKph: 121,
      speedLimitKph: 100,
      issuedOn: iso(at + 20_000),
      endedAt: iso(at + 4_000),
    });
    expect(events.find(({ startedAt }) => startedAt === iso(before))?.location).toMatchObject({
      latitude: 39.7392,
      longitude: -104.9903,
    });
  });

  it("are those of stock rules, and of customers' rules by name or by the connection's own map", async () => {
    data.rules.push(
      geotabRule('aOwn1', 'Hard Cornering'),
      geotabRule('aOwn2', 'Depot speed'),
      geotabRule('aOwn3', 'Left the zone'),
    );
    const id = await connected({ incidentTypeMap: { 'Depot speed': ['Speeding'], RuleHarshBrakingId: [] } });
    for (const [i, rule] of [
      'aOwn1',
      'aOwn2',
      'aOwn3',
      'RuleEngineLightOnId',
      'RuleHarshBrakingId',
      'RuleJackrabbitStartsId',
    ].entries())
      happens(vans[0], rule, {}, Date.now() + 1 + i);
    await pullAll(id);
    const words = async () => (await eventsOf(id)).flatMap(({ incidentTypes }) => incidentTypes);
    expect((await words()).sort()).toEqual(['Depot speed', 'Hard Cornering', 'RuleJackrabbitStartsId']);
    await operator.patch(`/operator/connections/${id}`, { incidentTypeMap: { 'Left the zone': ['Other'] } });
    happens(vans[0], 'aOwn3', {}, Date.now() + 99);
    await pullAll(id);
    expect(await words()).toContain('Left the zone');
    const rules = calls.filter(({ typeName }) => typeName === 'Rule');
    expect(rules).toHaveLength(2); // not on every pull
  });

  it('get a place that comes in late, within an hour, and are told at once all the same', async () => {
    const id = await connected();
    await tellMe(id);
    await pullAll(id);
    const at = Date.now() + 1;
    data.exceptions.push(geotabException(vans[0], 'RuleHarshBrakingId', at));
    data.exceptions.push(geotabException(vans[1], 'RuleHarshBrakingId', at));
    data.positions.push(geotabPosition(vans[1], at - 5 * minute)); // too far for a precise place
    await pullAll(id);
    await told(2);
    expect((await eventsOf(id)).map(({ location }) => location)).toEqual([null, null]);
    expect(await cursorOf(id)).toMatchObject({ waiting: [{ word: 'RuleHarshBrakingId' }, {}] });
    data.positions.push(geotabPosition(vans[0], at + 1_000, { latitude: 41 }));
    await passes(id, minute);
    await pullAll(id);
    const latitudes = async () =>
      (await eventsOf(id)).map(({ location }) => (location as { latitude: number } | null)?.latitude).sort();
    expect(await latitudes()).toEqual([41, undefined]);
    await passes(id, 10 * minute);
    await pullAll(id);
    expect(await latitudes()).toEqual([39.7392, 41]);
    expect((await cursorOf(id)).waiting).toEqual([]);
    expect(hooks.got).toHaveLength(2);
  });

  it('stop waiting for a place after an hour, and never wait in unbounded numbers', async () => {
    const id = await connected();
    await pullAll(id);
    const at = Date.now() + 1;
    for (let i = 0; i < 250; i++)
      data.exceptions.push(geotabException(vans[0], 'RuleHarshBrakingId', at + i));
    data.exceptions.push(
      geotabException(vans[1], 'RuleHarshBrakingId', at, { id: `a${'x'.repeat(5_000)}` }), // refused, and too long to keep
    );
    await pullAll(id);
    expect((await cursorOf(id)).waiting).toHaveLength(200);
    await passes(id, hour);
    for (let i = 0; i < 9; i++) await turn(id);
    expect((await cursorOf(id)).waiting).toEqual([]);
    expect(await eventsOf(id)).toHaveLength(50); // a page of them
  }, 60_000);

  it('that are dismissed while they wait for a place are left as they are', async () => {
    const id = await connected();
    const at = Date.now() + 1;
    const event = geotabException(vans[0], 'RuleHarshBrakingId', at);
    data.exceptions.push(event);
    await pullAll(id);
    expect((await cursorOf(id)).waiting).toHaveLength(1);
    geotabChange(event, { state: 'ExceptionEventStateDismissedId' });
    data.positions.push(geotabPosition(vans[0], at));
    await pullAll(id);
    expect((await cursorOf(id)).waiting).toEqual([]);
    expect((await eventsOf(id)).map(({ location }) => location)).toEqual([null]);
  });

  it('that are dismissed before we see them are not taken', async () => {
    const id = await connected();
    happens(vans[0], 'RuleHarshBrakingId', { state: 'ExceptionEventStateDismissedId' });
    happens(vans[0], 'RuleHarshBrakingId', { state: undefined }, Date.now() + 50);
    await pullAll(id);
    expect(await eventsOf(id)).toHaveLength(1);
  });

  it('come page by page, all of them, also while others come in', async () => {
    const id = await connected();
    await pullAll(id);
    const at = Date.now() + 1;
    for (let i = 0; i < 230; i++)
      data.exceptions.push(
        geotabException(vans[i % 3] ?? {}, i % 2 ? 'RuleHarshBrakingId' : 'RuleEngineLightOnId', at + i),
      );
    let added = false;
    fault = ({ method }) => {
      if (method === 'ExecuteMultiCall' && !added) {
        added = true;
        happens(vans[0], 'RuleHarshBrakingId', {}, at + 999);
        const [first] = data.exceptions;
        if (first) geotabChange(first, { activeTo: iso(at + 9_000) });
      }
      return undefined;
    };
    await pullAll(id);
    const path = `/operator/connections/${id}/pull`;
    expect((await operator.get<{ refusals: unknown[] }>(path)).data.refusals).toEqual([]);
    const { count: stored } = (await env.DB.prepare(
      'select count(*) as count from safety_events where connection_id = ?1',
    )
      .bind(id)
      .first<{ count: number }>()) ?? { count: 0 };
    expect(stored).toBe(116);
  }, 60_000);

  it('that are many are read from history in spans small enough to come whole', async () => {
    const at = Date.now() - 2 * day;
    for (let i = 0; i < 240; i++)
      data.exceptions.push(geotabException(vans[0], 'RuleHarshBrakingId', at + i * minute));
    // One that lasts for days overlaps every span, and is there once.
    happens(vans[1], 'RuleIdlingId', { activeTo: iso(Date.now() - hour) }, at - 3 * day);
    const id = await connected({ historyDays: 10 });
    await pullAll(id);
    const { count: stored } = (await env.DB.prepare(
      'select count(*) as count from safety_events where connection_id = ?1',
    )
      .bind(id)
      .first<{ count: number }>()) ?? { count: 0 };
    expect(stored).toBe(241);
    // A page has at most 100 to look up, near and far.
    const lookUps: number[] = [];
    for (const { method, params } of calls) {
      const types = method === 'ExecuteMultiCall' ? typesIn(params) : [];
      if (types.includes('ExceptionEvent')) lookUps.push(0);
      const ofPlaces = types.filter((type) => type === 'LogRecord').length;
      lookUps.push((lookUps.pop() ?? 0) + ofPlaces);
    }
    expect(Math.max(...lookUps)).toBeGreaterThan(100);
    expect(Math.max(...lookUps)).toBeLessThanOrEqual(200);
  }, 60_000);
});

describe('collisions', () => {
  const accurate = () =>
    hooks.got
      .map(({ body }) => body.data)
      .map(({ vin, notificationLevel, isAccurate }) => [vin, notificationLevel, isAccurate])
      .sort();

  it('are level 1 when they are seen, and level 2 after an hour unless they were dismissed', async () => {
    const id = await connected();
    await tellMe(id, { notificationTypes: [1] });
    await pullAll(id);
    happens(vans[0], 'RuleEnhancedMajorCollisionId');
    const alarm = happens(vans[1], 'RuleEnhancedMinorCollisionId');
    happens(vans[2], 'RuleAccidentId');
    await pullAll(id);
    await told(3);
    expect((await cursorOf(id)).open).toHaveLength(2);
    geotabChange(alarm, {
      state: 'ExceptionEventStateDismissedId',
      lastModifiedDateTime: iso(Date.now() + 30_000),
    });
    await pullAll(id);
    expect((await cursorOf(id)).open).toHaveLength(1);
    await passes(id, hour + minute);
    await pullAll(id);
    await pullAll(id);
    await told(5);
    const [first, second, third] = vans.map(
      ({ vin, vehicleIdentificationNumber }) => vin ?? vehicleIdentificationNumber,
    );
    expect(accurate()).toEqual([
      [first, 1, false],
      [first, 2, true],
      [second, 1, false],
      [second, 2, false],
      [third, 1, false],
    ]);
    expect((await cursorOf(id)).open).toEqual([]);
    const accidents = await accidentsOf(id);
    expect(accidents.map(({ vin, dismissed }) => [vin, dismissed]).sort()).toEqual([
      [first, false],
      [second, true],
      [third, false],
    ]);
    expect(accidents.find(({ vin }) => vin === first)?.location).toMatchObject({
      latitude: 39.7392,
      longitude: -104.9903,
    });
    expect(await eventsOf(id)).toHaveLength(3);
  });

  it('become accidents only when a place and a VIN are known', async () => {
    Object.assign(vans[0], { vehicleIdentificationNumber: '' });
    const id = await connected();
    await pullAll(id);
    const at = Date.now() + 1;
    happens(vans[0], 'RuleEnhancedMajorCollisionId', {}, at);
    data.exceptions.push(geotabException(vans[1], 'RuleEnhancedMajorCollisionId', at));
    await pullAll(id);
    expect(await eventsOf(id)).toHaveLength(2);
    expect(await accidentsOf(id)).toEqual([]);
    geotabChange(vans[0], { vehicleIdentificationNumber: '1FTBW3XM5KKA12345' });
    data.positions.push(geotabPosition(vans[1], at));
    await passes(id, minute);
    await pullAll(id);
    expect((await accidentsOf(id)).map(({ vin }) => vin).sort()).toEqual([
      '1FTBW3XM510000002',
      '1FTBW3XM5KKA12345',
    ]);
  });

  it('of history are confirmed or dismissed already, and nobody is told', async () => {
    const at = Date.now() - 2 * day;
    happens(vans[0], 'RuleEnhancedMajorCollisionId', {}, at);
    happens(vans[1], 'RuleEnhancedMajorCollisionId', { state: 'ExceptionEventStateDismissedId' }, at);
    const id = await connected({ historyDays: 10 });
    await tellMe(id, { notificationTypes: [1, 2] });
    await pullAll(id);
    const accidents = await accidentsOf(id);
    expect(
      accidents.map(({ notificationLevel, dismissed }) => [notificationLevel, dismissed]).sort(),
    ).toEqual([
      [1, true],
      [2, false],
    ]);
    expect(hooks.got).toEqual([]);
  });
});

describe('sessions', () => {
  it('are kept from turn to turn, and renewed once they are dead', async () => {
    const id = await connected();
    await pullAll(id);
    await pullAll(id);
    expect(count('Authenticate')).toBe(2); // to test the credential, and for the first turn
    data.sessions.clear();
    happens(vans[0], 'RuleHarshBrakingId');
    await pullAll(id);
    expect(count('Authenticate')).toBe(3);
    expect(await eventsOf(id)).toHaveLength(1);
  });

  it('are good for the server that Geotab names', async () => {
    serve({ moves: 'my42.geotab.com' });
    const id = await connected();
    await pullAll(id);
    expect(await read(us, id, '/vehicles')).toHaveLength(3);
    expect(new Set(calls.filter(({ method }) => method !== 'Authenticate').map(({ host }) => host))).toEqual(
      new Set(['my42.geotab.com']),
    );
    // The database moves once more: its old server does not have it.
    serve({ moves: 'my43.geotab.com' });
    await turn(id);
    await pullAll(id);
    expect(calls.at(-1)?.host).toBe('my43.geotab.com');
    expect(await problemOf(id)).toBeUndefined();
  });

  it("never go to a server that is not Geotab's", async () => {
    for (const path of [
      'geotab.com.evil.example.com',
      'evilgeotab.com',
      '10.0.0.1',
      'my.geotab.com/@evil.com',
    ])
      await refusesPath(path);
    expect(calls.filter(({ method }) => method !== 'Authenticate')).toEqual([]);
  });

  async function refusesPath(path: string) {
    fault = ({ method }) =>
      method === 'Authenticate'
        ? Response.json({
            result: { credentials: { sessionId: 's', database: 'acme', userName: 'u' }, path },
          })
        : undefined;
    const { status, message } = await tryConnecting(geotabCredential(data));
    expect([path, status, message]).toEqual([
      path,
      400,
      expect.stringContaining('a server that is not its own'),
    ]);
  }
});

const tryConnecting = (credential: string) =>
  operator.post(`/operator/accounts/${us.accountId}/connections`, { provider: 'geotab', credential });

describe('a credential', () => {
  it('that Geotab refuses is not saved, and the password is never shown', async () => {
    const { status, message, errors } = await tryConnecting(
      geotabCredential({ ...data, password: 'not the password' }),
    );
    expect(status).toBe(400);
    expect(errors?.[0]?.field).toBe('credential');
    expect(message).toContain('Geotab refuses the login');
    expect(message).not.toContain('not the password');
    const saved = env.DB.prepare('select connection_id from pulls where account_id = ?1').bind(us.accountId);
    expect(await saved.first()).toBeNull();
  });

  it.each([
    ['secret', 'must be JSON'],
    ['[]', 'needs a database'],
    ['{"server": "a b", "database": "acme", "user": "u", "password": "p"}', 'needs as its server a host'],
    [
      '{"server": "ftp://my.geotab.com", "database": "acme", "user": "u", "password": "p"}',
      'needs as its server',
    ],
    ['{"server": "10.0.0.1", "database": "acme", "user": "u", "password": "p"}', 'must be a public host'],
    ['{"database": "acme", "user": "\\u0007", "password": "p"}', 'needs a user'],
    ['{"database": "acme", "user": "u", "password": ""}', 'needs a password'],
  ])('that cannot be one is refused: %s', async (credential, reason) => {
    const { status, message } = await tryConnecting(credential);
    expect([status, message]).toEqual([400, expect.stringContaining(reason)]);
    expect(calls).toEqual([]);
  });

  it('is the same one with another password, and another one for another database', async () => {
    await connected();
    const again = await tryConnecting(geotabCredential(data, 'https://MY.geotab.com/'));
    expect(again.status).toBe(400);
    expect(again.message).toContain('already');
    data.database = 'other';
    expect((await tryConnecting(geotabCredential(data))).status).toBe(200);
  });

  it('that is refused later stops the pull until there is a new one', async () => {
    const id = await connected();
    await pullAll(id);
    data.password = 'changed';
    data.sessions.clear();
    await turn(id);
    const due = env.DB.prepare('select due_at from pulls where connection_id = ?1').bind(id);
    expect(await due.first('due_at')).toBeNull();
    expect(await problemOf(id)).toMatchObject({ kind: 'refused' });
  });
});

describe('what goes wrong', () => {
  it.each([
    ['in a reply of 200', () => geotabError('OverLimitException', { headers: { 'retry-after': '58' } })],
    ['with 429', () => new Response('', { status: 429, headers: { 'retry-after': '57.6' } })],
    [
      'with when the limit is reset',
      () =>
        geotabError('OverLimitException', { headers: { 'x-rate-limit-reset': iso(Date.now() + 58_000) } }),
    ],
  ])('a limit %s has the connection wait as long as Geotab says', async (_, reply) => {
    const id = await connected();
    await pullAll(id);
    happens(vans[0], 'RuleHarshBrakingId');
    fault = ({ method }) => (method === 'ExecuteMultiCall' ? reply() : undefined);
    const before = Date.now();
    await turn(id);
    const dueAt = Number(
      await env.DB.prepare('select due_at from pulls where connection_id = ?1').bind(id).first('due_at'),
    );
    expect(Math.round((dueAt - before) / 10_000)).toBe(6);
    fault = () => undefined;
    await pullAll(id);
    expect(await eventsOf(id)).toHaveLength(1);
  });

  it.each([
    ['the database is being moved', () => geotabError('DbUnavailableException'), 'unavailable'],
    ['a page of HTML comes', () => new Response('<html>', { status: 502 }), 'unavailable'],
    ['the balancer refuses', () => new Response('<html>', { status: 403 }), 'unavailable'],
    ['our call is wrong', () => geotabError('ArgumentException'), 'unexpected'],
    ['a reply has no result', () => Response.json({ jsonrpc: '2.0' }), 'unexpected'],
    ['an error has no type', () => Response.json({ error: 'no' }), 'unexpected'],
  ])('when %s, the feed waits, and nothing is lost', async (_, reply, kind) => {
    const id = await connected();
    await pullAll(id);
    happens(vans[0], 'RuleHarshBrakingId');
    fault = ({ method, typeName }) =>
      method === 'GetFeed' && typeName === 'ExceptionEvent' ? reply() : undefined;
    await turn(id);
    expect(await problemOf(id)).toMatchObject({ kind });
    fault = () => undefined;
    await pullAll(id);
    expect(await eventsOf(id)).toHaveLength(1);
    expect(await problemOf(id)).toBeUndefined();
  });

  it('a login that may not see positions or rules still has its events, without places', async () => {
    fault = ({ method, typeName }) =>
      method === 'ExecuteMultiCall' || typeName === 'Rule' ? geotabError('GenericException') : undefined;
    const id = await connected();
    happens(vans[0], 'RuleHarshBrakingId');
    await pullAll(id);
    expect((await eventsOf(id)).map(({ location }) => location)).toEqual([null]);
  });

  it('a record that is not as it should be is refused with the reason, and the others land', async () => {
    data.devices.push(
      geotabDevice(11, { name: 'n'.repeat(1_000_000) }),
      geotabDevice(12, { vinInfoMake: 7, groups: 'none' }),
      geotabDevice(13, { vehicleIdentificationNumber: null }),
      null as never,
    );
    const id = await connected();
    happens(vans[0], 'RuleHarshBrakingId', { details: { maxSpeed: -3 }, driver: 9 });
    happens(
      vans[1],
      'RuleHarshBrakingId',
      { activeFrom: 'yesterday', unheardOf: { of: 1 } },
      Date.now() + 70,
    );
    happens(vans[2], 'RuleHarshBrakingId', {}, Date.now() + 80);
    data.positions.push(null as never, { ...geotabPosition(vans[2], Date.now()), latitude: 'north' });
    await pullAll(id);
    expect((await read(us, id, '/vehicles')).map(({ name }) => name).sort()).toEqual([
      'Van 1',
      'Van 13',
      'Van 2',
      'Van 3',
    ]);
    expect(await eventsOf(id)).toHaveLength(1);
    const { data: status } = await operator.get<{ refusals: { kind: string; reason: string }[] }>(
      `/operator/connections/${id}/pull`,
    );
    expect(status.refusals.map(({ kind, reason }) => `${kind}: ${reason}`).sort()).toEqual([
      'safetyEvent: driver must be a string; maxSpeedKph must be from 0 to 1000',
      'safetyEvent: startedAt must be an RFC 3339 time, such as 2026-11-20T20:00:00Z',
      'vehicle: make must be a string',
      'vehicle: name can be at most 200 characters; name can be at most 200 bytes',
      'vehicle: sourceId must be a string; name must be a string',
    ]);
  });

  it('an event of a vehicle that is not known yet is told at once, with its name', async () => {
    const id = await connected();
    await tellMe(id);
    await pullAll(id);
    const fresh = geotabDevice(9);
    data.devices.push(fresh);
    happens(fresh, 'RuleHarshBrakingId');
    await env.DB.prepare(
      `update pulls set feeds = json_set(feeds, '$.vehicles.pulledAt', ?2) where connection_id = ?1`,
    )
      .bind(id, Date.now())
      .run();
    await pullAll(id);
    await told(1);
    expect(hooks.got[0]?.body.data).toMatchObject({ vehicleName: 'Van 9' });
  });
});
