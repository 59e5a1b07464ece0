import { env } from 'cloudflare:workers';
import { startWindowMs } from '#src/core/webhooks/deliveries/policy.ts';
import { runWorker } from '#src/core/webhooks/deliveries/send/worker.ts';
import { prune } from '#src/core/webhooks/deliveries/sweep.ts';
import {
  accident,
  attempted,
  deliveriesOf,
  rows,
  safetyEvent,
  settled,
  setWindow,
  story,
  unattempted,
} from '#test/support.ts';

const { us, heard, send, register, happen, work } = story();

it('custom headers that cannot be read cost no attempt', async () => {
  const hook = await register();
  await rows(
    `update webhooks set headers = json_set(headers, '$.key', 'lost') where id = ?1`,
    hook.id,
  );
  vi.spyOn(console, 'error').mockImplementation(() => {});
  await happen(1);
  await vi.waitFor(async () => {
    const [row] = await deliveriesOf(hook.id);
    expect(row).toMatchObject({ status: 'pending', attempts: 0, claimedUntil: 0 });
    expect(row?.nextAttemptAt).toBeGreaterThan(Date.now() + 60_000);
  }, 30_000);
  expect(heard.got).toEqual([]);
});

it('pruning deletes what ended before retention, and never what is pending', async () => {
  const [kept, deleted, waiting] = [await register(), await register(), await register()];
  heard.responds(({ url }) => new Response(null, { status: url === waiting.url ? 500 : 200 }));
  await happen(3);
  await send(accident());
  await settled(kept.id, 4);
  await settled(deleted.id, 4);
  await attempted(waiting.id);
  await us.api.delete(`/webhook/${deleted.id}`);
  const later = Date.now() + 30 * 86_400_000;
  expect(await prune(env, later - 3_600_000)).toBe(0);
  expect(await prune(env, later + 60_000)).toBeGreaterThanOrEqual(8);
  for (const { id } of [kept, deleted]) expect(await deliveriesOf(id)).toEqual([]);
  expect((await deliveriesOf(waiting.id)).length).toBeGreaterThan(0);
  // The accident is still known: its level is not notified again.
  const again = send(accident(), safetyEvent({ sourceId: 'e0' }));
  expect((await again).data).toMatchObject({ accepted: 0, unchanged: 2 });
});

describe('a claim', () => {
  const unwoken = async (count: number) => {
    const { id } = await register();
    await unattempted(id, () => happen(count));
    return id;
  };

  it('is released for calls that could not start within its first five seconds', async () => {
    const webhookId = await unwoken(40);
    await setWindow(webhookId, 50);
    const now = Date.now.bind(Date);
    let calls = 0;
    heard.responds(async () => {
      if (++calls === 20) vi.spyOn(Date, 'now').mockImplementation(() => now() + startWindowMs + 1);
      return new Response('ok');
    });
    await work(webhookId);
    vi.mocked(Date.now).mockRestore();
    const rows = await settled(webhookId, 40);
    expect(rows.every(({ attempts }) => attempts === 1)).toBe(true);
  });

  it('makes no call that its invocation might not live to record, and keeps its place', async () => {
    const webhookId = await unwoken(3);
    const dueAt = (await deliveriesOf(webhookId)).map(({ nextAttemptAt }) => nextAttemptAt);
    const now = Date.now();
    const budget = { until: now + 5_000, callsUntil: now - 1, queries: 2, log: () => {} };
    const end = await runWorker(env, { accountId: us.accountId, webhookId, worker: 1 }, budget);
    expect(end.isLate).toBe(true);
    expect(heard.got).toEqual([]);
    const putBack = { status: 'pending', attempts: 0, claimedUntil: 0 };
    expect(await deliveriesOf(webhookId)).toMatchObject(
      dueAt.map((nextAttemptAt) => ({ ...putBack, nextAttemptAt })),
    );
  });

  it.each([
    ['once', 1],
    ['for some seconds', 12],
  ])('is recorded though D1 does not confirm the record %s', async (_, failures) => {
    const webhookId = await unwoken(1);
    const batch = env.DB.batch.bind(env.DB);
    let failed = 0;
    vi.spyOn(env.DB, 'batch').mockImplementation((statements) =>
      heard.got.length > 0 && ++failed <= failures
        ? Promise.reject(new Error('D1_ERROR: Network connection lost.'))
        : batch(statements),
    );
    await work(webhookId);
    expect(await deliveriesOf(webhookId)).toMatchObject([
      { status: 'delivered', attempts: 1, claimedUntil: 0 },
    ]);
    expect(heard.got).toHaveLength(1);
  });
});
