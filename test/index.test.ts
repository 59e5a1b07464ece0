import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env, exports } from 'cloudflare:workers';
import { starter } from '#src/core/webhooks/deliveries/consumer.ts';
import { wakeOf } from '#src/core/webhooks/deliveries/queue.ts';
import { ACCIDENT, EVENT } from '#src/core/webhooks/notifications/types.ts';
import worker, { type IngestBatch } from '#src/index.ts';
import {
  accident,
  as,
  newId,
  ownRows,
  receiver,
  register,
  safetyEvent,
  settled,
  vehicle,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeEach);

const event = (sourceId: string) => ({
  ...safetyEvent({ sourceId }),
  kind: 'safetyEvent' as const,
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
  expect(await ownRows(us, 'vehicles')).toEqual([]);
});

it('the service binding returns a refusal of what is no batch', async () => {
  expect(await records(us.connection.ingestKey, undefined as never)).toMatchObject({ status: 400 });
});

const crash = { ...accident(), kind: 'accident' as const };

/** Has the queue keep its messages during a test. Returns what lists them. */
function queueing() {
  const queued = vi.spyOn(env.DELIVERIES, 'sendBatch').mockResolvedValue(undefined as never);
  onTestFinished(() => queued.mockRestore());
  return () => queued.mock.calls.flatMap(([messages]) => [...messages]);
}

it('a call’s events are sent by the queue’s consumers alone', async () => {
  const [heard, queued] = [receiver(), queueing()];
  const hook = await register(us);
  await us.send(truck, event('e1'));
  await expect.poll(queued).toHaveLength(1);
  await us.send(crash);
  await settled(hook.id);
  expect(heard.got.map(({ body }) => body.type)).toEqual([ACCIDENT]);
});

it('a call’s accidents are sent to the first 25 webhooks at once, and the queue has a message for each', async () => {
  const [heard, queued] = [receiver(), queueing()];
  for (let i = 0; i < 30; i++) await register(us);
  await us.send(truck, crash);
  await expect.poll(() => heard.got).toHaveLength(25);
  expect(queued()).toHaveLength(30);
});

it('an accident whose worker could not start has its message in the queue', async () => {
  const queued: unknown[] = [];
  const begin = vi.fn(() => Promise.reject(new Error('This invocation could not start')));
  const DELIVERIES = { sendBatch: async (messages: unknown[]) => void queued.push(...messages) };
  const work: Promise<unknown>[] = [];
  const waitUntil = (one: Promise<unknown>) => void work.push(one);
  const bindings = { ...env, DELIVERIES } as unknown as Env; // all that is used of it
  const start = starter(bindings, { waitUntil, exports: { Deliveries: { begin } } });
  const events = wakeOf(us.accountId, [newId(), newId()], EVENT);
  start([...events, ...wakeOf(us.accountId, [newId()], ACCIDENT)]);
  await Promise.all(work);
  expect(begin.mock.calls).toMatchObject([[{ accidents: true }]]);
  expect(queued).toHaveLength(3);
});

it.each([
  ['before its work is done', 'false', 0],
  ['after its work, if it is so deployed', 'true', 1],
])('a message of the queue is acknowledged %s', async (_, AWAIT_DELIVERIES, arrived) => {
  const heard = receiver(async () => {
    await scheduler.wait(50);
    return new Response('ok');
  });
  const { id: webhookId } = await register(us);
  const DELIVERIES = { sendBatch: async () => {} };
  const queueOnly = { ...env, DELIVERIES } as unknown as Env; // all that is used of it
  await as(us.connection.ingestKey, {}, queueOnly).send(truck, event('e1'));
  const wake = { accountId: us.accountId, webhookId, worker: 1 };
  const context = createExecutionContext();
  const batch = { messages: [{ body: wake }] } as unknown as MessageBatch<never>; // what the handler reads
  await worker.queue(batch, { ...env, AWAIT_DELIVERIES } as Env, context);
  expect(heard.got).toHaveLength(arrived);
  await waitOnExecutionContext(context);
  expect(heard.got).toHaveLength(1);
});
