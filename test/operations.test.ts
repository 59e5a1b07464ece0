import {
  createExecutionContext,
  createScheduledController,
  waitOnExecutionContext,
} from 'cloudflare:test';
import { sql } from 'drizzle-orm';
import { app } from '#src/app.ts';
import { maxWords } from '#src/core/fleet/lists/search-keys.ts';
import { pruneChanges } from '#src/core/fleet/record-changes.ts';
import { transaction } from '#src/core/platform/db/database.ts';
import { firstIdAt } from '#src/core/platform/db/ids.ts';
import { openDatabase } from '#src/core/platform/db/system.ts';
import { othersAreActive } from '#src/core/platform/fair-queue.ts';
import { newBudget } from '#src/core/platform/jobs/budget.ts';
import { handle } from '#src/core/webhooks/deliveries/consumer.ts';
import type { DeliveryMessage } from '#src/core/webhooks/deliveries/queue.ts';
import { prune as pruneDeliveries } from '#src/core/webhooks/deliveries/sweep.ts';
import { pruneNotifications } from '#src/core/webhooks/notifications/remove.ts';
import { fakeSamsara, samsaraEvent, samsaraVehicle } from '#src/dev/fakes/samsara.ts';
import { perEvent, perTrip } from '#src/docs/per-event.ts';
import { archive } from '#src/extras/archive/job.ts';
import { connectionSql } from '#src/extras/providers/connect.ts';
import { pull } from '#src/extras/providers/pull.ts';
import { readTrends } from '#src/extras/trends/for-overview.ts';
import { countEvents } from '#src/extras/trends/job.ts';
import { spanOf } from '#src/extras/trends/pages/spans.ts';
import worker from '#src/index.ts';
import { readOverview } from '#src/portal/read/read-overview.ts';
import { attentionOf } from '#src/ui/read/attention.ts';
import { setWindow } from './support/deliveries.ts';
import { addNeighbour } from './support/neighbour.ts';
import { connect, pullAll } from './support/provider.ts';
import { receiver } from './support/receiver.ts';
import { accident, driver, recently, safetyEvent, trip, vehicle } from './support/records.ts';
import { addRows, rows } from './support/rows.ts';
import { type Cost, metered } from './support/runtime/meter.ts';
import { register, world, worldBefore } from './support/world.ts';

// What is counted does not depend on it, but that a range which ends at a row of others reads this row as well.
beforeAll(addNeighbour);
const us = worldBefore(beforeEach);
let hooks: ReturnType<typeof receiver>;
beforeEach(async () => {
  hooks = receiver();
});

/** Makes a call, and tells what it cost, what of this came behind its reply, and whom it woke. */
async function call(key: string, method: string, path: string, records?: object[]) {
  const meter = metered();
  const context = createExecutionContext();
  // Without entrypoints: what the service starts in other invocations would not be metered.
  const alone = {
    waitUntil: (work: Promise<unknown>) => context.waitUntil(work),
  } as ExecutionContext;
  const reply = await app.fetch(
    new Request(`https://api.example.com${path}`, {
      method,
      headers: {
        'x-api-key': key,
        'connection-id': us.connection.id,
        'content-type': 'application/json',
      },
      ...(records && { body: JSON.stringify({ records }) }),
    }),
    meter.env,
    alone,
  );
  const atReply = { ...meter.cost };
  await waitOnExecutionContext(context);
  const behind = Object.entries(meter.cost).map(([of, cost]) => [
    of,
    cost - atReply[of as keyof Cost],
  ]); // its own keys
  const { data, next, resume } = await reply.json<{
    data: never;
    next?: string;
    resume?: string;
  }>();
  return {
    status: reply.status,
    data,
    next,
    resume,
    behind: Object.fromEntries(behind) as Cost,
    ...meter,
  };
}
const send = (...records: object[]) => call(us.connection.ingestKey, 'POST', '/ingest', records);

/** Runs the consumer over what a call woke, and over what that wakes in turn. Returns what all deliveries cost. */
async function deliver({ woken, behind }: Awaited<ReturnType<typeof call>>): Promise<Cost> {
  const meter = metered();
  Object.assign(meter.cost, behind);
  meter.woken.push(...woken);
  for (let message = meter.woken.shift(); message; message = meter.woken.shift())
    await handle(meter.env, message as DeliveryMessage); // as the call sent it
  return meter.cost;
}

/** What a call and all its deliveries cost together. */
async function sendAndDeliver(...records: object[]): Promise<Cost> {
  const sent = await send(...records);
  return deliver({ ...sent, behind: sent.cost });
}

/** Expects these numbers, and at most so many rows to be read. */
function expectCost(cost: Cost, { read = cost.read, ...exact }: Partial<Cost>) {
  expect(cost).toMatchObject(exact);
  expect(cost.read).toBeLessThanOrEqual(read);
}

/** Has a webhook for everything, and so many vehicles. */
async function hookFor(count: number, changes = {}): Promise<string> {
  const data = await register(us, changes);
  await send(...vehicles(count));
  return data.id;
}

const times = <T>(count: number, make: (i: number) => T) =>
  Array.from({ length: count }, (_, i) => make(i));
/** One of which nobody is warned. */
const vinOf = (i: number) => `1FUJGLDR5CLB${String(i).padStart(5, '0')}`;
const vehicles = (count: number) =>
  times(count, (i) => vehicle({ sourceId: `v${i}`, vin: vinOf(i) }));
const events = (count: number, prefix = 'e') =>
  times(count, (i) => safetyEvent({ sourceId: `${prefix}${i}`, vehicle: `v${i}` }));
const tripOf = (i: number) => trip({ sourceId: `t${i}`, vehicle: `v${i}`, startedAt: recently });
const accidentOf = (i: number) => accident({ sourceId: `a${i}`, vin: vinOf(i) });
const eventNow = (sourceId = 'event-1') =>
  safetyEvent({ sourceId, vehicle: 'v0', startedAt: new Date().toISOString() });
/** Waits until other work of the account no longer makes a large call wait. */
const othersRest = () => vi.waitFor(() => expect(othersAreActive(us.accountId)).toBe(false), 2000);

/** Enough for what all tests leave, however slow the machine is. */
const whole = () => newBudget({ ms: 300_000, queries: 100_000 });

// First, for the other tests leave work to be done.
it('a minute without work', async () => {
  await hookFor(100);
  const { env: bindings, cost } = metered();
  const scheduledTime = new Date('2026-11-22T12:01:00Z');
  await worker.scheduled(
    createScheduledController({ scheduledTime }),
    bindings,
    createExecutionContext(),
  );
  // Four of them for each webhook that has deliveries, of which the neighbour has ten.
  expectCost(cost, { trips: 4, written: 1, queued: 0, read: 28 + 4 * 10 });
});

const range = 'from=2026-11-01&to=2100-01-01';
it.each(['/vehicles', `/safety-events?${range}`, '/trips', '/drivers', '/accidents'])(
  'a list page of 50 %s',
  async (path) => {
    await send(...vehicles(120));
    await send(...events(120));
    await send(
      ...times(120, (i) => driver({ sourceId: `d${i}` })),
      ...times(120, (i) => trip({ sourceId: `t${i}`, vehicle: 'v1' })),
      ...times(120, accidentOf),
    );
    await us.api.get('/connections'); // the hour's note of the token's use
    const { data, cost } = await call(us.apiToken, 'GET', path);
    expect(data).toHaveLength(50);
    expectCost(cost, { trips: 1, written: 0, queued: 0, read: 60 });
  },
);

it('a list page of 50 of a VIN that 200 vehicles of another account have', async () => {
  const them = await world();
  const same = (count: number) =>
    times(count, (i) => vehicle({ sourceId: `same ${i}`, vin: 'SAME1' }));
  await them.send(...same(200));
  await send(...same(1));
  await us.api.get('/connections');
  const { data, cost } = await call(us.apiToken, 'GET', '/vehicles?vin=SAME1');
  expect(data).toHaveLength(1);
  expect(cost.read).toBeLessThanOrEqual(10);
});

it('a list page of 50 reads KV once for each isolate and minute', async () => {
  const [first, second] = [
    await call(us.apiToken, 'GET', '/drivers'),
    await call(us.apiToken, 'GET', '/drivers'),
  ];
  expect([first.cost.kvReads, second.cost.kvReads]).toEqual([1, 0]);
});

// D1 compiles a statement once for each text.
describe('the second time, every statement has a text that D1 has compiled:', () => {
  const startedAt = new Date().toISOString();
  it.each<[string, (round: number) => ReturnType<typeof call>]>([
    ['an event', (i) => send(safetyEvent({ sourceId: `e${i}`, vehicle: `v${i}`, startedAt }))],
    ['50 events', (i) => send(...events(50, `round ${i} `))],
    ['an accident', (i) => send(accidentOf(i))],
    ['a vehicle', (i) => send(vehicle({ sourceId: `v${i}`, name: `Truck ${i}` }))],
    ['a trip', (i) => send(tripOf(i))],
    [
      'a page of events',
      (i) => call(us.apiToken, 'GET', `/safety-events?from=2026-11-0${i}&to=2100-01-01`),
    ],
    ['a page of vehicles', (i) => call(us.apiToken, 'GET', `/vehicles?limit=${i}`)],
    ['a page of changes', (i) => call(us.apiToken, 'GET', `/changes?limit=${40 + i}`)],
    ['a page of deliveries', (i) => call(us.apiToken, 'GET', `/deliveries?limit=${i}`)],
  ])('%s', async (_, round) => {
    await hookFor(50);
    const [first, second] = [await round(1), await round(2)];
    expect(first.texts.size).toBeGreaterThan(0);
    expect([...second.texts].filter((text) => !first.texts.has(text))).toEqual([]);
  });
});

it('a page of the newest of 20,000 deliveries reads no more than are shown', async () => {
  const id = await hookFor(1);
  const row = { webhook_id: id, account_id: us.accountId, status: 'failed' };
  await addRows('deliveries', 20_000, (i) => ({ ...row, id: firstIdAt(i + 1) }));
  const first = await call(us.apiToken, 'GET', `/deliveries?order=newest&webhookId=${id}&limit=50`);
  expectCost(first.cost, { trips: 1, written: 0, read: 2 * 51 + 20 });
});

it('a malformed token costs no look-up anywhere', async () => {
  const { status, cost } = await call('fds_nonsense', 'GET', '/vehicles');
  expect(status).toBe(401);
  expect(cost).toEqual({
    trips: 0,
    read: 0,
    written: 0,
    ms: 0,
    kvReads: 0,
    kvWrites: 0,
    queued: 0,
  });
});

it.each([
  ['safety events', events(500)],
  ['vehicles', vehicles(500)],
  ['trips', times(500, tripOf)],
  ['accidents', times(500, accidentOf)],
])('a call of 500 records that are all known %s', async (_, records) => {
  await hookFor(500);
  await send(...records);
  await othersRest();
  const { cost, data } = await send(...records);
  expect(data).toMatchObject({ unchanged: 500 });
  expectCost(cost, { trips: 1, written: 0, queued: 0, read: 11 * 500 + 20 });
});

it('a new vehicle or driver is also a row for each word of its name and its plate, and one for numbers', async () => {
  const written = async (record: object) => {
    await othersRest();
    return (await send(record)).cost.written - 1; // the change feed's
  };
  const [indexesOfVehicle, indexesOfDriver] = [2, 2];
  await send(driver()); // the hour's note of the key's use
  expect(await written(vehicle({ name: '7', licensePlate: 'ABC-1234' }))).toBe(
    1 + indexesOfVehicle + 2 + 1,
  );
  expect(await written(driver({ sourceId: 'd', name: 'Jane Doe' }))).toBe(1 + indexesOfDriver + 2);
  const long = Array.from({ length: 40 }, (_, i) => `w${i}`).join(' ');
  expect(await written(driver({ sourceId: 'long', name: long }))).toBe(
    1 + indexesOfDriver + maxWords + 1,
  );
});

it('the change feed costs a call one row written, however many records it changes', async () => {
  const drivers = (phone: string) => times(500, (i) => driver({ sourceId: `d${i}`, phone }));
  await send(...drivers('1'));
  await othersRest();
  const { cost } = await send(...drivers('2'));
  expect(cost).toMatchObject({ trips: 1, written: 500 + 1, queued: 0 });
});

it('the change feed costs a reader one round trip, and two for a page', async () => {
  await send(...vehicles(120));
  await send(...events(120));
  await us.api.get('/connections'); // the hour's note of the token's use
  const page = await call(us.apiToken, 'GET', '/changes?kinds=vehicle');
  expect(page.data).toHaveLength(50);
  expectCost(page.cost, { trips: 2, written: 0, queued: 0, read: 4 * 50 });
  const start = await call(us.apiToken, 'GET', '/changes?cursor=now');
  const nothing = await call(us.apiToken, 'GET', `/changes?cursor=${start.resume}`);
  expect(nothing.data).toEqual([]);
  expectCost(nothing.cost, { trips: 1, written: 0, queued: 0, read: 8 });
});

it('a level of an accident for one webhook is as many rows, whichever level it is', async () => {
  await hookFor(1);
  for (const notificationLevel of [1, 2, 3]) {
    const sent = await send({ ...accidentOf(0), notificationLevel });
    // The accident, with two index entries, and one more while it needs attention; a notification; a delivery, with an
    // index entry; a change.
    expect(sent.cost.written).toBe(3 + 1 + 1 + 2 + 1);
    expect(sent.cost.read).toBeLessThanOrEqual(64);
    expect(sent.cost.queued).toBe(1);
    await deliver(sent); // or the next level would wait for this one
  }
});

it('a level of an accident that nobody subscribes to is the accident and a change', async () => {
  await hookFor(1, { notificationTypes: [2] });
  for (const notificationLevel of [1, 2]) {
    const { cost } = await send({ ...accidentOf(0), notificationLevel });
    // One to read it, one to write what was decided.
    expect(cost).toMatchObject({ trips: 2, written: 3 + 1 + 1, queued: 0 });
  }
});

it('a new safety event for one webhook, delivered at the first try', async () => {
  await hookFor(1);
  const cost = await sendAndDeliver(eventNow());
  expectCost(cost, { trips: 1 + 2, queued: perEvent.messages, read: perEvent.rowsRead });
  expect(cost.written).toBeLessThanOrEqual(perEvent.rowsWritten);
});

it('a safety event over its whole life: delivered, archived and deleted from D1', async () => {
  await hookFor(1);
  const lives = async (prefix: string, count: number): Promise<number> => {
    const { env: bindings, cost } = metered();
    let written = 0;
    for (let i = 0; i < count; i++) written += (await sendAndDeliver(eventNow(prefix + i))).written;
    const end = Date.now() + 400 * 86_400_000;
    for (const prune of [pruneDeliveries, pruneNotifications, pruneChanges])
      await prune(bindings, end);
    // It has not changed lately by then, or the change feed would say that it is archived.
    await rows('update safety_events set updated_at = 0 where account_id = ?1', us.accountId);
    await countEvents(metered().env); // of other tests: a day is counted before it is archived
    await archive(bindings, end, whole());
    expect(await rows('select 1 from safety_events where account_id = ?1', us.accountId)).toEqual(
      [],
    );
    return written + cost.written;
  };
  const [one, eleven] = [await lives('a', 1), await lives('b', 11)];
  expect((eleven - one) / 10).toBeLessThanOrEqual(perEvent.rowsWrittenInLife);
});

it('a trip among a hundred, until it is archived and deleted from D1', async () => {
  await send(...vehicles(1));
  const startedAt = new Date().toISOString();
  const trips = times(100, (i) =>
    trip({ sourceId: `t${i}`, vehicle: 'v0', startedAt, driver: 'd' }),
  );
  const { cost } = await send(...trips);
  const { env: bindings, cost: later } = metered();
  await rows('update trips set updated_at = 0 where account_id = ?1', us.accountId);
  await archive(bindings, Date.now() + 400 * 86_400_000, whole());
  expect(await rows('select 1 from trips where account_id = ?1', us.accountId)).toEqual([]);
  expect(Math.round((cost.written + later.written) / 100)).toBeLessThanOrEqual(
    perTrip.rowsWrittenInLife,
  );
  expect(Math.round(cost.read / 100)).toBeLessThanOrEqual(perTrip.rowsRead);
});

it('what a webhook filters out is for it not one row, call or message', async () => {
  await send(...vehicles(1));
  const costs: Cost[] = [];
  for (const filters of [undefined, { minEventRisk: 5, accidentLevels: [3] }]) {
    if (filters) await register(us, { filters });
    for (const record of [eventNow(), accidentOf(0)])
      costs.push((await send({ ...record, sourceId: `of ${costs.length}` })).cost);
  }
  const [event, crash, filteredEvent, filteredCrash] = costs;
  const { written, trips, queued } = { ...event } as Cost;
  expect(filteredEvent).toMatchObject({ written, trips, queued });
  expect(filteredCrash).toMatchObject({ written: crash?.written, trips: crash?.trips, queued: 0 });
  const ours = (table: string) => `select event_id from ${table} where account_id = ?1`;
  expect(
    await rows(`${ours('deliveries')} union all ${ours('notifications')}`, us.accountId),
  ).toEqual([]);
});

it('a late safety event costs a row more, unless its hour is to be counted already', async () => {
  await send(...vehicles(1));
  const late = (sourceId: string, minute: number) =>
    send(safetyEvent({ sourceId, vehicle: 'v0', startedAt: `2026-11-20T20:0${minute}:00Z` }));
  const [first, second] = [await late('e1', 1), await late('e2', 2)];
  expect(first.cost.written - second.cost.written).toBe(1);
});

describe('the overview of an account with a million events', () => {
  /** The counts of half a year with a million events, of a thousand vehicles, and the events of its last week. */
  async function insertEvents(): Promise<void> {
    const now = Date.now();
    await rows(
      `insert into safety_events (id, account_id, connection_id, source_id, tsp, incident_types,
         translated_incident_types, event_risk, issued_on, started_at, vehicle_id, vehicle_name, vehicle_groups,
         created_at, updated_at)
       with recursive n (i) as (select 0 union all select i + 1 from n where i < 38888)
       select format('00000000-0000-7000-8000-%012x', i), ?1, ?2, i, 'Motive', '["x"]', '["Speeding"]', 1 + i % 5,
         ?3 - i * 15552, ?3 - i * 15552, 'v' || (i % 1000), 'Truck', '[]', ?3, ?3 from n`,
      us.accountId,
      us.connection.id,
      now,
    );
    await rows(
      `insert into event_counts (account_id, hours, start, risk_1, risk_2, risk_3, risk_4, risk_5, types, vehicles, drivers)
       with recursive n (i) as (select 0 union all select i + 1 from n where i < 180 * 24)
       select ?1, h.value, ?2 - i, 46, 46, 46, 46, 46, '{"Speeding": 230}',
         (select json_group_object(value, json_array(1, 1)) from json_each(?3)), '{}'
       from n cross join json_each('[1, 24]') h where h.value = 1 or (?2 - i) % 24 = 0`,
      us.accountId,
      Math.floor(now / 3_600_000) - 3,
      JSON.stringify(times(100, (i) => `v${i}`)),
    );
  }

  it('reads a row for each day and the events of the last hours, with a round trip for what is counted', async () => {
    await insertEvents();
    const { env: bindings, cost } = metered();
    const now = Date.now();
    const span = spanOf('UTC', new Date(now).toISOString().slice(0, 10), 90);
    const caller = { accountId: us.accountId, operator: true } as const;
    const read = () =>
      Promise.all([
        readOverview(bindings, caller, connectionSql),
        readTrends(bindings, caller, span),
      ]);
    await read();
    const first = { ...cost };
    expect(first.trips).toBe(2);
    await read();
    const again = { read: cost.read - first.read, written: cost.written - first.written };
    expect(again.written).toBe(0);
    // 180 days in each of five tables, 100 vehicles of each of 90, and what is counted again: the hours of the day with
    // the vehicles of each, the two that are still going on included, and the events since the hour before this one.
    const { hours, events } = await countedAgain();
    expect(events).toBeLessThanOrEqual(2 * 232);
    expect(again.read).toBeLessThanOrEqual(
      180 * 5 + 90 * 100 * 2 + (hours + 2) * 2.5 * 100 + events * 17 + 100,
    );
  });

  const countedAgain = async () => {
    const [found] = await rows(
      `with live (hour) as (select counted_to / 3600000 - 1 from event_counting where account_id = ?1)
       select
         (select count(*) from event_counts where account_id = ?1 and hours = 1 and start >= hour / 24 * 24) as hours,
         (select count(*) from safety_events where account_id = ?1 and started_at >= hour * 3600000) as events
       from live`,
      us.accountId,
    );
    return { hours: Number(found?.hours), events: Number(found?.events) };
  };

  it('and its menu reads what it counts', async () => {
    await register(us);
    await send(...times(40, accidentOf));
    const { env: bindings, cost } = metered();
    const db = openDatabase(bindings);
    const [found] = await transaction(
      db,
      db.all<{ accidents: number }>(sql`
        select ${sql.join(Object.values(attentionOf(sql`${us.accountId}`, Date.now(), connectionSql)), sql`, `)}`),
    );
    expect(Object.values(found ?? {})).toContain(40);
    expect(cost.read).toBeLessThanOrEqual(40 + 10);
  });
});

it.each([
  ['for one webhook', 100, 1, 16],
  ['for a hundred webhooks, one each', 1, 100, 46],
])('100 deliveries %s', async (_, count, hooks, readEach) => {
  for (let i = 0; i < hooks; i++) await register(us);
  await send(...vehicles(count));
  const cost = await deliver(await send(...events(count)));
  expectCost(cost, { kvReads: 0, read: readEach * 100 });
  expect(cost.trips).toBeLessThanOrEqual(2 * hooks + count / 5);
  expect(cost.queued).toBeLessThanOrEqual(hooks + 10);
  expect(cost.written).toBeLessThanOrEqual(2 * 100 + cost.trips + 4); // the hour's counters, the window's growth
});

it('100 deliveries costs a row more for each claim while the receiver recovers', async () => {
  const id = await hookFor(100);
  await setWindow(id, 25);
  await rows('update webhook_health set failures = 1 where webhook_id = ?1', id);
  const cost = await deliver(await send(...events(100)));
  expect(cost.written).toBeLessThanOrEqual(2 * 100 + 2 * cost.trips);
});

it('100 deliveries to a receiver that takes 100 ms cost no more', async () => {
  receiver(async () => {
    await scheduler.wait(100);
    return new Response('ok');
  });
  await hookFor(100);
  const cost = await deliver(await send(...events(100)));
  expect(cost.written).toBeLessThanOrEqual(2.3 * 100);
  expect(3 * cost.queued).toBeLessThanOrEqual(3.2 * 100);
});

it('a quick receiver gets one worker, which claims much at a time', async () => {
  const webhookId = await hookFor(300);
  await setWindow(webhookId, 50);
  await call(us.connection.ingestKey, 'POST', '/ingest', events(300));
  const meter = metered();
  const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now()); // so that no response takes time on a slow machine
  await handle(meter.env, { accountId: us.accountId, webhookId, worker: 1 });
  clock.mockRestore();
  expect(hooks.got).toHaveLength(300);
  expect(meter.woken).toEqual([]);
});

const eventId = crypto.randomUUID();
const day = { from: '1970-01-01T00:10:00Z', to: '1970-01-02' };
let next = '';

/** A million deliveries, a millisecond apart: delivered ones, and then 10,000 of which half failed and half wait. */
async function insertMillion(webhookId: string): Promise<void> {
  for (const from of [0, 250_000, 500_000, 750_000])
    await rows(
      `insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at)
       with recursive n (i) as (select ?4 union all select i + 1 from n where i < ?4 + 249999)
       select ?1, format('%08x-%04x-7000-8000-%012x', i >> 16, i & 65535, i), ?2, iif(i = 700000, ?3, 'e'), 0,
         iif(i < 990000, 'delivered', iif(i % 2, 'pending', 'failed')), i from n`,
      webhookId,
      us.accountId,
      eventId,
      from,
    );
  await rows(
    `insert into notifications (event_id, level, type, account_id, connection_id, data, created_at)
     values (?1, 0, 2, ?2, ?3, '{}', 700000)`,
    eventId,
    us.accountId,
    us.connection.id,
  );
}

const page = async (query: Record<string, string>, count = 50) => {
  const path = `/deliveries?${new URLSearchParams(query)}`;
  const { cost, data, ...reply } = await call(us.apiToken, 'GET', path);
  expect(data).toHaveLength(count);
  expect(cost).toMatchObject({ trips: 1, written: 0, queued: 0 });
  next = reply.next ?? '';
  return cost.read;
};

it('a page of 50 deliveries reads what it shows of a million, or 1,000', async () => {
  const webhookId = await hookFor(1);
  await insertMillion(webhookId);
  expect(await page({})).toBeLessThanOrEqual(60);
  expect(await page({ cursor: next })).toBeLessThanOrEqual(60);
  expect(await page({ webhookId, ...day })).toBeLessThanOrEqual(60);
  for (const status of ['failed', 'pending']) {
    expect(await page({ status })).toBeLessThanOrEqual(60);
    expect(await page({ status, cursor: next })).toBeLessThanOrEqual(60);
  }
  expect(await page({ eventId }, 1)).toBeLessThanOrEqual(13);
  expect(await page({ status: 'cancelled' }, 0)).toBeLessThanOrEqual(3 * 1000 + 10);

  // Beside 999 webhooks without deliveries, which sort before it, and each of which is looked at once.
  const ours = { account_id: us.accountId, http_verb: 'POST', notification_types: 3 };
  await addRows('webhooks', 999, (i) => ({ ...ours, id: `0000-${i}`, normalised_url: `${i}` }));
  expect(await page({})).toBeLessThanOrEqual(1000 + 60);
  expect(await page({ cursor: next })).toBeLessThanOrEqual(60);
  expect(await page({ webhookId })).toBeLessThanOrEqual(60);
  expect(await page(day)).toBeLessThanOrEqual(2 * 1000 + 60);
  expect(await page({ status: 'pending' })).toBeLessThanOrEqual(1000 + 60);
  expect(await page({ eventId }, 1)).toBeLessThanOrEqual(4 * 1000 + 10);
  expect(await page({ status: 'cancelled' }, 0)).toBeLessThanOrEqual(4 * 1000 + 10);
  await rows('delete from webhooks where account_id = ?1', us.accountId);
});

it('a connection that pulls: a minute without news, and a page of 100 events', async () => {
  const trucks = times(100, (i) => samsaraVehicle(i));
  const events: ReturnType<typeof samsaraEvent>[] = [];
  const named = { organisation: 'Acme', token: 'samsara_api_costs' };
  const data = { ...named, vehicles: trucks, drivers: [], trips: [], events };
  const serve = vi.fn(fakeSamsara(data, { perPage: 500 }));
  hooks.serves('https://api.samsara.com', serve);
  const id = await connect(us, 'samsara', data.token);
  await register(us, { connectionIds: [id] });
  await pullAll(id);
  const turn = async (): Promise<Cost & { calls: number }> => {
    await rows('update pulls set due_at = 0, claimed_until = 0 where connection_id = ?1', id);
    const meter = metered();
    serve.mockClear();
    await pull(meter.env, [id]);
    return { ...meter.cost, calls: serve.mock.calls.length };
  };
  const quiet = await turn();
  expect(quiet.calls).toBe(1);
  expectCost(quiet, { trips: 2, kvReads: 0, queued: 0, read: 12 });
  expect(quiet.written).toBeLessThanOrEqual(4);

  data.events = times(100, (i) => samsaraEvent(trucks[i] ?? {}, 'Braking', Date.now() + i));
  const busy = await turn();
  expect(busy.calls).toBe(1);
  expectCost(busy, { kvReads: 0, queued: 1, read: 28 * 100 });
  expect(busy.trips).toBeLessThanOrEqual(4);
  expect(busy.written).toBeLessThanOrEqual(12 * 100);
});
