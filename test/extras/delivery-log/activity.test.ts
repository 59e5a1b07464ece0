import { env } from 'cloudflare:workers';
import { transaction } from '#src/core/platform/db/database.ts';
import { newId } from '#src/core/platform/db/ids.ts';
import { openDatabase } from '#src/core/platform/db/system.ts';
import { hourMs } from '#src/core/platform/durations.ts';
import { addTallies, countOutcomes, noTally } from '#src/core/webhooks/deliveries/counts.ts';
import { recordStatements } from '#src/core/webhooks/deliveries/send/record.ts';
import { type BrowseQuery, webhookActivity } from '#src/extras/delivery-log/activity.ts';
import { readDeliveries } from '#src/extras/delivery-log/list.ts';
import { listActivity } from '#src/extras/delivery-log/summaries.ts';
import { claim, settled, unattempted } from '#test/support/deliveries.ts';
import { accident, safetyEvent, vehicle } from '#test/support/records.ts';
import { addRows, rows } from '#test/support/rows.ts';
import { metered } from '#test/support/runtime/meter.ts';
import { story } from '#test/support/story.ts';

const { us, heard, send, register, happen } = story();
const caller = () => ({ accountId: us.accountId, operator: true }) as const;

const shown = (webhookId: string, query: Partial<BrowseQuery> = {}, bindings: Env = env) =>
  webhookActivity(bindings, caller(), webhookId, { limit: 20, ...query });

describe("the counters of a webhook's hours", () => {
  const now = async (webhookId: string) => (await shown(webhookId)).hours.at(-1);

  it('tell what was delivered, what failed, and how long receivers took', async () => {
    heard.responds(async ({ url }) => {
      if (url.endsWith('lost')) throw new Error('Network connection lost');
      await scheduler.wait(60);
      return new Response('', { status: url.endsWith('gone') ? 410 : 200 });
    });
    const registerAt = (path: string) => register({ url: `https://receiver.example.com/${path}` });
    const [fine, gone, lost] = [
      await registerAt('fine'),
      await registerAt('gone'),
      await registerAt('lost'),
    ];
    await happen(3);
    await settled(fine.id, 3);
    await settled(gone.id, 3);
    const { hours } = await shown(fine.id);
    expect(hours).toHaveLength(720);
    expect(hours.at(-1)).toMatchObject({ delivered: 3, failed: 0, retried: 0 });
    expect(addTallies(hours.slice(0, -1))).toEqual(noTally);
    expect(await now(gone.id)).toMatchObject({ delivered: 0, failed: 3, retried: 0 });
    const { responses } = await shown(gone.id);
    expect(responses).toHaveLength(3);
    expect(responses.every(({ ms }) => ms >= 50)).toBe(true);
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
    const db = openDatabase(env);
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
  const found = async (search: string) => (await shown(hook.id, { search })).part.deliveries;
  const all = (await shown(hook.id)).part.deliveries;
  for (const { id, eventId } of all) {
    expect((await found(id)).map((delivery) => delivery.id)).toEqual([id]);
    expect((await found(` ${eventId.toUpperCase()} `)).map((delivery) => delivery.id)).toEqual([
      id,
    ]);
  }
  const vinsOf = async (vin: string) => (await found(vin)).map(({ about }) => about?.vin);
  expect(await vinsOf('VIN1')).toEqual(['VIN1']);
  expect(await vinsOf('VIN2')).toEqual(['VIN2', 'VIN2']);
  expect(await vinsOf('VIN3')).toEqual(['VIN3']);
  for (const nothing of ['VIN4', newId(), '%', "'"]) expect(await found(nothing)).toEqual([]);
  const other = await register({ url: 'https://receiver.example.com/other' });
  expect((await shown(other.id, { search: 'VIN1' })).part.deliveries).toEqual([]);
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
  const read = async (query: Partial<BrowseQuery>) => {
    const { env: bindings, cost } = metered();
    await shown(hook.id, query, bindings);
    expect(cost).toMatchObject({ trips: 1, written: 0 });
    return cost.read;
  };
  const [from, to] = ['1970-01-01', '2026-12-01'];
  const always = 720 + 3 * 500 + 2 * 1000 + 60;
  for (const query of [
    {},
    { state: 'retrying' },
    { state: 'failed' },
    { state: 'pending' },
  ] as const)
    expect(await read(query), JSON.stringify(query)).toBeLessThanOrEqual(always + 100);
  for (const query of [{ state: 'delivered' }, { type: 1 }, { state: 'pending', type: 1 }] as const)
    expect(await read(query), JSON.stringify(query)).toBeLessThanOrEqual(always + 3 * 1000);
  expect(await read({ search: newId() })).toBeLessThanOrEqual(always + 10);
  expect(await read({ search: 'VIN1' })).toBeLessThanOrEqual(always + 1000);
  for (const query of [
    {},
    { status: 'failed' },
    { status: 'pending' },
    { eventId: newId() },
    { from, to },
  ])
    for (const webhook of [{}, { webhookId: [hook.id] }]) {
      const { env: bindings, cost } = metered();
      const asked = Object.entries(query).map(([name, value]) => [name, [value]]);
      await readDeliveries(bindings, caller(), { ...Object.fromEntries(asked), ...webhook });
      expect(cost, JSON.stringify(query)).toMatchObject({ trips: 1, written: 0 });
      expect(cost.read, JSON.stringify(query)).toBeLessThanOrEqual(300);
    }
  const { env: bindings, cost } = metered();
  await listActivity(bindings, caller(), { limit: 50 });
  expect(cost).toMatchObject({ trips: 1, written: 0 });
  expect(cost.read).toBeLessThanOrEqual(200 + 2 * 1000);
  await rows('delete from deliveries where webhook_id = ?1', hook.id);
});

it('the list of webhooks tells of each how its last 24 hours were', async () => {
  heard.responds(({ url }) => new Response('', { status: url.endsWith('bad') ? 500 : 200 }));
  const fine = await register();
  const bad = await register({ url: 'https://receiver.example.com/bad' });
  await happen(2);
  await settled(fine.id, 2);
  await vi.waitFor(async () => {
    const { items, next } = await listActivity(env, caller(), { limit: 2 });
    expect(next).toBeUndefined();
    expect(
      items.map(({ id, waiting, hours }) => ({ id, waiting, ...addTallies(hours) })),
    ).toMatchObject([
      { id: fine.id, waiting: 0, delivered: 2, failed: 0, retried: 0 },
      { id: bad.id, waiting: 2, delivered: 0, failed: 0, retried: 2 },
    ]);
    expect(items[1]?.receiver).toMatchObject({ failures: 2, lastFailure: { status: 500 } });
  });
  const first = await listActivity(env, caller(), { limit: 1 });
  const rest = await listActivity(env, caller(), { limit: 1, after: first.next });
  expect([...first.items, ...rest.items].map(({ id }) => id)).toEqual([fine.id, bad.id]);
});
