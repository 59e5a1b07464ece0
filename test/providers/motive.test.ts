import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type Fault,
  fakeMotive,
  type MotiveData,
  motiveDriver,
  motiveEvent,
  motivePeriod,
  motiveSpeeding,
  motiveVehicle,
} from '../../src/dev/fakes/motive.ts';
import { pull } from '../../src/providers/pull.ts';
import { connect, pullAll, read, turn } from '../support/provider.ts';
import { receiver } from '../support/receiver.ts';
import { as, call, operator, type World, webhookBody, world } from '../support/world.ts';

const origin = 'https://api.gomotive.com';
const minute = 60_000;
const day = 86_400_000;
/** Motive's times are whole seconds. */
const iso = (ms: number) => new Date(Math.floor(ms / 1000) * 1000).toISOString();
/** Soon enough to be after the connection was made, in whole seconds too. */
const soon = () => Date.now() + 2_000;
const range = () => `from=${iso(Date.now() - 40 * day)}&to=${iso(Date.now() + day)}`;

let us: World;
let hooks: ReturnType<typeof receiver>;
let data: MotiveData;
let fault: Fault;
let asked: URL[];

beforeEach(async () => {
  hooks = receiver();
  us = await world();
  data = {
    company: 'Sample Freight',
    key: 'motive-secret-key-1',
    vehicles: [1, 2, 3].map((n) => motiveVehicle(n)),
    users: [motiveDriver(1), motiveDriver(2, { status: 'deactivated' })],
    groups: [1, 2, 3].map((id) => ({ id, name: `Yard ${id}`, parent_id: null })),
    periods: [],
    performance: [],
    speeding: [],
  };
  fault = () => undefined;
  asked = [];
  serve();
  return () => vi.restoreAllMocks();
});

function serve(more: { perPage?: number; saysTotal?: boolean } = { perPage: 2 }) {
  const faulty: Fault = (url, calls) => {
    asked.push(url);
    return fault(url, calls);
  };
  hooks.serves(origin, fakeMotive(data, { ...more, fault: faulty }));
}

const connected = (more?: object) => connect(us, 'motive', data.key, more);
const subscribed = (id: string, ...notificationTypes: number[]) =>
  as(us.apiToken).post('/webhook', webhookBody(us, { connectionIds: [id], notificationTypes }));

/** From now on it is so many minutes later than it is. */
const real = Date.now.bind(Date);
const later = (minutes: number) => vi.spyOn(Date, 'now').mockImplementation(() => real() + minutes * minute);

const [truck, other] = [motiveVehicle(1), motiveVehicle(2)];

it('takes in vehicles with their groups and drivers, all pages of them', async () => {
  data.vehicles = [
    motiveVehicle(1, { group_ids: [3, 1] }),
    motiveVehicle(2, { status: 'deactivated', year: '0', vin: null, make: null, fuel_type: null }),
    motiveVehicle(3),
  ];
  data.users.push(motiveDriver(3, { role: 'admin' }));
  const id = await connected();
  await pullAll(id);
  const vehicles = await read(us, id, '/vehicles');
  expect(vehicles).toHaveLength(3);
  expect(vehicles.find(({ name }) => name === 'Truck 1')).toMatchObject({
    sourceId: '1300181',
    vin: '1FUJGLDR7CL200001',
    make: 'Freightliner',
    model: null,
    year: 2022,
    fuelType: 'diesel',
    licensePlate: 'MTV-1',
    groups: ['Yard 3', 'Yard 1'],
    status: 'active',
  });
  expect(vehicles.find(({ name }) => name === 'Truck 2')).toMatchObject({
    year: null,
    vin: null,
    status: 'inactive',
    groups: [],
  });
  const drivers = await read(us, id, '/drivers');
  expect(drivers).toHaveLength(2);
  expect(drivers.find(({ name }) => name === 'Sam Sample 1')).toMatchObject({
    sourceId: '4033171',
    email: null,
    phone: '+1 6155550100',
    licenseState: 'TN',
    licenseNumber: 'TN-1',
    status: 1,
  });
  expect(drivers.find(({ name }) => name === 'Sam Sample 2')).toMatchObject({ status: 0 });
});

it('loads the history of both lists of events and of trips, page by page, and notifies nobody of it', async () => {
  // Some just after the first moment of a week of history, and the company's days are others than those of UTC.
  data.dayBeginsAt = 24;
  const days = [2, 7 - 1 / 1440, 20, 29];
  for (const ago of days) {
    const at = Date.now() - ago * day;
    data.performance.push(motiveEvent(truck, 'hard_brake', at));
    data.speeding.push(motiveSpeeding(truck, at));
    data.periods.push(motivePeriod(truck, at));
  }
  data.speeding.push(motiveSpeeding(truck, Date.now() - 31 * day));
  const id = await connected({ historyDays: 30 });
  await subscribed(id, 1, 2);
  await pullAll(id);
  const events = await read(us, id, `/safety-events?${range()}`);
  const trips = await read(us, id, `/trips?${range()}`);
  expect([events, trips].map((list) => list.length)).toEqual([8, 4]);
  expect(hooks.got).toEqual([]);
  const { data: status } = await operator.get<{
    organisation: string;
    feeds: { feed: string; history: { share: number } | null }[];
  }>(`/operator/connections/${id}/pull`);
  expect(status.organisation).toBe('Sample Freight');
  expect(status.feeds.flatMap(({ history }) => history?.share ?? [])).toEqual([1, 1]);
  expect(events.find(({ sourceId }) => !String(sourceId).startsWith('speeding'))).toMatchObject({
    incidentTypes: ['hard_brake'],
    translatedIncidentTypes: ['Harsh Braking'],
    eventRisk: 3,
    location: { latitude: 36.1627, longitude: -86.7816 },
    vehicleName: 'Truck 1',
    maxSpeedKph: 96.56,
    speedLimitKph: null,
  });
  expect(events.find(({ sourceId }) => String(sourceId).startsWith('speeding'))).toMatchObject({
    translatedIncidentTypes: ['Speeding'],
    eventRisk: 4,
    location: { latitude: 36.1627, longitude: -86.7816 },
    driverId: null,
    maxSpeedKph: 121.5,
    speedLimitKph: 104.6,
  });
  expect(trips[0]).toMatchObject({
    startLocation: { latitude: 36.1627, longitude: -86.7816 },
    endLocation: { latitude: 36.2, longitude: -86.7 },
    distanceKm: 42.25,
    durationSeconds: 1800,
  });
});

it('tells once of what happens after the connection was made, and takes over what is changed later', async () => {
  const id = await connected();
  await subscribed(id, 2);
  await pullAll(id);
  const brake = motiveEvent(truck, 'aggregated_lane_swerving_event', soon(), {
    metadata: { severity: 'critical' },
    secondary_behaviors: ['Cell Phone Usage', 'No tag applies'],
    driver: null,
  });
  const speeding = motiveSpeeding(truck, soon(), { id: brake.id });
  const none = motiveSpeeding(other, soon(), { status: 'invalid' });
  const trip = motivePeriod(other, soon(), { status: 'in_progress', end_time: null, end_kilometers: null });
  data.performance.push(brake);
  data.speeding.push(speeding, none);
  data.periods.push(trip);
  await pullAll(id);
  await pullAll(id);
  await vi.waitFor(() => expect(hooks.got).toHaveLength(2), { timeout: 20_000 });
  const types = hooks.got.map(({ body }) => body.data.translatedIncidentTypes);
  expect(types.sort()).toEqual([['Lane Departure', 'Phone Usage'], ['Speeding']]);
  expect((await read(us, id, `/trips?${range()}`))[0]).toMatchObject({
    endedAt: null,
    durationSeconds: null,
  });
  Object.assign(brake, { driver: { id: 4033171 }, changedAt: iso(soon()) });
  Object.assign(trip, {
    ...motivePeriod(other, Date.parse(String(trip.start_time)), { id: trip.id }),
    changedAt: iso(soon()),
  });
  await pullAll(id);
  const events = await read(us, id, `/safety-events?${range()}`);
  expect(events).toHaveLength(2);
  expect(events.find(({ eventRisk }) => eventRisk === 5)?.driverId).not.toBeNull();
  expect((await read(us, id, `/trips?${range()}`))[0]).toMatchObject({ durationSeconds: 1800 });
  expect(hooks.got).toHaveLength(2);
});

describe('a crash', () => {
  const levels = (vin: unknown) =>
    hooks.got
      .map(({ body }) => body.data)
      .filter((one) => one.vin === vin)
      .map((one) => [one.notificationLevel, one.isAccurate, one.reportReady]);

  it('is confirmed by being listed after the review, and dismissed when the review has taken it away', async () => {
    const id = await connected();
    await subscribed(id, 1);
    await pullAll(id);
    const crash = motiveEvent(truck, 'crash', soon(), { isSlight: true });
    const alarm = motiveEvent(other, 'crash', soon());
    data.performance.push(crash, alarm);
    await pullAll(id);
    await vi.waitFor(() => expect(hooks.got).toHaveLength(2), { timeout: 20_000 });
    later(5);
    data.performance = [crash];
    await pullAll(id);
    await vi.waitFor(() => expect(levels(alarm.vehicle && other.vin)).toHaveLength(2), { timeout: 20_000 });
    expect(levels(truck.vin)).toHaveLength(1);
    later(11);
    await pullAll(id);
    await vi.waitFor(() => expect(levels(truck.vin)).toHaveLength(2), { timeout: 20_000 });
    Object.assign(crash, {
      camera_media: {
        id: 1,
        available: true,
        downloadable_videos: { front_facing_plain_url: 'https://media.example.com/1.mp4' },
      },
      changedAt: iso(Date.now()),
    });
    await pullAll(id);
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
    const accidents = await read(us, id, `/accidents?${range()}`);
    expect(accidents.find(({ vin }) => vin === truck.vin)).toMatchObject({
      dismissed: false,
      reportUrl: 'https://media.example.com/1.mp4',
    });
    expect(accidents.find(({ vin }) => vin === other.vin)).toMatchObject({ dismissed: true });
  });

  it('is dismissed when it has become something else, or was marked as no crash', async () => {
    const id = await connected();
    await subscribed(id, 1);
    await pullAll(id);
    const near = motiveEvent(truck, 'crash', soon());
    const marked = motiveEvent(other, 'crash', soon());
    data.performance.push(near, marked);
    await pullAll(id);
    Object.assign(near, { type: 'near_miss', changedAt: iso(soon()) });
    Object.assign(marked, { coaching_status: 'uncoachable', changedAt: iso(soon()) });
    await pullAll(id);
    await vi.waitFor(() => expect(hooks.got).toHaveLength(4), { timeout: 20_000 });
    for (const { vin } of [truck, other])
      expect(levels(vin)).toEqual([
        [1, false, false],
        [2, false, false],
      ]);
    const events = await read(us, id, `/safety-events?${range()}&eventTypes=Near+Crash`);
    expect(events).toHaveLength(1);
  });

  it('is judged only when the whole list was read', async () => {
    const crashes = [1, 2, 3].map((n) => motiveEvent(motiveVehicle(n), 'crash', soon() + n * 1000));
    const id = await connected();
    await subscribed(id, 1);
    await pullAll(id);
    data.performance.push(...crashes);
    await pullAll(id);
    await vi.waitFor(() => expect(hooks.got).toHaveLength(3), { timeout: 20_000 });
    for (const crash of crashes) crash.changedAt = '2020-01-01T00:00:00Z';
    // The second page of the look-up fails; then one goes away between its pages, which hides another.
    const isLookUp = (url: URL) => url.searchParams.has('event_types');
    const isSecond = (url: URL) => isLookUp(url) && url.searchParams.get('page_no') === '2';
    fault = (url) => (isSecond(url) ? new Response('upstream', { status: 502 }) : undefined);
    await turn(id);
    fault = (url) => {
      if (isSecond(url)) data.performance = crashes.slice(0, 2); // the newest comes first
      return undefined;
    };
    await turn(id);
    expect(hooks.got).toHaveLength(3);
    fault = () => undefined;
    data.performance = crashes;
    await pullAll(id);
    expect((await read(us, id, `/accidents?${range()}&dismissed=true`)).length).toBe(0);
    data.performance = crashes.slice(1);
    await pullAll(id);
    await vi.waitFor(() => expect(hooks.got).toHaveLength(4), { timeout: 20_000 });
    expect(levels(crashes[0]?.vehicle && truck.vin)).toEqual([
      [1, false, false],
      [2, false, false],
    ]);
  });

  it('is judged by what it has become, and not by absence, where there are more than are looked through', async () => {
    const crashes = Array.from({ length: 12 }, (_, n) => motiveEvent(truck, 'crash', soon() + n * 1000));
    const id = await connected();
    await pullAll(id);
    data.performance.push(...crashes);
    await pullAll(id);
    for (const crash of crashes) crash.changedAt = '2020-01-01T00:00:00Z';
    Object.assign(crashes[3] ?? {}, { type: 'near_miss', changedAt: iso(soon()) });
    await pullAll(id);
    const accidents = await read(us, id, `/accidents?${range()}`);
    expect(accidents).toHaveLength(12);
    expect(accidents.filter(({ dismissed }) => dismissed)).toHaveLength(1);
  });

  it('from before the connection was made is confirmed in silence', async () => {
    data.performance.push(
      motiveEvent(truck, 'crash', Date.now() - 20 * day),
      motiveEvent(other, 'crash', Date.now() - 2 * day),
    );
    const id = await connected({ historyDays: 30 });
    await subscribed(id, 1);
    await pullAll(id);
    later(11);
    await pullAll(id);
    const accidents = await read(us, id, `/accidents?${range()}`);
    expect(accidents.map(({ notificationLevel }) => notificationLevel)).toEqual([2, 2]);
    expect(hooks.got).toEqual([]);
  });
});

it('misses nothing while the list moves under it, and where days are those of the company', async () => {
  data.dayBeginsAt = 8;
  const id = await connected();
  await pullAll(id);
  const start = soon();
  const make = (n: number) => motiveSpeeding(truck, start + n * 1000, { id: n });
  data.speeding.push(...[1, 2, 3, 4, 5].map(make));
  let added = 5;
  fault = (url) => {
    if (url.pathname === '/v1/speeding_events' && added < 9) data.speeding.push(make(++added));
    return undefined;
  };
  await pullAll(id);
  await pullAll(id);
  expect(await read(us, id, `/safety-events?${range()}`)).toHaveLength(9);
});

it('reads on where no number of items is given', async () => {
  serve({ saysTotal: false });
  const start = soon();
  const id = await connected();
  data.vehicles = Array.from({ length: 230 }, (_, n) => motiveVehicle(n));
  data.performance = [1, 2].map((n) => motiveEvent(truck, 'crash', start + n * 1000));
  await pullAll(id);
  expect(await read(us, id, '/vehicles?limit=500')).toHaveLength(230);
  data.performance.pop();
  await pullAll(id);
  const accidents = await read(us, id, `/accidents?${range()}`);
  expect(accidents.map(({ dismissed }) => dismissed).sort()).toEqual([false, true]);
});

it('reads the last days again each hour, so that what came late is found', async () => {
  const id = await connected();
  await pullAll(id);
  const lateSpeeding = motiveSpeeding(truck, soon());
  const lateBrake = motiveEvent(truck, 'hard_brake', soon(), { changedAt: '2020-01-01T00:00:00Z' });
  later(120);
  await pullAll(id);
  data.speeding.push(lateSpeeding);
  data.performance.push(lateBrake);
  await pullAll(id);
  later(190);
  for (let turns = 0; turns < 6; turns++) await pullAll(id);
  expect(await read(us, id, `/safety-events?${range()}`)).toHaveLength(2);
});

it('goes on within a turn with what is more than a page of ours', async () => {
  serve({});
  const id = await connected();
  await pullAll(id);
  const start = soon();
  data.performance = Array.from({ length: 450 }, (_, n) =>
    motiveEvent(truck, 'hard_brake', start + n * 1000),
  );
  await turn(id);
  expect((await read(us, id, `/safety-events?${range()}&limit=500`)).length).toBe(450);
});

it('catches up after a long pause, in stretches of days', async () => {
  const id = await connected();
  await pullAll(id);
  const start = soon();
  later(45 * 24 * 60);
  data.performance = [1, 20, 40].map((n) => motiveEvent(truck, 'hard_brake', start + n * day));
  data.speeding = [1, 20, 40].map((n) => motiveSpeeding(truck, start + n * day));
  data.periods = [1, 20, 40].map((n) => motivePeriod(truck, start + n * day));
  await pullAll(id);
  const days = `from=${iso(start - day)}&to=${iso(start + 60 * day)}`;
  expect(await read(us, id, `/safety-events?${days}`)).toHaveLength(6);
  expect(await read(us, id, `/trips?${days}`)).toHaveLength(3);
});

it('goes on where it was when Motive fails half-way, and waits as long as it says, also for parts of seconds', async () => {
  const start = soon();
  const id = await connected();
  await pullAll(id);
  data.performance = [1, 2, 3, 4, 5].map((n) => motiveEvent(truck, 'hard_brake', start + n * 1000));
  fault = (url) =>
    url.pathname.startsWith('/v2') && url.searchParams.get('page_no') === '3'
      ? new Response('Bad gateway', { status: 502 })
      : undefined;
  await pullAll(id);
  fault = () =>
    Response.json(
      { error_message: 'Too many requests' },
      { status: 429, headers: { 'retry-after': '240.25' } },
    );
  await turn(id);
  const { dueAt } = (await env.DB.prepare('select due_at as dueAt from pulls where connection_id = ?1')
    .bind(id)
    .first<{ dueAt: number }>()) ?? { dueAt: 0 };
  expect(Math.round((dueAt - Date.now()) / 10_000)).toBe(24);
  fault = () => undefined;
  await pullAll(id);
  expect(await read(us, id, `/safety-events?${range()}`)).toHaveLength(5);
});

it('goes on with the other records when one is not as it should be, and says which and why', async () => {
  data.vehicles = [
    motiveVehicle(1, { number: 'n'.repeat(1_000_000) }),
    motiveVehicle(2, { make: 7, group_ids: 'none' }),
    null as never,
    motiveVehicle(3),
  ];
  data.performance.push(
    motiveEvent(motiveVehicle(3), 'hard_brake', soon(), { max_speed: -3 }),
    motiveEvent(motiveVehicle(3), 'hard_brake', soon() + 1000, {
      max_speed: '80.5',
      lat: '36.2',
      lon: '-86.1',
    }),
    motiveEvent(motiveVehicle(3), 'crash', soon() + 2000, { start_time: 'yesterday', vehicle: null }),
    { id: 7 },
    null as never,
  );
  const id = await connected();
  await pullAll(id);
  expect((await read(us, id, '/vehicles')).map(({ name }) => name)).toEqual(['Truck 3']);
  const events = await read(us, id, `/safety-events?${range()}`);
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({ maxSpeedKph: 80.5, location: { latitude: 36.2, longitude: -86.1 } });
  const { data: status } = await operator.get<{ refusals: { kind: string; reason: string }[] }>(
    `/operator/connections/${id}/pull`,
  );
  const reasons = status.refusals.map(({ kind, reason }) => `${kind}: ${reason.split(';')[0]}`);
  expect(reasons).toContain('vehicle: make must be a string');
  expect(reasons).toContain('vehicle: name can be at most 200 characters');
  expect(reasons).toContain('safetyEvent: maxSpeedKph must be from 0 to 1000');
});

it('needs no more calls in a minute in which nothing happens than there are lists', async () => {
  const id = await connected();
  await pullAll(id);
  asked = [];
  await env.DB.prepare('update pulls set due_at = 0 where connection_id = ?1').bind(id).run();
  const before = await env.DB.prepare('select feeds from pulls where connection_id = ?1')
    .bind(id)
    .first('feeds');
  await pull(env, [id]);
  expect(asked.map(({ pathname }) => pathname).sort()).toEqual([
    '/v1/speeding_events',
    '/v2/driver_performance_events',
    '/v2/driver_performance_events',
  ]);
  const after = await env.DB.prepare('select feeds from pulls where connection_id = ?1')
    .bind(id)
    .first('feeds');
  expect(after).toBe(before);
});

it('refuses a key that Motive refuses, and tells nothing of it', async () => {
  const path = `/operator/accounts/${us.accountId}/connections`;
  const { status, message, errors } = await operator.post(path, {
    provider: 'motive',
    credential: 'wrong-key-1',
  });
  expect(status).toBe(400);
  expect(errors?.[0]?.field).toBe('credential');
  expect(message).toContain('Motive refuses the API key');
  expect(message).not.toContain('wrong-key-1');
});

describe("Motive's webhook", () => {
  const secret = 'twenty-characters-20';
  const body = JSON.stringify({ action: 'driver_performance_event_created', id: 1, type: 'crash' });

  async function signed(text: string, key = secret) {
    const bytes = new TextEncoder();
    const imported = await crypto.subtle.importKey(
      'raw',
      bytes.encode(key),
      { name: 'HMAC', hash: 'SHA-1' },
      false,
      ['sign'],
    );
    return new Uint8Array(await crypto.subtle.sign('HMAC', imported, bytes.encode(text))).toHex();
  }
  const ring = (id: string, signature: string) =>
    call('POST', `/providers/${id}/webhook`, { headers: { 'x-kt-webhook-signature': signature }, body });

  it('has what happened told at once, if Motive signed it, and carries nothing in', async () => {
    const id = await connected();
    await subscribed(id, 1);
    await pullAll(id);
    expect((await ring(id, await signed(body))).status).toBe(401); // there is no secret yet
    const headers = { authorization: `Bearer ${env.OPERATOR_KEY}` };
    await call('PUT', `/operator/connections/${id}/webhook-secret`, { headers, body: { secret } });
    data.performance.push(motiveEvent(truck, 'crash', soon()));
    expect((await ring(id, await signed(body, 'another secret of 20'))).status).toBe(401);
    expect((await ring(id, await signed('{}'))).status).toBe(401);
    expect((await ring(id, 'no hex')).status).toBe(401);
    expect((await ring(id, await signed(body))).status).toBe(200);
    await vi.waitFor(() => expect(hooks.got).toHaveLength(1), { timeout: 20_000 });
    expect(hooks.got[0]?.body.data).toMatchObject({ vin: truck.vin, notificationLevel: 1 });
  });
});
