import { env } from 'cloudflare:workers';
import { newId } from '#src/core/platform/db/ids.ts';
import { sweepAndNote } from '#src/operator/health/service.ts';
import { reEncrypt } from '#src/operator/re-encrypt.ts';
import { status } from '#src/operator/status.ts';
import { attempted, settled, unattempted } from '#test/support/deliveries.ts';
import { accident } from '#test/support/records.ts';
import { rows } from '#test/support/rows.ts';
import { metered } from '#test/support/runtime/meter.ts';
import { story } from '#test/support/story.ts';
import { operator } from '#test/support/world.ts';

const tale = story();
const show = async () =>
  (await operator.get<Awaited<ReturnType<typeof status>>>('/operator/status')).data;

beforeEach(async () => {
  await rows('delete from deliveries');
  await rows('delete from webhook_health');
});

/** Puts deliveries of a webhook into the table as they would be after what is said of them. */
const put = (webhookId: string, count: number, set: Record<string, string | number>) =>
  rows(
    `insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at, finished_at)
     with recursive n (i) as (select 1 union all select i + 1 from n where i < ?2)
     select ?1, ?3 || i, 'a', 'e', 0, ?4, ?5, ?6 from n`,
    webhookId,
    count,
    newId(),
    set.status,
    set.nextAttemptAt ?? 0,
    set.finishedAt ?? null,
  );

const hour = 3_600_000;

it('the status is all zeros and names no webhook when nothing has happened', async () => {
  await tale.register();
  const lists = [
    'accidents',
    'failing',
    'connections',
    'paused',
    'uncovered',
    'deletions',
    'moves',
  ];
  expect(await show()).toMatchObject({
    ...{ problem: null, warning: null, pending: 0, due: 0, later: 0, oldestPendingAt: null },
    ...Object.fromEntries(lists.map((list) => [list, []])),
    encryptionKeys: [{ key: 'test', known: true, newest: true }],
  });
});

it('the status counts pending deliveries: due, later, and since when', async () => {
  const began = Date.now();
  await put('w', 2, { status: 'pending', nextAttemptAt: Date.now() - 1000 * 400 });
  await put('w', 3, { status: 'pending', nextAttemptAt: Date.now() + hour });
  await put('w', 4, { status: 'delivered' });
  const refuse = vi
    .spyOn(env.DELIVERIES, 'sendBatch')
    .mockRejectedValue(new Error('Queue is overloaded'));
  await sweepAndNote(env);
  refuse.mockRestore();
  const shown = await show();
  expect(shown).toMatchObject({ problem: 'Deliveries are late', pending: 5, due: 2, later: 3 });
  expect(shown.health.oldestDueSeconds).toBeGreaterThanOrEqual(400);
  const oldest = Date.parse(String(shown.oldestPendingAt));
  expect(oldest).toBeGreaterThanOrEqual(began);
  expect(oldest).toBeLessThanOrEqual(Date.now());
});

it('the status names the webhooks whose deliveries fail, the worst first', async () => {
  const [bad, worse, fine] = [await tale.register(), await tale.register(), await tale.register()];
  tale.heard.responds(({ url }) => new Response('', { status: url === fine.url ? 200 : 500 }));
  await tale.happen();
  for (const { id } of [bad, worse]) await attempted(id);
  await settled(fine.id);
  await put(worse.id, 3, { status: 'failed', finishedAt: Date.now() - hour });
  await put(worse.id, 2, { status: 'failed', finishedAt: Date.now() - 25 * hour });
  const later = Date.now() - 14 * 60_000;
  await rows(
    'update webhook_health set open_until = 1e13, paused_since = iif(webhook_id = ?1, 1, ?2)',
    bad.id,
    later,
  );
  const { accountId } = tale.us;
  const both = {
    account: 'Acme Insurance',
    accountId,
    failures: 1,
    openUntil: expect.stringMatching(/^2286-/),
    failedAttempts: 1,
    retrying: 1,
    lastFailure: { kind: 'status', status: 500 },
    nextAttemptAt: expect.stringMatching(/Z$/),
  };
  await expect
    .poll(async () => (await show()).failing)
    .toEqual([
      { ...both, webhookId: worse.id, url: worse.url, failed: 3 },
      { ...both, webhookId: bad.id, url: bad.url, failed: 0 },
    ]);
  const pausedSince = new Date(1).toISOString();
  expect((await show()).paused).toMatchObject([
    { webhookId: bad.id, url: bad.url, accountId, pausedSince },
  ]);
});

it('the status names accidents that wait', async () => {
  const hook = await tale.register();
  await unattempted(hook.id, () => tale.us.send(accident()));
  expect((await show()).accidents).toEqual([]);
  await rows(`update deliveries set id = ?1 where status = 'pending'`, newId(Date.now() - 40_000));
  const { accountId } = tale.us;
  expect((await show()).accidents).toMatchObject([
    { webhookId: hook.id, url: hook.url, accountId, level: 1, attempts: 0 },
  ]);
});

it('the status names accounts that are being moved, and whether that takes too long', async () => {
  const { accountId } = tale.us;
  const [since, seconds] = [Date.now() - 60_000, 90];
  const put = (move: object) =>
    rows(
      `replace into moves (account_id, state, move) values (?1, 'copying', ?2)`,
      accountId,
      JSON.stringify({ to: 'eu', since, seconds, ...move }),
    );
  await put({});
  const move = {
    accountId,
    account: 'Acme Insurance',
    to: 'eu',
    state: 'copying',
    isOverdue: false,
  };
  expect((await show()).moves).toEqual([{ ...move, since: new Date(since).toISOString() }]);
  await put({ seconds: 30 });
  expect((await show()).moves).toMatchObject([{ accountId, isOverdue: true }]);
  await rows("update moves set state = 'none'"); // the other cell is only asked
  expect((await show()).moves).toEqual([]);
  await rows('delete from moves');
});

it('the status says how far a rotation of keys is, and which key is missing', async () => {
  await rows('delete from webhooks');
  await sweepAndNote(env);
  await tale.register({ headers: { 'X-Secret': 'one' } });
  const rotated = { ...env, ENCRYPTION_KEYS: `new:${btoa('n'.repeat(32))},${env.ENCRYPTION_KEYS}` };
  const key = { known: true, newest: false };
  const before = await status(rotated);
  expect(before).toMatchObject({
    encryptionKeys: [
      { key: 'new', encrypts: 0, known: true, newest: true },
      { ...key, key: 'test', encrypts: 1 },
    ],
  });
  expect(before.problem ?? '').not.toContain('ENCRYPTION_KEYS');
  const early = await status({ ...env, ENCRYPTION_KEYS: `new:${btoa('n'.repeat(32))}` });
  expect(early.problem).toContain('ENCRYPTION_KEYS lacks keys');
  expect(early.problem).toContain('test (1)');
  await reEncrypt(rotated);
  expect((await status(rotated)).encryptionKeys).toMatchObject([
    { key: 'new', encrypts: 1 },
    { ...key, key: 'test', encrypts: 0 },
  ]);
});

it('the status counts no further than it needs to, whatever has piled up', async () => {
  const hook = await tale.register();
  await put('w', 10_500, { status: 'pending', nextAttemptAt: 1 });
  await put(hook.id, 500, { status: 'failed', finishedAt: Date.now() });
  await rows(
    'insert into webhook_health (webhook_id, failures, openings, open_until) values (?1, 1, 0, 0)',
    hook.id,
  );
  const { env: bindings, cost } = metered();
  expect(await status({ ...env, DB: bindings.DB })).toMatchObject({
    pending: 10_000,
    failing: [{ failed: 100 }],
  });
  expect(cost.read).toBeGreaterThanOrEqual(10_000);
  expect(cost.read).toBeLessThanOrEqual(20_010 + 500 + 20);
});
