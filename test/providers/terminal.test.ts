import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type Fault,
  fakeTerminal,
  type TerminalData,
  terminalDriver,
  terminalEvent,
  terminalGroup,
  terminalRaw,
  terminalTrip,
  terminalVehicle,
} from '../../src/dev/fakes/terminal.ts';
import { pull } from '../../src/providers/pull.ts';
import { connect, pullAll, read, turn } from '../support/provider.ts';
import { receiver } from '../support/receiver.ts';
import { as, call, operator, type World, webhookBody, world } from '../support/world.ts';

const origin = 'https://api.withterminal.com';
const day = 86_400_000;
const iso = (ms: number) => new Date(ms).toISOString();
const soon = () => Date.now() + 1_000;
const range = () => `from=${iso(Date.now() - 40 * day)}&to=${iso(Date.now() + day)}`;

let us: World;
let hooks: ReturnType<typeof receiver>;
let data: TerminalData;
let fault: Fault;
let asked: URL[];

beforeEach(async () => {
  hooks = receiver();
  us = await world();
  data = {
    company: 'Example Haulage',
    secretKey: 'sk_prod_secret_1',
    connectionToken: 'con_tkn_secret_1',
    vehicles: [1, 2, 3].map((n) => terminalVehicle(n)),
    drivers: [1, 2, 3].map((n) => terminalDriver(n)),
    groups: [1, 2, 3].map((n) => terminalGroup(n, `Yard ${n}`)),
    trips: [],
    events: [],
  };
  fault = () => undefined;
  asked = [];
  const faulty: Fault = (url, calls) => {
    asked.push(url);
    return fault(url, calls);
  };
  hooks.serves(origin, fakeTerminal(data, { perPage: 2, fault: faulty }));
  return () => vi.restoreAllMocks();
});

const credential = (more: object = {}) =>
  JSON.stringify({ secretKey: data.secretKey, connectionToken: data.connectionToken, ...more });
const connected = (more?: object) => connect(us, 'terminal', credential(), more);
const subscribed = (id: string, ...notificationTypes: number[]) =>
  as(us.apiToken).post('/webhook', webhookBody(us, { connectionIds: [id], notificationTypes }));
/** Terminal has taken in another version. */
const changed = (item: object, more: object, at = Date.now() + 120_000) =>
  Object.assign(item, more, { metadata: { addedAt: iso(at), modifiedAt: iso(at) } });
const [truck, other] = [terminalVehicle(1), terminalVehicle(2)];
const group = (n: number) => terminalGroup(n, '').id;

type Status = {
  organisation: string;
  feeds: { feed: string; problem: { advice: string } | null; history: { share: number } | null }[];
  refusals: { kind: string; reason: string }[];
};
const statusOf = async (id: string) => (await operator.get<Status>(`/operator/connections/${id}/pull`)).data;

it('takes in vehicles with their groups and drivers, all pages of them, and what was removed', async () => {
  data.vehicles = [
    terminalVehicle(1, { groups: [group(3), group(1)] }),
    terminalVehicle(2, { name: undefined, vin: undefined, year: undefined, status: 'inactive' }),
    terminalVehicle(3),
  ];
  data.drivers[1] = terminalDriver(2, { firstName: '', middleName: '', lastName: '', username: 'kim.2' });
  const id = await connected();
  await pullAll(id);
  const vehicles = await read(us, id, '/vehicles');
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
  expect(vehicles.find(({ name }) => name === '281474902')).toMatchObject({ vin: null, status: 'inactive' });
  const drivers = await read(us, id, '/drivers');
  expect(drivers.map(({ name }) => name).sort()).toEqual(['Kim Lee Example 1', 'Kim Lee Example 3', 'kim.2']);
  expect(drivers.find(({ name }) => name === 'Kim Lee Example 1')).toMatchObject({
    email: 'kim1@example.com',
    phone: '+15125550100',
    licenseState: 'TX',
    licenseNumber: 'TX-1',
    status: 1,
  });
  const gone = { addedAt: iso(0), modifiedAt: iso(soon()), deletedAt: iso(soon()), visibility: 'deleted' };
  for (const item of [data.vehicles[2], data.drivers[2]]) Object.assign(item ?? {}, { metadata: gone });
  await pullAll(id);
  expect((await read(us, id, '/vehicles?status=inactive')).length).toBe(2);
  expect((await read(us, id, '/drivers?status=0')).length).toBe(1);
});

it('loads the history by when things began, and notifies nobody of it', async () => {
  const days = [2, 9, 20, 29, 31];
  data.events = days.map((ago) => terminalEvent(truck, 'harsh_brake', ago, Date.now() - ago * day));
  data.trips = days.map((ago) => terminalTrip(truck, ago, Date.now() - ago * day));
  const id = await connected({ historyDays: 30 });
  await subscribed(id, 1, 2);
  await pullAll(id);
  const events = await read(us, id, `/safety-events?${range()}`);
  const trips = await read(us, id, `/trips?${range()}`);
  expect([events, trips].map((list) => list.length)).toEqual([4, 4]);
  expect(hooks.got).toEqual([]);
  const { organisation, feeds } = await statusOf(id);
  expect(organisation).toBe('Example Haulage');
  expect(feeds.flatMap(({ history }) => history?.share ?? [])).toEqual([1, 1]);
  expect(events[0]).toMatchObject({
    incidentTypes: ['harsh_brake'],
    translatedIncidentTypes: ['Harsh Braking'],
    location: { latitude: 32.8, longitude: -96.81 },
    vehicleName: 'Truck 1',
    vehicleVin: '1FUJGLDR9CL300001',
    maxSpeedKph: 88.4,
    speedLimitKph: 80,
    issuedOn: iso(Date.parse(String(data.events[3]?.startedAt)) + 60_000),
  });
  expect(trips[0]).toMatchObject({
    startLocation: { latitude: 32.7767, longitude: -96.797 },
    endLocation: { latitude: 32.9, longitude: -96.9 },
    distanceKm: 42.3,
    durationSeconds: 1800,
  });
});

it('tells once of what happens after the connection was made, also of vehicles that are not known yet', async () => {
  const id = await connected();
  await subscribed(id, 2);
  await pullAll(id);
  const fresh = terminalVehicle(9);
  data.vehicles.push(fresh);
  const events = [
    terminalEvent(truck, 'speeding', 1, soon(), { driver: undefined, stats: undefined }),
    terminalEvent(fresh, 'cell_phone', 2, soon(), {
      startLocation: undefined,
      extensions: { here: { speedLimit: 90 } },
      stats: { maximumSpeed: 101 },
    }),
    // Taken in late: it began before the connection was made.
    terminalEvent(truck, 'harsh_turn', 3, Date.now() - day, { metadata: { modifiedAt: iso(soon()) } }),
  ];
  data.events.push(...events);
  await pullAll(id);
  await pullAll(id);
  await vi.waitFor(() => expect(hooks.got).toHaveLength(2), { timeout: 20_000 });
  expect(hooks.got.map(({ body }) => body.data.vehicleName).sort()).toEqual(['Truck 1', 'Truck 9']);
  const listed = await read(us, id, `/safety-events?${range()}`);
  expect(listed).toHaveLength(3);
  expect(listed.find(({ vehicleName }) => vehicleName === 'Truck 9')).toMatchObject({
    location: { latitude: 32.8, longitude: -96.8101 },
    speedLimitKph: 90,
  });
  changed(events[0] ?? {}, { driver: data.drivers[0]?.id });
  await pullAll(id);
  const after = await read(us, id, `/safety-events?${range()}&eventTypes=Speeding`);
  expect(after[0]?.driverId).not.toBeNull();
  expect(hooks.got).toHaveLength(2);
});

describe('a crash', () => {
  const levels = (vin: unknown) =>
    hooks.got
      .map(({ body }) => body.data)
      .filter((one) => one.vin === vin)
      .map((one) => [one.notificationLevel, one.isAccurate, one.reportReady]);
  const samsara = (eventState: string) =>
    terminalRaw('samsara', { eventState, behaviorLabels: [{ label: 'Crash', source: 'automated' }] });

  it('follows what the provider behind Terminal says of it, and has a report once there is a video', async () => {
    const id = await connected();
    await subscribed(id, 1);
    await pullAll(id);
    const crash = terminalEvent(truck, 'crash', 1, soon(), { raw: [samsara('needsReview')] });
    const alarm = terminalEvent(other, 'crash', 2, soon(), {
      provider: 'motive',
      raw: [terminalRaw('motive', { driver_performance_event: { coaching_status: 'pending_review' } })],
    });
    data.events.push(crash, alarm);
    await pullAll(id);
    await vi.waitFor(() => expect(hooks.got).toHaveLength(2), { timeout: 20_000 });
    changed(crash, { raw: [samsara('coached')] });
    changed(alarm, { raw: [terminalRaw('motive', { coaching_status: 'uncoachable' })] });
    await pullAll(id);
    await vi.waitFor(() => expect(hooks.got).toHaveLength(4), { timeout: 20_000 });
    changed(crash, { cameraMedia: { frontFacing: { available: true } } }, Date.now() + 240_000);
    fault = (url) =>
      url.searchParams.has('raw') ? Response.json({ code: 'gateway_timeout' }, { status: 504 }) : undefined;
    await pullAll(id);
    await vi.waitFor(() => expect(hooks.got).toHaveLength(5), { timeout: 20_000 });
    expect(levels(truck.vin)).toEqual([
      [1, false, false],
      [2, true, false],
      [3, true, true],
    ]);
    expect(levels(other.vin)).toEqual([
      [1, false, false],
      [2, false, false],
    ]);
  });

  it('is asked about once in each version, and again when that failed', async () => {
    const id = await connected();
    await subscribed(id, 1);
    await pullAll(id);
    data.events.push(terminalEvent(truck, 'crash', 1, soon(), { raw: [samsara('reviewed')] }));
    const raw = () => asked.filter(({ searchParams }) => searchParams.has('raw')).length;
    fault = (url) => (url.searchParams.has('raw') ? new Response('down', { status: 502 }) : undefined);
    await pullAll(id);
    fault = () => undefined;
    expect(raw()).toBe(1);
    await vi.waitFor(() => expect(levels(truck.vin)).toHaveLength(1), { timeout: 20_000 });
    await pullAll(id);
    await pullAll(id);
    expect(raw()).toBe(2);
    await vi.waitFor(() => expect(levels(truck.vin)).toHaveLength(2), { timeout: 20_000 });
  });

  it('is dismissed when it has become something else, and stays at level 1 when nobody says more', async () => {
    const id = await connected();
    await subscribed(id, 1);
    await pullAll(id);
    const near = terminalEvent(truck, 'crash', 1, soon(), { provider: 'azuga' });
    const crash = terminalEvent(other, 'crash', 2, soon(), {
      provider: 'azuga',
      cameraMedia: { frontFacing: { available: true } },
    });
    data.events.push(near, crash);
    await pullAll(id);
    changed(near, { type: 'near_crash' });
    await pullAll(id);
    await vi.waitFor(() => expect(hooks.got).toHaveLength(3), { timeout: 20_000 });
    expect(levels(truck.vin)).toEqual([
      [1, false, false],
      [2, false, false],
    ]);
    expect(levels(other.vin)).toEqual([[1, false, false]]);
    expect(asked.filter(({ searchParams }) => searchParams.has('raw'))).toEqual([]);
    const accidents = await read(us, id, `/accidents?${range()}`);
    expect(accidents.map(({ dismissed }) => dismissed).sort()).toEqual([false, true]);
  });
});

it('dismisses a crash that is not valid at Geotab any more', async () => {
  const id = await connected();
  await pullAll(id);
  const state = (word: string) => ({
    raw: [terminalRaw('geotab', { state: `ExceptionEventState${word}Id` })],
  });
  const crash = terminalEvent(truck, 'crash', 1, soon(), { provider: 'geotab', ...state('Valid') });
  data.events.push(crash);
  await pullAll(id);
  const isDismissed = async () => (await read(us, id, `/accidents?${range()}`))[0]?.dismissed;
  expect(await isDismissed()).toBe(false);
  changed(crash, state('Dismissed'));
  await pullAll(id);
  expect(await isDismissed()).toBe(true);
});

it("counts the provider's own word where the connection's map has it", async () => {
  const id = await connected({ incidentTypeMap: { HARSH_U_TURN: ['Unsafe Maneuver'] } });
  await pullAll(id);
  const event = (n: number, sourceType: string) =>
    terminalEvent(truck, 'harsh_turn', n, soon(), { sourceType });
  data.events.push(event(1, 'HARSH_U_TURN'), event(2, 'HARSH_LEFT'));
  await pullAll(id);
  const words = (await read(us, id, `/safety-events?${range()}`)).map(({ incidentTypes }) => incidentTypes);
  expect(words).toHaveLength(2);
  expect(words).toContainEqual(['harsh_turn', 'HARSH_U_TURN']);
  expect(words).toContainEqual(['harsh_turn']);
});

it('misses nothing while things change between pages', async () => {
  const id = await connected();
  await pullAll(id);
  const start = soon();
  const make = (n: number) => terminalEvent(truck, 'harsh_brake', n, start + n * 1000);
  data.events.push(...[1, 2, 3, 4, 5].map(make));
  let added = 5;
  fault = (url) => {
    if (url.pathname.endsWith('/safety/events') && added < 9) {
      data.events.push(make(++added));
      changed(data.events[added - 6] ?? {}, {}, start + 60_000 + added);
    }
    return undefined;
  };
  await pullAll(id);
  expect(await read(us, id, `/safety-events?${range()}`)).toHaveLength(9);
});

it('never asks by two sorts of time, and in a quiet minute only once, with nothing to write', async () => {
  const id = await connected({ historyDays: 3 });
  await pullAll(id);
  expect(asked.some(({ searchParams }) => searchParams.has('startedAfter'))).toBe(true);
  asked = [];
  const feeds = () =>
    env.DB.prepare('select feeds from pulls where connection_id = ?1').bind(id).first('feeds');
  await env.DB.prepare('update pulls set due_at = 0 where connection_id = ?1').bind(id).run();
  const before = await feeds();
  await pull(env, [id]);
  expect(asked.map(({ pathname }) => pathname)).toEqual(['/tsp/v1/safety/events']);
  expect(await feeds()).toBe(before);
});

it('says that Terminal has lost the customer, keeps what there is, and goes on when they are back', async () => {
  const id = await connected();
  await pullAll(id);
  data.status = 'disconnected';
  await pullAll(id);
  expect(await read(us, id, '/vehicles')).toHaveLength(3);
  const problem = (await statusOf(id)).feeds.find(({ feed }) => feed === 'vehicles')?.problem;
  expect(problem?.advice).toBe(
    'Terminal is no longer connected to Samsara: the customer has to sign in there again, through Terminal. ' +
      'We keep trying.',
  );
  data.status = 'connected';
  await pullAll(id);
  expect((await statusOf(id)).feeds.map(({ problem }) => problem)).toEqual([null, null, null, null]);
  changed(data.vehicles[0] ?? {}, { name: 'Truck one' });
  await pullAll(id);
  expect((await read(us, id, '/vehicles')).map(({ name }) => name)).toContain('Truck one');
});

it('goes on where it was when Terminal fails half-way, and waits as long as it says, also for parts of seconds', async () => {
  const start = soon();
  const id = await connected();
  await pullAll(id);
  data.events = [1, 2, 3, 4, 5].map((n) => terminalEvent(truck, 'harsh_brake', n, start + n * 1000));
  fault = (url) =>
    url.pathname.endsWith('/safety/events') && url.searchParams.has('cursor')
      ? Response.json({ code: 'gateway_timeout', message: 'Gateway Timeout' }, { status: 504 })
      : undefined;
  await pullAll(id);
  fault = () =>
    Response.json(
      { code: 'too_many_requests', message: 'Too Many Requests', retryAfter: 240 },
      { status: 429, headers: { 'retry-after': '240.4' } },
    );
  await turn(id);
  const dueAt = await env.DB.prepare('select due_at as dueAt from pulls where connection_id = ?1')
    .bind(id)
    .first<number>('dueAt');
  expect(Math.round((Number(dueAt) - Date.now()) / 10_000)).toBe(24);
  fault = () => undefined;
  await pullAll(id);
  expect(await read(us, id, `/safety-events?${range()}`)).toHaveLength(5);
});

it('goes on with the other records when one is not as it should be, and says which and why', async () => {
  const id = await connected();
  data.vehicles = [
    terminalVehicle(1, { name: 'n'.repeat(1_000_000) }),
    terminalVehicle(2, { year: '2022', groups: 'none', licensePlate: 7 }),
    terminalVehicle(3, { vin: null, licensePlate: null }),
  ];
  data.drivers = [terminalDriver(1, { firstName: {}, email: 'nobody' })];
  data.events = [
    terminalEvent(terminalVehicle(3), 'harsh_brake', 1, soon(), { stats: { maximumSpeed: -1 } }),
    terminalEvent(terminalVehicle(3), 'crash', 2, soon(), {
      provider: null,
      startLocation: null,
      endLocation: 4,
    }),
    terminalEvent(terminalVehicle(3), 'harsh_brake', 3, soon(), { type: null, vehicle: null, startedAt: 7 }),
  ];
  await pullAll(id);
  expect((await read(us, id, '/vehicles')).map(({ name }) => name)).toEqual(['Truck 3']);
  expect(await read(us, id, `/safety-events?${range()}`)).toHaveLength(1);
  const reasons = (await statusOf(id)).refusals.map(({ kind, reason }) => `${kind}: ${reason.split(';')[0]}`);
  expect(reasons.sort()).toEqual([
    'driver: name must be a string',
    'safetyEvent: maxSpeedKph must be from 0 to 1000',
    'safetyEvent: vehicle must be a string',
    'vehicle: name can be at most 200 characters',
    'vehicle: year must be a number',
  ]);
});

it('refuses a connection that Terminal has lost', async () => {
  data.status = 'archived';
  const path = `/operator/accounts/${us.accountId}/connections`;
  const { message } = await operator.post(path, { provider: 'terminal', credential: credential() });
  expect(message).toBe('credential Terminal has archived this connection to Samsara.');
});

it.each([
  ['no JSON', 'sk_prod_secret_1', 'must be JSON'],
  ['half of it', '{"secretKey": "sk_prod_secret_1"}', 'connectionToken must be one word'],
  [
    'another key',
    '{"secretKey": "sk_prod_wrong_1", "connectionToken": "con_tkn_secret_1"}',
    'Terminal refuses',
  ],
  [
    "another's token",
    '{"secretKey": "sk_prod_secret_1", "connectionToken": "con_tkn_wrong"}',
    'may not read',
  ],
])('refuses a credential that is wrong: %s', async (_, text, reason) => {
  const path = `/operator/accounts/${us.accountId}/connections`;
  const { status, message, errors } = await operator.post(path, { provider: 'terminal', credential: text });
  expect(status).toBe(400);
  expect(errors?.[0]?.field).toBe('credential');
  expect(message).toContain(reason);
  expect(message).not.toMatch(/sk_prod|con_tkn_(?:wrong|secret)/);
});

it('tells connections of a customer apart by their tokens, and takes another secret key for one', async () => {
  const id = await connected();
  const path = `/operator/accounts/${us.accountId}/connections`;
  const again = await operator.post(path, { provider: 'terminal', credential: credential() });
  expect(again.status).toBe(400);
  data.secretKey = 'sk_prod_secret_2';
  const headers = { authorization: `Bearer ${env.OPERATOR_KEY}` };
  const replaced = await call('PUT', `/operator/connections/${id}/credential`, {
    headers,
    body: { credential: credential() },
  });
  expect(replaced.status).toBe(200);
  await pullAll(id);
  expect(await read(us, id, '/vehicles')).toHaveLength(3);
});

describe("Terminal's webhook", () => {
  const secret = `whsec_${new TextEncoder().encode('twenty-four bytes of it!').toBase64()}`;
  const body = JSON.stringify({ id: 'evt_1', type: 'safety_event.added' });
  const now = () => Math.floor(Date.now() / 1000);

  async function headersOf({ at = now(), key = secret, name = 'svix', text = body, id = 'msg_1' } = {}) {
    const bytes = Uint8Array.fromBase64(key.replace('whsec_', ''));
    const imported = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [
      'sign',
    ]);
    const signed = await crypto.subtle.sign(
      'HMAC',
      imported,
      new TextEncoder().encode(`msg_1.${at}.${text}`),
    );
    const signature = `v1,bm90IHRoaXMgb25l v2,abc v1,${new Uint8Array(signed).toBase64()}`;
    return { [`${name}-id`]: id, [`${name}-timestamp`]: String(at), [`${name}-signature`]: signature };
  }

  it('has what happened told at once, if Terminal signed it lately, under either name of its headers', async () => {
    const id = await connected();
    await subscribed(id, 2);
    await pullAll(id);
    const ring = async (headers: Promise<Record<string, string>>) =>
      (await call('POST', `/providers/${id}/webhook`, { headers: await headers, body })).status;
    expect(await ring(headersOf())).toBe(401); // there is no secret yet
    const headers = { authorization: `Bearer ${env.OPERATOR_KEY}` };
    await call('PUT', `/operator/connections/${id}/webhook-secret`, { headers, body: { secret } });
    data.events.push(terminalEvent(truck, 'harsh_brake', 1, soon()));
    expect(await ring(headersOf({ at: now() - 301 }))).toBe(401);
    expect(await ring(headersOf({ at: now() + 301 }))).toBe(401);
    expect(await ring(headersOf({ key: 'whsec_b3RoZXI=' }))).toBe(401);
    expect(await ring(headersOf({ text: '{}' }))).toBe(401);
    expect(await ring(headersOf({ id: 'msg_2' }))).toBe(401);
    expect(await ring(Promise.resolve({}))).toBe(401);
    expect(await ring(headersOf({ name: 'webhook' }))).toBe(200);
    await vi.waitFor(() => expect(hooks.got).toHaveLength(1), { timeout: 20_000 });
    expect(await ring(headersOf())).toBe(200);
    expect(hooks.got).toHaveLength(1);
  });
});
