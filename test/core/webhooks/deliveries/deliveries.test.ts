// More than 15 s: waits for retries, and for calls that may still start.
import { env } from 'cloudflare:workers';
import {
  type ClaimedDelivery,
  startWindowMs,
  widestWindow,
} from '#src/core/webhooks/deliveries/policy.ts';
import { callsOf } from '#src/core/webhooks/deliveries/send/calls.ts';
import { sweep } from '#src/core/webhooks/deliveries/sweep.ts';
import {
  accident,
  addConnection,
  addRow,
  addRows,
  attempted,
  changeAccount,
  claim,
  newId,
  replaceWebhook,
  rows,
  safetyEvent,
  settled,
  story,
  tryAgain,
  unattempted,
  vehicle,
} from '#test/support.ts';

const { us, heard, send, register, happen, work } = story();

describe('a delivery', () => {
  it('of a suspended account waits until that is active again', async () => {
    const hook = await register();
    await unattempted(hook.id, () => happen());
    await changeAccount(us, { status: 'suspended' });
    await work(hook.id);
    await rows('update deliveries set id = ?1, next_attempt_at = 1', newId(Date.now() - 60_000));
    expect(await sweep(env)).toMatchObject({ woken: 0 });
    expect(heard.got).toEqual([]);
    await changeAccount(us, { status: 'active' });
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
    await replaceWebhook(us, hook.id, { url, headers, httpVerb: 'PUT' });
    await callOnce();
    expect(heard.got).toMatchObject([
      { method: 'POST', url: hook.url },
      { method: 'PUT', url, headers },
    ]);
  });

  it('has the payload that was issued, whatever is corrected or subscribed to meanwhile', async () => {
    heard.returns(500);
    const [one, other] = [await register(), await register()];
    const { id: connection } = await addConnection(us.accountId);
    await happen();
    for (const { id } of [one, other]) await attempted(id);
    const subscribe = (connectionIds: string[]) =>
      replaceWebhook(us, one.id, { url: one.url, connectionIds });
    await subscribe([connection]);
    const sourceUpdatedAt = new Date().toISOString();
    await send(
      vehicle({ sourceUpdatedAt, name: 'Renamed', groups: [] }),
      safetyEvent({ sourceUpdatedAt, sourceId: 'e0', incidentTypes: ['Crash'] }),
    );
    await subscribe([us.connection.id]);
    await tryAgain(one.id, other.id);
    for (const { id } of [one, other]) await attempted(id, 2);
    const [first] = heard.got;
    expect(first?.body.data).toMatchObject({ vehicleName: 'Truck 1', eventRisk: 3 });
    for (const { body } of heard.got) expect(body.data).toEqual(first?.body.data);
  });

  it('that fails is tried again after five seconds, with the same Delivery-Id', async () => {
    heard.responds(
      ({ headers }) =>
        new Response(null, { status: headers['delivery-attempt'] === '1' ? 503 : 204 }),
    );
    const hook = await register();
    await happen();
    const { status, nextAttemptAt } = await attempted(hook.id);
    expect(status).toBe('pending');
    const wait = nextAttemptAt - Date.now();
    expect(wait).toBeGreaterThan(2000);
    expect(wait).toBeLessThanOrEqual(6000);
    const log = [{ status: 503 }, { result: 'success', status: 204 }];
    const [done] = await settled(hook.id);
    expect(done).toMatchObject({ status: 'delivered', attempts: 2, log });
    const ids = heard.got.map(({ headers }) => headers['delivery-id']);
    expect(ids).toEqual([done?.id, done?.id]);
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

  it('that a worker may still start keeps the deletion of its webhook waiting', async () => {
    const hook = await register();
    const ours = { webhook_id: hook.id, account_id: us.accountId, next_attempt_at: 0 };
    await addRow('deliveries', { ...ours, status: 'pending' });
    await claim(hook.id, 1);
    // Those that came later go first.
    const accidents = { ...ours, status: 'pending', priority: 0 };
    await addRows('deliveries', 2 * widestWindow, (i) => ({ ...accidents, id: `later ${i}` }));
    const began = Date.now();
    expect((await us.api.delete(`/webhook/${hook.id}`)).status).toBe(200);
    expect(Date.now() - began).toBeGreaterThan(startWindowMs / 2); // of the claim, some time ago
  });

  it('is cancelled unsent when its webhook no longer asks for its type or connection, which is saved once no call may start', async () => {
    const { id: other } = await addConnection(us.accountId);
    const changes = [{ notificationTypes: [1] }, { connectionIds: [other] }];
    const hooks = [await register(), await register()];
    const waited: number[] = [];
    // Changed while the first call is in flight, so that no retry can come before.
    heard.responds(async ({ url }) => {
      const at = hooks.findIndex((hook) => hook.url === url);
      const began = Date.now();
      await replaceWebhook(us, hooks[at]?.id ?? '', changes[at] ?? {});
      waited.push(Date.now() - began);
      return new Response('no', { status: 500 });
    });
    await happen();
    for (const { id } of hooks) await attempted(id);
    expect(waited).toHaveLength(2);
    expect(Math.min(...waited)).toBeGreaterThan(startWindowMs / 2);
    await tryAgain(...hooks.map(({ id }) => id));
    for (const { id } of hooks)
      expect(await settled(id)).toMatchObject([{ status: 'cancelled', attempts: 1 }]);
    expect(heard.got).toHaveLength(2);
  });

  it('that nobody works for is woken while a worker for accidents is busy', async () => {
    const hook = await register({ notificationTypes: [1, 2] });
    await unattempted(hook.id, () => send(vehicle(), accident(), safetyEvent()));
    expect((await claim(hook.id, 1)).claimed).toMatchObject([{ type: 1 }]);
    await tryAgain(hook.id);
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
  await expect.poll(() => write).toHaveBeenCalledTimes(2);
  const doubles = (status: number) => [expect.any(Number), 1, status];
  expect(write.mock.calls.flat()).toEqual([
    { indexes: [us.accountId], blobs: ['event', 'success', hook.id], doubles: doubles(200) },
    { indexes: [us.accountId], blobs: ['accident', 'connection', hook.id], doubles: doubles(0) },
  ]);
});
