import { env } from 'cloudflare:workers';
import { newId } from '#src/core/platform/db/ids.ts';
import { handle } from '#src/core/webhooks/deliveries/consumer.ts';
import { type ClaimedDelivery, startWindowMs } from '#src/core/webhooks/deliveries/policy.ts';
import { callsOf } from '#src/core/webhooks/deliveries/send/calls.ts';
import { sweep } from '#src/core/webhooks/deliveries/sweep.ts';
import { attempted, claim, makeDue, settled, unattempted } from '#test/support/deliveries.ts';
import { accident, safetyEvent, vehicle } from '#test/support/records.ts';
import { addRows, rows } from '#test/support/rows.ts';
import { minute } from '#test/support/service.ts';
import { story } from '#test/support/story.ts';
import { addConnection, operator, webhookBody } from '#test/support/world.ts';

const { us, heard, send, register, happen } = story();

describe('a delivery', () => {
  it('of a suspended account waits until that is active again', async () => {
    const hook = await register();
    await unattempted(hook.id, () => happen());
    const set = (status: string) =>
      operator.patch(`/operator/accounts/${us.accountId}`, { status });
    await set('suspended');
    await handle(env, { accountId: us.accountId, webhookId: hook.id, worker: 1 });
    await rows('update deliveries set id = ?1, next_attempt_at = 1', newId(Date.now() - 60_000));
    expect(await sweep(env)).toMatchObject({ woken: 0 });
    expect(heard.got).toEqual([]);
    await set('active');
    expect(await sweep(env)).toMatchObject({ woken: 1 });
    await settled(hook.id);
    expect(heard.got).toHaveLength(1);
  });

  it('of a worker that is under way follows an update', async () => {
    const hook = await register();
    const calls = callsOf(env, hook.id);
    const delivery = { id: 'd', attempts: 0, type: 2, data: '{}', wanted: true } as ClaimedDelivery;
    const callOnce = async () => {
      const { webhook } = await claim(hook.id);
      if (webhook) calls.start(webhook, [delivery], Date.now() + 1000);
      await calls.progress(false);
      calls.takeEnded();
    };
    await callOnce();
    const url = 'https://moved.example.com/';
    const headers = { 'x-secret': 'new' };
    await us.api.put(`/webhook/${hook.id}`, webhookBody(us, { url, headers, httpVerb: 'PUT' }));
    await callOnce();
    const called = heard.got.map((got) => [got.method, got.url]);
    expect(called).toEqual([
      ['POST', hook.url],
      ['PUT', url],
    ]);
  });

  it.each([1, 2])(
    'has the payload that was issued, whatever is corrected later, for %i webhooks',
    async (count) => {
      heard.returns(500);
      const hooks = await Promise.all(Array.from({ length: count }, () => register()));
      await happen();
      for (const { id } of hooks) await attempted(id);
      const [first] = heard.got;
      expect(first?.body.data).toMatchObject({
        vehicleName: 'Truck 1',
        eventRisk: expect.any(Number),
      });
      const later = { sourceUpdatedAt: new Date().toISOString() };
      await send(
        vehicle({ ...later, name: 'Renamed', groups: [] }),
        safetyEvent({ ...later, sourceId: 'e0', incidentTypes: ['Crash'] }),
      );
      for (const { id } of hooks) await makeDue(id);
      await minute();
      for (const { id } of hooks) await attempted(id, 2);
      for (const { body } of heard.got) expect(body.data).toEqual(first?.body.data);
    },
  );

  it('has the payload that was issued, corrected while its webhook did not subscribe to its connection', async () => {
    heard.returns(500);
    const hook = await register();
    const { id: other } = await addConnection(us.accountId);
    await happen();
    await attempted(hook.id);
    const subscribe = (connectionIds: string[]) =>
      us.api.put(`/webhook/${hook.id}`, webhookBody(us, { url: hook.url, connectionIds }));
    await subscribe([other]);
    const sourceUpdatedAt = new Date().toISOString();
    await send(safetyEvent({ sourceUpdatedAt, sourceId: 'e0', incidentTypes: ['Crash'] }));
    await subscribe([us.connection.id]);
    await makeDue(hook.id);
    await minute();
    await attempted(hook.id, 2);
    const [first, second] = heard.got;
    expect(second?.body.data).toEqual(first?.body.data);
  });

  it('that fails is tried again after five seconds, with the same Delivery-Id', async () => {
    heard.responds(
      ({ headers }) =>
        new Response(null, { status: headers['delivery-attempt'] === '1' ? 503 : 204 }),
    );
    const hook = await register();
    await happen();
    const waiting = await attempted(hook.id);
    expect(waiting.status).toBe('pending');
    const wait = waiting.nextAttemptAt - Date.now();
    expect(wait).toBeGreaterThan(2000);
    expect(wait).toBeLessThanOrEqual(6000);
    const [done] = await settled(hook.id);
    expect(done).toMatchObject({ status: 'delivered', attempts: 2 });
    expect(new Set(heard.got.map(({ headers }) => headers['delivery-id'])).size).toBe(1);
    expect(done?.log).toMatchObject([
      { result: 'status', status: 503 },
      { result: 'success', status: 204 },
    ]);
  });

  it.each([
    ['x', 1024],
    ['\u0001"😀', 300],
  ])('keeps of an answer of many %j what takes a KiB as JSON', async (text, least) => {
    heard.responds(() => new Response(text.repeat(2000), { status: 500 }));
    const hook = await register();
    await happen();
    const [{ answer = '' } = {}] = (await attempted(hook.id)).log;
    expect(new TextEncoder().encode(JSON.stringify(answer)).byteLength).toBeLessThanOrEqual(1026);
    expect(answer.isWellFormed()).toBe(true);
    expect(text.repeat(2000).startsWith(answer)).toBe(true);
    expect(answer.length).toBeGreaterThanOrEqual(least);
  });

  it('is not sent to an address that must not be called', async () => {
    const hook = await register();
    await rows('update webhooks set url = ?1 where id = ?2', 'https://10.0.0.1/', hook.id);
    await happen();
    const { log, status } = await attempted(hook.id);
    expect(log).toMatchObject([{ result: 'blocked address' }]);
    expect(status).toBe('pending');
    expect(heard.got).toEqual([]);
  });

  it.each([
    ['deletion', (id: string) => us.api.delete(`/webhook/${id}`)],
    ['update', (id: string) => us.api.put(`/webhook/${id}`, webhookBody(us))],
  ])('that a worker may still start keeps the %s of its webhook waiting', async (_, change) => {
    const hook = await register();
    const ours = {
      webhook_id: hook.id,
      account_id: us.accountId,
      status: 'pending',
      next_attempt_at: 0,
    };
    await addRows('deliveries', 1, () => ours);
    await claim(hook.id, 1);
    const began = Date.now();
    expect((await change(hook.id)).status).toBe(200);
    expect(Math.round((Date.now() - began) / 1000)).toBe(startWindowMs / 1000);
  });

  it.each([
    ['type', () => ({ notificationTypes: [1] })],
    ['connection', (other: string) => ({ connectionIds: [other] })],
  ])('is cancelled unsent when its webhook no longer asks for its %s', async (_, changed) => {
    const hook = await register();
    const changes = changed((await addConnection(us.accountId)).id);
    // Changed while the first call is in flight, so that no retry can come before.
    heard.responds(async () => {
      await us.api.put(`/webhook/${hook.id}`, webhookBody(us, changes));
      return new Response('no', { status: 500 });
    });
    await happen();
    await attempted(hook.id);
    await makeDue(hook.id);
    await minute();
    expect(await settled(hook.id)).toMatchObject([{ status: 'cancelled', attempts: 1 }]);
    expect(heard.got).toHaveLength(1);
  });

  it('that nobody works for is woken while a worker for accidents is busy', async () => {
    const hook = await register({ notificationTypes: [1, 2] });
    await unattempted(hook.id, () => send(vehicle(), accident(), safetyEvent()));
    expect((await claim(hook.id, 1)).claimed).toMatchObject([{ type: 1 }]);
    await makeDue(hook.id);
    await minute();
    expect(await settled(hook.id)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
    expect(heard.got).toMatchObject([{ body: { type: 2 } }]);
  });
});

it('each attempt is a point in Analytics Engine, which may be down', async () => {
  const write = vi.spyOn(env.ATTEMPTS, 'writeDataPoint').mockImplementation(() => {
    throw new Error('Analytics Engine is down');
  });
  const hook = await register();
  await happen();
  expect(await settled(hook.id)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
  heard.responds(() => Promise.reject(new Error('connection refused')));
  await send(accident());
  await vi.waitFor(() => expect(write).toHaveBeenCalledTimes(2));
  const doubles = (status: number) => [expect.any(Number), 1, status];
  expect(write.mock.calls.flat()).toEqual([
    { indexes: [us.accountId], blobs: ['event', 'success', hook.id], doubles: doubles(200) },
    { indexes: [us.accountId], blobs: ['accident', 'connection', hook.id], doubles: doubles(0) },
  ]);
});
