// More than 15 s: 20,000 rows in every table of another account, and an event's whole life.
import { maxWords } from '#src/core/fleet/lists/search-keys.ts';
import { pruneChanges } from '#src/core/fleet/record-changes.ts';
import { newBudget } from '#src/core/platform/jobs/budget.ts';
import { handle } from '#src/core/webhooks/deliveries/consumer.ts';
import { prune as pruneDeliveries } from '#src/core/webhooks/deliveries/sweep.ts';
import { pruneNotifications } from '#src/core/webhooks/notifications/remove.ts';
import { fakeSamsara, samsaraEvent, samsaraVehicle } from '#src/dev/fakes/samsara.ts';
import { perEvent, perTrip } from '#src/docs/per-event.ts';
import { archive } from '#src/extras/archive/job.ts';
import { pull } from '#src/extras/providers/pull.ts';
import { countEvents } from '#src/extras/trends/job.ts';
import { connect, pullAll } from '#test/extras/providers/support.ts';
import {
  type Cost,
  dayMs,
  driver,
  metered,
  minute,
  ownRows,
  recently,
  register,
  rows,
  safetyEvent,
  setWindow,
  times,
  trip,
  vehicle,
} from '#test/support.ts';
import { accidentOf, deliver, events, expectCost, meteredAccount, vehicles } from './support.ts';

const { us, hooks, send, get, hookFor, othersRest } = meteredAccount(beforeEach);

const tripOf = (i: number) => trip({ sourceId: `t${i}`, vehicle: `v${i}`, startedAt: recently });
const eventNow = (sourceId = 'event-1') =>
  safetyEvent({ sourceId, vehicle: 'v0', startedAt: new Date().toISOString() });
const wholeLife = Date.now() + 400 * dayMs;
/** Enough for what all tests leave, however slow the machine is. */
const whole = () => newBudget({ ms: 300_000, queries: 100_000 });

// First, for the other tests leave work to be done.
it('a minute without work', async () => {
  await hookFor(100);
  const { env, cost } = metered();
  await minute(env, new Date('2026-11-22T12:01:00Z'));
  // Four of them for each webhook that has deliveries, of which the neighbour has ten.
  expectCost(cost, { trips: 4, written: 1, queued: 0 }, { read: 28 + 4 * 10 });
});

// D1 compiles a statement once for each text.
it.each<[string, (round: number) => ReturnType<typeof send>]>([
  ['an event', (i) => send({ ...eventNow(`e${i}`), vehicle: `v${i}` })],
  ['50 events', (i) => send(...events(50, `round ${i} `))],
  ['an accident', (i) => send(accidentOf(i))],
  ['a vehicle', (i) => send(vehicle({ sourceId: `v${i}`, name: `Truck ${i}` }))],
  ['a trip', (i) => send(tripOf(i))],
  ['a page of events', (i) => get(`/safety-events?from=2026-11-0${i}&to=2100-01-01`)],
  ['a page of vehicles', (i) => get(`/vehicles?limit=${i}`)],
  ['a page of changes', (i) => get(`/changes?limit=${40 + i}`)],
  ['a page of deliveries', (i) => get(`/deliveries?limit=${i}`)],
])('the second time, every statement has a text that D1 has compiled: %s', async (_, round) => {
  await hookFor(50);
  const [first, second] = [await round(1), await round(2)];
  expect(first.texts.size).toBeGreaterThan(0);
  expect([...second.texts.difference(first.texts)]).toEqual([]);
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
  expectCost(cost, { trips: 1, written: 0, queued: 0 }, { read: 11 * 500 + 20 });
});

it.each([
  ['7 with a plate', vehicle({ name: '7', licensePlate: 'ABC-1234' }), 2 + 1],
  ['Jane Doe', driver({ name: 'Jane Doe' }), 2],
  ['40 words', driver({ name: times(40, (i) => `w${i}`).join(' ') }), maxWords + 1],
])(
  'a new record called %s is also a row for each word of its name and its plate, and one for numbers',
  async (_, record, keys) => {
    await send(driver({ sourceId: 'first' })); // the hour's note of the key's use
    await othersRest();
    // The record, with two index entries; a change.
    expect((await send(record)).cost.written).toBe(1 + 2 + 1 + keys);
  },
);

it('the change feed costs a call one row written, however many records it changes', async () => {
  const drivers = (phone: string) => times(500, (i) => driver({ sourceId: `d${i}`, phone }));
  await send(...drivers('1'));
  await othersRest();
  const { cost } = await send(...drivers('2'));
  expectCost(cost, { trips: 1, written: 500 + 1, queued: 0 });
});

// The accident, with two index entries, and one more while it needs attention; a change.
const accidentRows = 3 + 1 + 1;
it.each<[string, number[], Partial<Cost>]>([
  // A notification; a delivery, with an index entry.
  ['for one webhook', [1, 2], { written: accidentRows + 1 + 2, queued: 1 }],
  // One to read it, one to write what was decided.
  ['that nobody subscribes to', [2], { trips: 2, written: accidentRows, queued: 0 }],
])(
  'a level of an accident %s costs as much, whichever level it is',
  async (_, notificationTypes, cost) => {
    await hookFor(1, { notificationTypes });
    for (const notificationLevel of [1, 2, 3]) {
      const sent = await send({ ...accidentOf(0), notificationLevel });
      expectCost(sent.cost, cost, { read: 64 });
      await deliver(sent); // or the next level would wait for this one
    }
  },
);

it('a new safety event for one webhook, delivered at the first try', async () => {
  await hookFor(1);
  const sent = await send(eventNow());
  await deliver(sent);
  const most = { read: perEvent.rowsRead, written: perEvent.rowsWritten };
  expectCost(sent.cost, { trips: 1 + 2, queued: perEvent.messages }, most);
});

it('a safety event over its whole life: delivered, archived and deleted from D1', async () => {
  await hookFor(1);
  const lives = async (prefix: string, count: number) => {
    const { env, cost } = metered();
    let { written } = cost;
    for (let i = 0; i < count; i++) {
      const sent = await send(eventNow(prefix + i));
      await deliver(sent);
      written += sent.cost.written;
    }
    for (const prune of [pruneDeliveries, pruneNotifications, pruneChanges])
      await prune(env, wholeLife);
    // It has not changed lately by then, or the change feed would say that it is archived.
    await rows('update safety_events set updated_at = 0 where account_id = ?1', us.accountId);
    await countEvents(metered().env); // of other tests: a day is counted before it is archived
    await archive(env, wholeLife, whole());
    const left = await ownRows(us, 'safety_events');
    expect(left).toEqual([]);
    return written + cost.written;
  };
  const [one, eleven] = [await lives('a', 1), await lives('b', 11)];
  expect((eleven - one) / 10).toBeLessThanOrEqual(perEvent.rowsWrittenInLife);
});

it('a trip among a hundred, until it is archived and deleted from D1', async () => {
  await send(...vehicles(1));
  const same = { vehicle: 'v0', startedAt: new Date().toISOString(), driver: 'd' };
  const { cost } = await send(...times(100, (i) => trip({ sourceId: `t${i}`, ...same })));
  const { env, cost: later } = metered();
  await rows('update trips set updated_at = 0 where account_id = ?1', us.accountId);
  await archive(env, wholeLife, whole());
  expect(await ownRows(us, 'trips')).toEqual([]);
  const each = (sum: number) => Math.round(sum / 100);
  expect(each(cost.written + later.written)).toBeLessThanOrEqual(perTrip.rowsWrittenInLife);
  expect(each(cost.read)).toBeLessThanOrEqual(perTrip.rowsRead);
});

it('what a webhook filters out is for it not one row, call or message', async () => {
  await send(...vehicles(1));
  const sendBoth = async (name: string) => {
    const event = await send(eventNow(`event ${name}`));
    const crash = await send({ ...accidentOf(0), sourceId: `crash ${name}` });
    return [event, crash].map(({ cost: { written, trips, queued } }) => ({
      written,
      trips,
      queued,
    }));
  };
  const unheard = await sendBoth('before');
  await register(us, { filters: { minEventRisk: 5, accidentLevels: [3] } });
  expect(await sendBoth('after')).toEqual(unheard);
  expect(unheard).toMatchObject([{}, { queued: 0 }]);
  const ours = (table: string) => `select event_id from ${table} where account_id = ?1`;
  const stored = `${ours('deliveries')} union all ${ours('notifications')}`;
  expect(await rows(stored, us.accountId)).toEqual([]);
});

it('a late safety event costs a row more, unless its hour is to be counted already', async () => {
  await send(...vehicles(1));
  const late = async (sourceId: string, startedAt: string) =>
    (await send(safetyEvent({ sourceId, vehicle: 'v0', startedAt }))).cost.written;
  const first = await late('e1', '2026-11-20T20:01:00Z');
  expect(first - (await late('e2', '2026-11-20T20:02:00Z'))).toBe(1);
});

it.each([
  ['for one webhook', 100, 1, 16],
  ['for a hundred webhooks, one each', 1, 100, 46],
])('100 deliveries %s', async (_, count, webhooks, readEach) => {
  for (let i = 0; i < webhooks; i++) await register(us);
  await send(...vehicles(count));
  const cost = await deliver(await send(...events(count)));
  expectCost(
    cost,
    { kvReads: 0 },
    {
      read: readEach * 100,
      trips: 2 * webhooks + count / 5,
      queued: webhooks + 10,
      written: 2 * 100 + cost.trips + 4, // the hour's counters, the window's growth
    },
  );
});

it('100 deliveries costs a row more for each claim while the receiver recovers', async () => {
  const id = await hookFor(100);
  await setWindow(id, 25);
  await rows('update webhook_health set failures = 1 where webhook_id = ?1', id);
  const cost = await deliver(await send(...events(100)));
  expectCost(cost, {}, { written: 2 * 100 + 2 * cost.trips });
});

it('100 deliveries to a receiver that takes 100 ms cost no more', { tags: ['proof'] }, async () => {
  hooks.responds(async () => {
    await scheduler.wait(100);
    return new Response('ok');
  });
  await hookFor(100);
  const cost = await deliver(await send(...events(100)));
  expectCost(cost, {}, { written: 2.3 * 100, queued: (3.2 * 100) / 3 });
});

it('a quick receiver gets one worker, which claims much at a time', async () => {
  const webhookId = await hookFor(300);
  await setWindow(webhookId, 50);
  await send(...events(300));
  const meter = metered();
  const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now()); // so that no response takes time on a slow machine
  await handle(meter.env, { accountId: us.accountId, webhookId, worker: 1 });
  clock.mockRestore();
  expect(hooks.got).toHaveLength(300);
  expect(meter.woken).toEqual([]);
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
  const turn = async () => {
    await rows('update pulls set due_at = 0, claimed_until = 0 where connection_id = ?1', id);
    const { env, cost } = metered();
    serve.mockClear();
    await pull(env, [id]);
    expect(serve).toHaveBeenCalledTimes(1);
    return cost;
  };
  expectCost(await turn(), { trips: 2, kvReads: 0, queued: 0 }, { read: 12, written: 4 });
  data.events = times(100, (i) => samsaraEvent(trucks[i] ?? {}, 'Braking', Date.now() + i));
  const most = { read: 28 * 100, trips: 4, written: 12 * 100 };
  expectCost(await turn(), { kvReads: 0, queued: 1 }, most);
});
