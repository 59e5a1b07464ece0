import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env, exports } from 'cloudflare:workers';
import { newId } from '#src/core/platform/db/ids.ts';
import { starter } from '#src/core/webhooks/deliveries/consumer.ts';
import { type DeliveryMessage, wakeOf } from '#src/core/webhooks/deliveries/queue.ts';
import { ACCIDENT, EVENT, type NotificationType } from '#src/core/webhooks/notifications/types.ts';
import worker, { type IngestBatch } from '#src/index.ts';
import { settled } from './support/deliveries.ts';
import { receiver } from './support/receiver.ts';
import { accident, recently, vehicle } from './support/records.ts';
import { rows } from './support/rows.ts';
import { as, register, worldBefore } from './support/world.ts';

const us = worldBefore(beforeEach);

const event = (sourceId: string) => ({
  kind: 'safetyEvent' as const,
  sourceId,
  vehicle: 'truck-1',
  incidentTypes: ['hard_brake'],
  startedAt: recently,
});
const truck = { ...vehicle(), kind: 'vehicle' as const };
const records = (key: string, batch: IngestBatch) => exports.Ingest.records(key, batch);

it('the service binding takes in what the route does, and delivers it', async () => {
  const heard = receiver();
  const hook = await register(us);
  const reply = await records(us.connection.ingestKey, { records: [truck, event('e1')] });
  expect(reply).toEqual({
    status: 200,
    message: 'Records processed',
    data: { accepted: 2, unchanged: 0, rejected: [] },
  });
  await settled(hook.id);
  expect(heard.got).toHaveLength(1);
  const dry = await records(us.connection.ingestKey, { records: [event('e2')], dryRun: true });
  expect(dry).toMatchObject({
    data: { accepted: 1, wouldNotify: [{ webhooks: [{ id: hook.id }] }] },
  });
  const again = await records(us.connection.ingestKey, { records: [truck, event('e1')] });
  expect(again).toMatchObject({ data: { accepted: 0, unchanged: 2 } });
});

it.each([
  ['none', () => '', 401],
  ['one that no header could hold', () => 'fdi_\n', 401],
  ['an API token', () => us.apiToken, 403],
])('the service binding refuses %s as its key, and does nothing', async (_, key, status) => {
  const reply = await records(key(), { records: [truck] });
  expect(reply).toMatchObject({ status, requestId: expect.any(String) });
  expect(await rows('select id from vehicles where account_id = ?1', us.accountId)).toEqual([]);
});

it('the service binding returns a refusal of what is no batch', async () => {
  expect(await records(us.connection.ingestKey, undefined as never)).toMatchObject({ status: 400 });
});

const queueing = () => vi.spyOn(env.DELIVERIES, 'sendBatch').mockResolvedValue(undefined as never);
const crash = { ...accident(), kind: 'accident' as const };

it('a call’s events are sent by the queue’s consumers alone', async () => {
  const heard = receiver();
  const queued = queueing();
  const hook = await register(us);
  await us.send(truck, event('e1'));
  await expect.poll(() => queued.mock.calls.flatMap(([messages]) => [...messages])).toHaveLength(1);
  await us.send(crash);
  await settled(hook.id);
  expect(heard.got.map(({ body }) => body.type)).toEqual([ACCIDENT]);
  queued.mockRestore();
});

it('a call’s accidents are sent to the first 25 webhooks at once, and the queue has a message for each', async () => {
  const heard = receiver();
  const queued = queueing();
  for (let i = 0; i < 30; i++) await register(us);
  await us.send(truck, crash);
  await expect.poll(() => heard.got, { timeout: 10_000 }).toHaveLength(25);
  expect(queued.mock.calls.flatMap(([messages]) => [...messages])).toHaveLength(30);
  queued.mockRestore();
});

it('an accident whose worker could not start has its message in the queue', async () => {
  const [begun, queued]: [DeliveryMessage[], unknown[]] = [[], []];
  const begin = async (message: DeliveryMessage) => {
    begun.push(message);
    throw new Error('This invocation could not start');
  };
  const DELIVERIES = {
    sendBatch: async (messages: unknown[]) => void queued.push(...messages),
  } as never;
  const work: Promise<unknown>[] = [];
  const context = { waitUntil: (one: Promise<unknown>) => void work.push(one) };
  const start = starter({ ...env, DELIVERIES }, { ...context, exports: { Deliveries: { begin } } });
  const wakes = (count: number, type: NotificationType) =>
    wakeOf(
      us.accountId,
      Array.from({ length: count }, () => newId()),
      type,
    );
  start([...wakes(2, EVENT), ...wakes(1, ACCIDENT)]);
  await Promise.all(work);
  expect(begun).toMatchObject([{ accidents: true }]);
  expect(queued).toHaveLength(3);
});

/** Handles the wake of a webhook, and says whether its delivery has arrived when the handler returns. */
async function handled(bindings: Partial<Env>): Promise<boolean> {
  const heard = receiver(async () => {
    await scheduler.wait(50);
    return new Response('ok');
  });
  const webhook = await register(us);
  const queueOnly = {
    ...env,
    DELIVERIES: { sendBatch: async () => {} },
  } as unknown as Env;
  const connector = as(us.connection.ingestKey, {}, queueOnly);
  expect((await connector.send(truck, event(crypto.randomUUID()))).status).toBe(200);
  const wake = { accountId: us.accountId, webhookId: webhook.id, worker: 1 };
  const context = createExecutionContext();
  const batch = { messages: [{ body: wake }] } as unknown as MessageBatch<never>; // what the handler reads
  await worker.queue(batch, { ...env, ...bindings }, context);
  const isThere = heard.got.length === 1;
  await waitOnExecutionContext(context);
  expect(heard.got).toHaveLength(1);
  return isThere;
}

it('a message of the queue is acknowledged before its work is done', async () => {
  expect(await handled({})).toBe(false);
});

it('a message of the queue is acknowledged after its work, if it is so deployed', async () => {
  expect(await handled({ AWAIT_DELIVERIES: 'true' } as Partial<Env>)).toBe(true);
});
