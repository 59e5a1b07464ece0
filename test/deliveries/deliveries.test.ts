import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { claim, leaseMs } from '../../src/deliveries/claims.ts';
import { attempted, deliveriesOf, makeDue, minute, settled } from '../support/deliveries.ts';
import { receiver } from '../support/receiver.ts';
import {
  as,
  safetyEvent,
  vehicle,
  type WebhookOut,
  type World,
  webhookBody,
  world,
} from '../support/world.ts';

let us: World;
let heard: ReturnType<typeof receiver>;
beforeEach(async () => {
  heard = receiver();
  us = await world();
  return () => vi.restoreAllMocks();
});
const register = async (changes: object = {}) =>
  (await as(us.apiToken).post<WebhookOut>('/webhook', webhookBody(us, changes))).data;
const happen = (sourceId = 'event-1') =>
  as(us.connection.ingestKey).send(vehicle(), safetyEvent({ sourceId }));

describe('a delivery', () => {
  it('uses the verb and the custom headers of the webhook', async () => {
    const hook = await register({
      httpVerb: 'PUT',
      headers: { 'X-Secret': 's', 'X-B': 'b', 'User-Agent': 'mine' },
    });
    await happen();
    await settled(hook.id);
    expect(heard.got[0]).toMatchObject({
      method: 'PUT',
      headers: { 'x-secret': 's', 'x-b': 'b', 'user-agent': 'mine' },
    });
  });

  it('follows an update of its webhook', async () => {
    heard.answers(() => new Response('no', { status: 500 }));
    const hook = await register();
    await happen();
    await attempted(hook.id);
    const url = 'https://moved.example.com/';
    await as(us.apiToken).put(`/webhook/${hook.id}`, webhookBody(us, { url, httpVerb: 'PUT' }));
    heard.answers(() => new Response('ok'));
    await makeDue(hook.id);
    await minute();
    await settled(hook.id);
    expect(heard.got.at(-1)).toMatchObject({ url, method: 'PUT' });
  });

  it('that fails is tried again after five seconds, on the queue, with the same Delivery-Id', async () => {
    heard.answers(
      ({ headers }) => new Response(null, { status: headers['delivery-attempt'] === '1' ? 503 : 204 }),
    );
    const hook = await register();
    await happen();
    const waiting = await attempted(hook.id);
    expect(waiting.status).toBe('pending');
    const wait = waiting.nextAttemptAt - Date.now();
    expect(wait).toBeGreaterThan(2000);
    expect(wait).toBeLessThanOrEqual(6000);
    const [done] = await vi.waitFor(() => settled(hook.id), 15_000);
    expect(done).toMatchObject({ status: 'delivered', attempts: 2 });
    expect(new Set(heard.got.map(({ headers }) => headers['delivery-id'])).size).toBe(1);
    expect(done?.log).toMatchObject([
      { result: 'status', status: 503 },
      { result: 'success', status: 204 },
    ]);
  }, 20_000);

  it('keeps what was answered in its log, up to 1 KiB', async () => {
    heard.answers(() => new Response('x'.repeat(5000), { status: 500 }));
    const hook = await register();
    await happen();
    const { log } = await attempted(hook.id);
    expect(log).toMatchObject([{ result: 'status', status: 500, answer: 'x'.repeat(1024) }]);
  });

  it.each([
    [
      'a redirect',
      () => new Response(null, { status: 302, headers: { location: 'https://10.0.0.1/' } }),
      'redirect',
    ],
    ['a status of 526', () => new Response(null, { status: 526 }), 'tls'],
    ['a status of 530', () => new Response('error code: 1016', { status: 530 }), 'dns'],
    ['an exception', () => Promise.reject(new Error('connection refused')), 'connection'],
  ])('counts %s as a failure', async (_, answer, result) => {
    heard.answers(answer);
    const hook = await register();
    await happen();
    const row = await attempted(hook.id);
    expect(row).toMatchObject({ status: 'pending', log: [{ result }] });
    expect(heard.got).toHaveLength(1);
  });

  it('to a receiver that says 410 has failed for good', async () => {
    heard.answers(() => new Response('gone', { status: 410 }));
    const hook = await register();
    await happen();
    expect(await settled(hook.id)).toMatchObject([{ status: 'failed', attempts: 1 }]);
  });

  it('fails after its tenth attempt', async () => {
    heard.answers(() => new Response('no', { status: 500 }));
    const hook = await register();
    await happen();
    for (let attempts = 1; attempts < 10; attempts++) {
      await attempted(hook.id, attempts);
      await makeDue(hook.id);
      await minute();
    }
    expect(await settled(hook.id)).toMatchObject([{ status: 'failed', attempts: 10 }]);
    await makeDue(hook.id);
    await minute();
    expect(heard.got).toHaveLength(10);
  });

  it('is cancelled unsent when its webhook is deleted while it waits', async () => {
    heard.answers(() => new Response('no', { status: 500 }));
    const hook = await register();
    await happen();
    await attempted(hook.id);
    await as(us.apiToken).delete(`/webhook/${hook.id}`);
    await makeDue(hook.id);
    await minute();
    expect(await settled(hook.id)).toMatchObject([{ status: 'cancelled', attempts: 1 }]);
    expect(heard.got).toHaveLength(1);
  });

  it.each([
    ['type', { notificationTypes: [1] }],
    ['connection', { connectionIds: [] }],
  ])('is cancelled unsent when its webhook no longer asks for its %s', async (_, changes) => {
    heard.answers(() => new Response('no', { status: 500 }));
    const hook = await register();
    await happen();
    await attempted(hook.id);
    await as(us.apiToken).put(`/webhook/${hook.id}`, webhookBody(us, changes));
    await makeDue(hook.id);
    await minute();
    expect(await settled(hook.id)).toMatchObject([{ status: 'cancelled', attempts: 1 }]);
    expect(heard.got).toHaveLength(1);
  });

  it('is called once, however often it is woken at once', async () => {
    let released = false;
    heard.answers(async () => {
      while (!released) await scheduler.wait(10);
      return new Response('ok');
    });
    const hook = await register();
    await happen();
    await vi.waitFor(() => expect(heard.got).toHaveLength(1));
    const [{ id } = { id: '' }] = await deliveriesOf(hook.id);
    const keys = [{ webhookId: hook.id, id }];
    expect((await claim(openDatabase(env.DB), keys, Date.now())).claimed).toEqual([]);
    released = true;
    await settled(hook.id);
    expect(heard.got).toHaveLength(1);
  });

  it('that a crashed consumer had claimed is woken when the claim lapses', async () => {
    const refuse = vi.spyOn(env.DELIVERIES, 'sendBatch').mockRejectedValue(new Error('Queue is overloaded'));
    const hook = await register();
    expect(await happen()).toMatchObject({ status: 200, data: { accepted: 2 } });
    refuse.mockRestore();
    const [{ id } = { id: '' }] = await deliveriesOf(hook.id);
    const keys = [{ webhookId: hook.id, id }];
    expect((await claim(openDatabase(env.DB), keys, Date.now())).claimed).toHaveLength(1); // and then it is gone
    await minute();
    expect(heard.got).toEqual([]);
    await env.DB.prepare('update deliveries set claimed_until = claimed_until - ?1').bind(leaseMs).run();
    await minute();
    expect(await settled(hook.id)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
  });

  it('whose wake-up the queue refused is woken by the sweep', async () => {
    const refuse = vi.spyOn(env.DELIVERIES, 'sendBatch').mockRejectedValue(new Error('Queue is overloaded'));
    const hook = await register();
    expect(await happen()).toMatchObject({ status: 200, data: { accepted: 2 } });
    await vi.waitFor(() => expect(refuse).toHaveBeenCalled());
    refuse.mockRestore();
    expect(heard.got).toEqual([]);
    await minute();
    expect(await settled(hook.id)).toMatchObject([{ status: 'delivered' }]);
  });
});
