import { nextTry } from '#src/extras/providers/geotab/exceptions.ts';
import { changeConnection, dayMs, hourMs, minuteMs, operator } from '#test/support.ts';
import { add, type Item, iso } from './fleets/fleet.ts';
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
  geotabTrip,
} from './fleets/geotab.ts';
import { providerStory, reported } from './support.ts';

let made = 0;
let data: ReturnType<typeof geotabDatabase>;
let vans: [Item, Item, Item];
let calls: GeotabCall[];
let fault: GeotabFault;
const tale = providerStory('geotab', () => geotabCredential(data));
const {
  pulled,
  connected,
  arrived,
  notified,
  levels,
  names,
  trips,
  events,
  accidents,
  pullAll,
  pullRun,
  pullColumn,
  pullAfter,
  problems,
} = tale;

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

/** Where the events of a connection were, as far as that is known. */
const latitudes = async () =>
  (await events())
    .map(({ location }) => (location as { latitude: number } | null)?.latitude)
    .sort();

const brakes = 'RuleHarshBrakingId';

/** An event of the vehicle from now on, wherever it was then. */
const somewhere = (van: Item, more: Item = {}, at = Date.now() + 1) =>
  add(data.exceptions, geotabException(van, brakes, at, more));

/** Something of the vehicle that happens from now on, where it was then. */
function happens(van: Item, rule = brakes, more: Item = {}, at = Date.now() + 1) {
  data.positions.push(geotabPosition(van, at - 5_000));
  somewhere(van, { rule: { id: rule }, ...more }, at);
}

const isDismissed = { state: 'ExceptionEventStateDismissedId' };

/** What is looked at again. */
const waiting = async () => JSON.parse(String(await pullColumn('feeds'))).events.cursor.waiting;

it('vehicles and drivers are followed by version, and walked through once a day', async () => {
  await connected();
  geotabChange(vans[0], { name: 'Van 1 (new)' });
  data.devices.push(geotabDevice(6));
  const walks = () => calls.filter(({ params }) => params.sort !== undefined).length;
  const before = walks();
  await pullAll();
  expect(walks()).toBe(before);
  expect(await names()).toEqual(['Van 1 (new)', 'Van 2', 'Van 3', 'Van 6']);
  Object.assign(vans[1], { activeTo: iso(Date.now() - 1) }); // no new version: its time has run out
  await pullAfter(24 * 60 + 1);
  expect(await names({ status: 'inactive' })).toEqual(['Van 2']);
});

it('trips are there once, in their last version, and of nobody if Geotab does not know of whom', async () => {
  await connected();
  const trip = add(data.trips, geotabTrip(vans[0], Date.now() + 1, { driver: 'UnknownDriverId' }));
  await pullAll();
  geotabChange(trip, { distance: 25.1 });
  await pullAll();
  expect(await trips()).toMatchObject([{ distanceKm: 25.1, driverId: null }]);
});

describe('safety events', () => {
  it('come with the place that is nearest in time', async () => {
    await connected([2]);
    const at = Date.now() + 1;
    happens(vans[1], 'RulePostedSpeedingId', { details: { maxSpeed: 121, speedLimit: 100 } }, at);
    data.positions.push(
      geotabPosition(vans[1], at + 2_000, { latitude: 40.1 }),
      geotabPosition(vans[2], at, { latitude: 50 }),
    );
    await pulled(1);
    const said = { translatedIncidentTypes: ['Speeding'], vehicleName: 'Van 2' };
    expect(notified()).toMatchObject([said]);
    expect(await events()).toMatchObject([
      {
        incidentTypes: ['RulePostedSpeedingId'],
        location: { latitude: 40.1 },
        maxSpeedKph: 121,
        speedLimitKph: 100,
        startedAt: iso(at),
        issuedOn: iso(at + 20_000),
        endedAt: iso(at + 4_000),
      },
    ]);
  });

  it("are those of stock rules, and of customers' by name or by the connection's map", async () => {
    const own = ['Hard Cornering', 'Depot speed', 'Left the zone'];
    data.rules.push(...own.map((name) => ({ id: `a${name}`, name })));
    await tale.connect([], { incidentTypeMap: { 'Depot speed': ['Speeding'], [brakes]: [] } });
    const stock = ['RuleEngineLightOnId', brakes, 'RuleJackrabbitStartsId'];
    for (const [i, rule] of [...own.map((name) => `a${name}`), ...stock].entries())
      happens(vans[0], rule, {}, Date.now() + 1 + i);
    await pullAll();
    const words = async () => (await events()).flatMap(({ incidentTypes }) => incidentTypes).sort();
    expect(await words()).toEqual(['Depot speed', 'Hard Cornering', 'RuleJackrabbitStartsId']);
    const incidentTypeMap = { 'Left the zone': ['Other'] };
    await changeConnection(tale.id, { incidentTypeMap });
    happens(vans[0], 'aLeft the zone', {}, Date.now() + 99);
    await pullAll();
    expect(await words()).toContain('Left the zone');
    expect(calls.filter(({ params }) => params.typeName === 'Rule')).toHaveLength(2); // not on every pull
  });

  it('get a place that arrives within an hour, but are notified immediately', async () => {
    await connected([2]);
    const at = Date.now() + 1;
    for (const van of vans.slice(0, 2)) somewhere(van, { diagnostics: 'x'.repeat(3000) }, at); // much that we do not need
    data.positions.push(geotabPosition(vans[1], at - 5 * minuteMs)); // too far for a precise place
    await pulled(2);
    expect(await latitudes()).toEqual([undefined, undefined]);
    expect(await waiting()).toMatchObject([{ word: brakes }, {}]);
    data.positions.push(geotabPosition(vans[0], at + 1_000, { latitude: 41 }));
    await pullAfter(2);
    expect(await latitudes()).toEqual([41, undefined]);
    await pullAfter(13);
    expect(await latitudes()).toEqual([39.7392, 41]);
    expect(await waiting()).toEqual([]);
    expect(tale.hooks.got).toHaveLength(2);
  });

  it('are notified though what is looked up is limited, and get their place once it is not', async () => {
    await connected([1, 2]);
    happens(vans[0]);
    happens(vans[1], 'RuleEnhancedMajorCollisionId');
    fault = ({ method }) =>
      method === 'ExecuteMultiCall' ? geotabError('OverLimitException') : undefined;
    await pulled(2);
    expect(await latitudes()).toEqual([undefined, undefined]);
    fault = () => undefined;
    await pulled(3);
    expect(await latitudes()).toEqual([39.7392, 39.7392]);
  });

  it('stop waiting for a place after an hour, and never wait in unbounded numbers', async () => {
    await connected();
    const at = Date.now() + 1;
    for (let i = 0; i < 310; i++) somewhere(vans[0], {}, at + i);
    somewhere(vans[1], { id: `a${'x'.repeat(5_000)}` }, at); // refused, and too long to keep
    await pullAll();
    const { length } = JSON.stringify(await waiting());
    expect(length).toBeGreaterThan(27_000);
    expect(length).toBeLessThan(28_100);
    await pullAfter(62);
    for (let i = 0; i < 12; i++) await pullRun();
    expect(await waiting()).toEqual([]);
    expect(await tale.sourceIds('safety_events')).toHaveLength(310);
  });

  it('that are dismissed are withdrawn, and wait for a place no longer', async () => {
    await tale.connect();
    const at = Date.now() + 1;
    const event = somewhere(vans[0], { state: undefined }, at);
    somewhere(vans[1], isDismissed);
    await pullAll();
    expect(await waiting()).toHaveLength(1);
    geotabChange(event, isDismissed);
    await pullAll();
    expect(await waiting()).toEqual([]);
    expect((await events()).map(({ withdrawn }) => withdrawn)).toEqual([true, true]);
  });

  it('of history get their place though its first look-up brings a page of HTML', async () => {
    const at = Date.now() - dayMs;
    happens(vans[0], brakes, {}, at);
    let failures = 0;
    fault = ({ method, params }) =>
      method === 'ExecuteMultiCall' &&
      JSON.stringify(params).includes('LogRecord') &&
      failures++ === 0
        ? new Response('<html>')
        : undefined;
    await connected([], { historyDays: 2 });
    await pullAll();
    expect(failures).toBeGreaterThan(1);
    expect(await latitudes()).toEqual([39.7392]);
  });

  it('are looked up by two calls at once, since other connections make some beside them', async () => {
    const fake = fakeGeotab(data);
    let [atOnce, most] = [0, 0];
    tale.hooks.serves('https://my.geotab.com', async (request) => {
      most = Math.max(most, ++atOnce);
      await scheduler.wait(10);
      atOnce--;
      return fake(request);
    });
    await connected();
    const at = Date.now() + 1;
    for (let i = 0; i < 100; i++) somewhere(vans[0], {}, at + i);
    await pullAll();
    expect(most).toBe(2);
  });

  it('that are many are read from history in spans small enough to come whole', async () => {
    const at = Date.now() - 2 * dayMs;
    for (let i = 0; i < 240; i++) somewhere(vans[0], {}, at + i * minuteMs);
    // One that lasts for days overlaps every span, and is there once.
    happens(vans[1], 'RuleIdlingId', { activeTo: iso(Date.now() - hourMs) }, at - 3 * dayMs);
    await connected([], { historyDays: 10 });
    expect(await tale.sourceIds('safety_events')).toHaveLength(241);
    const lookUps = calls.filter(({ params }) => JSON.stringify(params).includes('LogRecord'));
    expect(lookUps.length).toBeGreaterThan(4);
  });
});

describe('collisions', () => {
  it('are level 1 when they are seen, and level 2 after an hour if Geotab analyses them', async () => {
    await connected([1]);
    const rules = [
      'RuleEnhancedMajorCollisionId',
      'RuleEnhancedMinorCollisionId',
      'RuleAccidentId',
    ];
    for (const [i, van] of vans.entries()) happens(van, rules[i]);
    await pulled(3);
    expect(await waiting()).toHaveLength(2);
    await pullAfter(62);
    await arrived(5);
    const [first, second] = reported;
    const all = vans.map((van) => levels(van.vehicleIdentificationNumber));
    expect(all).toEqual([[first, second], [first, second], [first]]);
    expect(await waiting()).toEqual([]);
    const listed = await accidents();
    expect(listed.map(({ severity }) => severity).sort()).toEqual(['high', 'low', null]);
    expect(listed[0]?.location).toMatchObject({ latitude: 39.7392, longitude: -104.9903 });
    expect(await events()).toHaveLength(3);
  });

  it('that several rules find, seconds apart, are one accident, also when the second is known later, and was made earlier', async () => {
    await connected([1]);
    const at = Date.now() + 10_000;
    happens(vans[0], 'RuleAccidentId', {}, at);
    await pulled(1);
    happens(vans[0], 'RuleEnhancedMinorCollisionId', {}, at - 3_000);
    happens(vans[1], 'RuleEnhancedMinorCollisionId', {}, at); // another vehicle's
    happens(vans[0], 'RuleAccidentId', {}, at + 5 * minuteMs); // another time
    await pullAll();
    await pullAfter(70);
    await arrived(5);
    const found = (await accidents()).map(({ severity }) => severity);
    expect(found.sort()).toEqual(['low', 'low', null]);
    expect(await events()).toHaveLength(4);
  });

  it('of history are confirmed or dismissed, one for several rules, and notify nobody', async () => {
    const at = Date.now() - 2 * dayMs;
    happens(vans[0], 'RuleAccidentId', {}, at);
    happens(vans[0], 'RuleEnhancedMajorCollisionId', {}, at + 2_000);
    happens(vans[1], 'RuleEnhancedMajorCollisionId', isDismissed, at);
    await connected([1, 2], { historyDays: 10 });
    const listed = await accidents();
    expect(
      listed.map(({ notificationLevel: level, dismissed }) => `${level} ${dismissed}`).sort(),
    ).toEqual(['1 true', '2 false']);
    expect(tale.hooks.got).toEqual([]);
  });
});

it('no secret is taken for its webhook, since it has none that is signed', async () => {
  await tale.connect();
  const path = `/operator/connections/${tale.id}/webhook-secret`;
  const { message } = await operator.put(path, { secret: 'long-enough' });
  expect(message).toBe('Geotab has no webhook that it signs');
});

describe('sessions', () => {
  it('are kept from run to run, for the server that Geotab names', async () => {
    serve({ moves: 'my42.geotab.com' });
    await connected();
    expect(await names()).toHaveLength(3);
    const [first, second, ...others] = calls.map(({ method, host }) => `${method} ${host}`).sort();
    const authenticated = 'Authenticate my.geotab.com'; // to test the credential, and for the first turn
    expect([first, second]).toEqual([authenticated, authenticated]);
    expect(others.filter((call) => !call.endsWith('my42.geotab.com'))).toEqual([]);
    // The database moves once more: its old server does not have it.
    serve({ moves: 'my43.geotab.com' });
    await pullRun();
    await pullAll();
    expect(calls.at(-1)?.host).toBe('my43.geotab.com');
    expect(await problems()).toEqual([]);
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
  ['a b', 'must be a host'],
  ['10.0.0.1', 'must be a public host'],
])('a login to %j is refused', async (server, reason) => {
  const { status, message } = await tale.tryToConnect(geotabCredential(data, server));
  expect([status, message]).toEqual([400, expect.stringContaining(reason)]);
  expect(calls).toEqual([]);
});

describe('what goes wrong', () => {
  const inAMinute = () => iso(Date.now() + 58_000);
  it.each([
    ['', () => ({ 'retry-after': '58' })],
    [', and when it is reset', () => ({ 'x-rate-limit-reset': inAMinute() })],
  ])(
    'a limit in a reply of 200%s has the connection wait as long as Geotab says',
    async (_, headers) => {
      await tale.connect();
      fault = () => geotabError('OverLimitException', headers());
      const before = Date.now();
      await pullRun();
      expect(Math.round((Number(await pullColumn('due_at')) - before) / 10_000)).toBe(6);
    },
  );

  it.each([
    ['the database is being moved', () => geotabError('DbUnavailableException'), 'unavailable'],
    ['the balancer refuses', () => new Response('<html>', { status: 403 }), 'unavailable'],
    ['an error has no type', () => Response.json({ error: 'no' }), 'unexpected'],
  ])('when %s, the feed waits', async (_, reply, kind) => {
    await tale.connect();
    fault = reply;
    await pullRun();
    expect(await pullColumn('feeds')).toContain(`"kind":"${kind}"`);
  });

  it.each([
    ['only some of the results', () => Response.json({ result: [] })],
    ['that the login may not see it, nor rules', () => geotabError('GenericException'), 'Rule'],
  ])('events do not wait for a look-up that returns %s', async (_, reply, also = 'no other') => {
    fault = ({ method, params }) =>
      method === 'ExecuteMultiCall' || params.typeName === also ? reply() : undefined;
    await tale.connect();
    happens(vans[0]);
    await pullAll();
    expect(await latitudes()).toEqual([undefined]);
    expect(await problems()).toEqual([]);
  });

  it.each([429, 503])(
    'events do not wait for rules that are known and answered with %i',
    async (status) => {
      await connected();
      fault = ({ params }) =>
        params.typeName === 'Rule' ? new Response('', { status }) : undefined;
      happens(vans[0]);
      await pullAfter(24 * 60 + 1);
      expect(await events()).toHaveLength(1);
    },
  );
});

it('looks for a place that is still to come after 1, 2, 4 minutes and so on, for an hour', () => {
  const tries: number[] = [];
  for (let at = nextTry(0, 0); at !== undefined; at = nextTry(0, at)) tries.push(at / minuteMs);
  expect(tries).toEqual([1, 2, 4, 8, 16, 32, 60]);
});
