import { env } from 'cloudflare:workers';
import { transaction } from '#src/core/platform/db/database.ts';
import { addTallies, countOutcomes, noTally } from '#src/core/webhooks/deliveries/counts.ts';
import { recordStatements } from '#src/core/webhooks/deliveries/send/record.ts';
import { type BrowseQuery, maxFound, webhookActivity } from '#src/extras/delivery-log/activity.ts';
import { deliveriesOf, maxOfEvent } from '#src/extras/delivery-log/find.ts';
import { readSummaries } from '#src/extras/delivery-log/summaries.ts';
import {
  accident,
  addRow,
  addRows,
  addWebhooks,
  claim,
  db,
  hourMs,
  metered,
  newId,
  rows,
  safetyEvent,
  settled,
  story,
  unattempted,
  vehicle,
} from '#test/support.ts';

const { us, heard, send, register, happen } = story();
const caller = () => ({ accountId: us.accountId, operator: true }) as const;

const shown = (webhookId: string, query: Partial<BrowseQuery> = {}, bindings: Env = env) =>
  webhookActivity(bindings, caller(), webhookId, { limit: 20, ...query });

describe("the counters of a webhook's hours", () => {
  const now = async (webhookId: string) => (await shown(webhookId)).hours.at(-1);

  it('tell what was delivered, what failed, and how long receivers took', async () => {
    const [fine, gone, lost] = [await register(), await register(), await register()];
    heard.responds(async ({ url }) => {
      if (url === lost.url) throw new Error('Network connection lost');
      await scheduler.wait(60);
      return new Response('', { status: url === gone.url ? 410 : 200 });
    });
    await happen(3);
    for (const { id } of [fine, gone]) await settled(id, 3);
    const { hours } = await shown(fine.id);
    expect(hours).toHaveLength(720);
    expect(hours.at(-1)).toMatchObject({ delivered: 3, failed: 0, retried: 0 });
    expect(addTallies(hours.slice(0, -1))).toEqual(noTally);
    expect(await now(gone.id)).toMatchObject({ delivered: 0, failed: 3, retried: 0 });
    const { responses } = await shown(gone.id);
    expect(responses.map(({ ms }) => ms >= 50)).toEqual([true, true, true]);
    await expect.poll(() => now(lost.id)).toMatchObject({ retried: 3 });
    expect((await shown(lost.id)).responses).toEqual([]);
  });

  it('forget an hour when it comes again 30 days later', async () => {
    const hook = await register();
    await happen(1);
    await settled(hook.id);
    await rows('update webhook_hours set hour = hour - 720 where webhook_id = ?1', hook.id);
    expect(await now(hook.id)).toMatchObject({ delivered: 0, failed: 0 });
    await happen(2, 'later');
    await settled(hook.id, 3);
    expect(await now(hook.id)).toMatchObject({ delivered: 2, failed: 0 });
  });

  it('count a batch that is recorded twice once', async () => {
    const hook = await register();
    await unattempted(hook.id, happen);
    const [delivery] = (await claim(hook.id)).claimed;
    const tally = { delivered: 4, failed: 1, retried: 2, accidents: 3, accidentsInTime: 2 };
    const outcomes = delivery ? [{ delivery, status: 'delivered' as const }] : [];
    for (let recorded = 0; recorded < 2; recorded++)
      await transaction(db, {
        counted: countOutcomes(db, hook.id, tally, delivery, Date.now()),
        recorded: recordStatements(db, hook.id, outcomes, Date.now()),
      });
    expect(await now(hook.id)).toMatchObject(tally);
  });
});

it('a webhook’s deliveries are found by Delivery-Id, by the id of their event, and by VIN', async () => {
  const hook = await register();
  await send(vehicle({ vin: 'VIN1' }), vehicle({ sourceId: 'other', vin: 'VIN2' }));
  await send(safetyEvent(), safetyEvent({ sourceId: 'b', vehicle: 'other' }));
  await send(accident({ vin: 'VIN2' }), accident({ sourceId: 'c', vin: 'VIN3' }));
  await settled(hook.id, 4);
  const found = async (search: string, id = hook.id) =>
    (await shown(id, { search })).part.deliveries.map(({ id, about }) => [id, about?.vin]);
  for (const { id, eventId } of (await shown(hook.id)).part.deliveries)
    for (const search of [id, ` ${eventId.toUpperCase()} `])
      expect(await found(search)).toEqual([[id, expect.any(String)]]);
  const counts = { VIN1: 1, VIN2: 2, VIN3: 1, VIN4: 0, [newId()]: 0, '%': 0, "'": 0 };
  for (const [search, count] of Object.entries(counts))
    expect((await found(search)).map(([, vin]) => vin)).toEqual(Array(count).fill(search));
  expect(await found('VIN1', (await register()).id)).toEqual([]);
});

it('a webhook’s deliveries of many are not all read, whatever is looked for', async () => {
  const hook = await register();
  await rows(
    `insert into deliveries (webhook_id, id, account_id, event_id, level, status, attempts, next_attempt_at)
     with recursive n (i) as (select 0 union all select i + 1 from n where i < 49999)
     select ?1, format('%08x-%04x-7000-8000-%012x', i >> 16, i & 65535, i), ?2, 'e', 0,
       iif(i < 44000, 'delivered', iif(i % 2, 'pending', 'failed')), i % 3 = 0, i from n`,
    hook.id,
    us.accountId,
  );
  const hour = Math.floor(Date.now() / hourMs);
  const hourOf = (i: number) => ({ webhook_id: hook.id, slot: (hour - i) % 720, hour: hour - i });
  await addRows('webhook_hours', 720, (i) => ({ ...hourOf(i), delivered: 4, failed: 7 }));
  const read = async (work: (bindings: Env) => Promise<unknown>) => {
    const { env: bindings, cost } = metered();
    await work(bindings);
    expect(cost).toMatchObject({ trips: 1, written: 0 });
    return cost.read;
  };
  const always = 720 + 3 * 500 + 2 * 1000 + 60;
  const queries: [query: Partial<BrowseQuery>, most: number][] = [
    [{}, 100],
    [{ state: 'retrying' }, 100],
    [{ state: 'failed' }, 100],
    [{ state: 'pending' }, 100],
    [{ state: 'delivered' }, 3000],
    [{ type: 1 }, 3000],
    [{ state: 'pending', type: 1 }, 3000],
    [{ search: newId() }, 10],
    [{ search: 'VIN1' }, 1000],
  ];
  for (const [query, most] of queries) {
    const cost = await read((bindings) => shown(hook.id, query, bindings));
    expect(cost, JSON.stringify(query)).toBeLessThanOrEqual(always + most);
  }
  const summaries = await read((bindings) => readSummaries(bindings, caller(), { limit: 50 }));
  expect(summaries).toBeLessThanOrEqual(200 + 2 * 1000);
  await rows('delete from deliveries where webhook_id = ?1', hook.id);
});

it('pages show at most 300 deliveries of an event, and 60 that a search finds', async () => {
  const [event_id, created_at] = [newId(), Date.now() - 60_000];
  const { accountId: account_id, connection } = us;
  const of = { account_id, event_id };
  const notification = { ...of, connection_id: connection.id, type: 2, data: '{}', created_at };
  await addRow('notifications', notification);
  const ids = await addWebhooks(account_id, maxOfEvent + 1);
  const add = (webhookIds: string[]) =>
    addRows('deliveries', webhookIds.length, (i) => ({
      ...of,
      id: newId(created_at),
      webhook_id: webhookIds[i],
      status: 'delivered',
    }));
  await add(ids);
  const { deliveries, complete } = await deliveriesOf(env, caller(), event_id);
  expect([deliveries.length, complete]).toEqual([maxOfEvent, false]);
  const [first = ''] = ids;
  await add(Array(maxFound).fill(first));
  const { part } = await shown(first, { limit: 1, search: event_id });
  expect(part.deliveries).toHaveLength(maxFound);
});

it('the list of webhooks tells of each how its last 24 hours were', async () => {
  const [fine, bad] = [await register(), await register()];
  heard.responds(({ url }) => new Response('', { status: url === bad.url ? 500 : 200 }));
  await happen(2);
  const read = async (more = {}) =>
    (await readSummaries(env, caller(), { limit: 2, ...more })).map(({ hours, ...one }) => ({
      ...one,
      ...addTallies(hours),
    }));
  await expect.poll(read).toMatchObject([
    { id: fine.id, waiting: 0, delivered: 2, failed: 0, retried: 0 },
    {
      id: bad.id,
      waiting: 2,
      delivered: 0,
      failed: 0,
      retried: 2,
      receiver: { failures: 2, lastFailure: { status: 500 } },
    },
  ]);
  const after = { sort: Date.parse(fine.createdAt), id: fine.id };
  expect(await read({ after })).toMatchObject([{ id: bad.id }]);
});
