import { env } from 'cloudflare:workers';
import { handle } from '#src/core/webhooks/deliveries/consumer.ts';
import { giveUp } from '#src/core/webhooks/deliveries/sweep.ts';
import { sweepAndNote } from '#src/operator/health/service.ts';
import { reEncrypt } from '#src/operator/re-encrypt.ts';
import { status } from '#src/operator/status.ts';
import { accidentsInTime, selectWaits } from '#src/operator/waits.ts';
import {
  accident,
  addRows,
  attempted,
  changeAccount,
  changeConnection,
  fetchWith,
  hourMs,
  listenToLog,
  makeDue,
  metered,
  newId,
  openDatabase,
  operator,
  overloaded,
  rows,
  settled,
  story,
  transaction,
  unattempted,
  value,
} from '#test/support.ts';

const { happen, heard, register, us } = story();
const show = async () =>
  (await operator.get<Awaited<ReturnType<typeof status>>>('/operator/status')).data;

beforeEach(async () => {
  await rows('delete from deliveries');
  await rows('delete from webhook_health');
  await rows('delete from webhook_hours');
});

/** Puts deliveries of a webhook into the table as they would be after what is said of them. */
const put = (webhook_id: string, count: number, status: string, set: object = {}) =>
  addRows('deliveries', count, () => ({ webhook_id, status, ...set }));

it('the status is all zeros and names no webhook when nothing has happened', async () => {
  await register();
  const lists = 'accidents failing connections paused uncovered deletions moves'.split(' ');
  expect(await show()).toMatchObject({
    ...{ problem: null, warning: null, pending: 0, due: 0, later: 0, oldestPendingAt: null },
    ...Object.fromEntries(lists.map((list) => [list, []])),
    encryptionKeys: [{ key: 'test', known: true, newest: true }],
  });
});

it('the status counts pending deliveries: due, later, and since when', async () => {
  const began = Date.now();
  await put('w', 2, 'pending', { next_attempt_at: Date.now() - 1000 * 400 });
  await put('w', 3, 'pending', { next_attempt_at: Date.now() + hourMs });
  await put('w', 4, 'delivered');
  const DELIVERIES = { sendBatch: async () => {} } as unknown as Queue; // all that it uses
  await sweepAndNote({ ...env, DELIVERIES });
  const shown = await show();
  expect(shown).toMatchObject({ problem: 'Deliveries are late', pending: 5, due: 2, later: 3 });
  expect(shown.health.oldestDueSeconds).toBeGreaterThanOrEqual(400);
  expect(Date.parse(String(shown.oldestPendingAt))).toBeGreaterThanOrEqual(began);
});

it('the status names the webhooks whose deliveries fail, the worst first', async () => {
  const [bad, worse, fine] = [await register(), await register(), await register()];
  heard.responds(({ url }) => new Response('', { status: url === fine.url ? 200 : 500 }));
  await happen();
  for (const { id } of [bad, worse]) await attempted(id);
  await settled(fine.id);
  await put(worse.id, 3, 'failed', { finished_at: Date.now() - hourMs });
  await put(worse.id, 2, 'failed', { finished_at: Date.now() - 25 * hourMs });
  await rows(
    'update webhook_health set open_until = 1e13, paused_since = iif(webhook_id = ?1, 1, ?2)',
    ...[bad.id, Date.now() - 14 * 60_000],
  );
  const { accountId } = us;
  const both = {
    ...{ account: 'Acme Insurance', accountId, failures: 1, failedAttempts: 1, retrying: 1 },
    openUntil: expect.stringMatching(/^2286-/),
    lastFailure: { kind: 'status', status: 500 },
    nextAttemptAt: expect.stringMatching(/Z$/),
  };
  await expect
    .poll(async () => (await show()).failing)
    .toEqual([
      { ...both, webhookId: worse.id, url: worse.url, failed: 3 },
      { ...both, webhookId: bad.id, url: bad.url, failed: 0 },
    ]);
  expect((await show()).paused).toMatchObject([
    { webhookId: bad.id, url: bad.url, accountId, pausedSince: new Date(1).toISOString() },
  ]);
});

it('the status names accidents that wait', async () => {
  const hook = await register();
  await unattempted(hook.id, () => us.send(accident()));
  expect((await show()).accidents).toEqual([]);
  await rows('update deliveries set id = ?1', newId(Date.now() - 40_000));
  const { accountId } = us;
  expect((await show()).accidents).toMatchObject([
    { webhookId: hook.id, url: hook.url, accountId, level: 1, attempts: 0 },
  ]);
});

it('the status names accounts that are being moved, and whether that takes too long', async () => {
  const { accountId } = us;
  const since = Date.now() - 60_000;
  const set = async (seconds: number, state = 'copying') => {
    const move = JSON.stringify({ to: 'eu', since, seconds });
    await rows(
      'replace into moves (account_id, state, move) values (?1, ?2, ?3)',
      accountId,
      state,
      move,
    );
    return (await show()).moves;
  };
  const move = { accountId, account: 'Acme Insurance', to: 'eu', state: 'copying' };
  expect(await set(90)).toEqual([
    { ...move, isOverdue: false, since: new Date(since).toISOString() },
  ]);
  expect(await set(30)).toMatchObject([{ accountId, isOverdue: true }]);
  expect(await set(30, 'none')).toEqual([]); // the other cell is only asked
  await rows('delete from moves');
});

it('the status counts no further than it needs to, whatever has piled up', async () => {
  const hook = await register();
  await put('w', 10_500, 'pending', { next_attempt_at: 1 });
  await put(hook.id, 500, 'failed', { finished_at: Date.now() });
  await addRows('webhook_health', 1, () => ({ webhook_id: hook.id, failures: 1 }));
  const { env: bindings, cost } = metered();
  expect(await status({ ...env, DB: bindings.DB })).toMatchObject({
    pending: 10_000,
    failing: [{ failed: 100 }],
  });
  expect(cost.read).toBeGreaterThanOrEqual(10_000);
  expect(cost.read).toBeLessThanOrEqual(20_010 + 500 + 20);
});

it('what an older key has encrypted is re-encrypted although another key is lost', async () => {
  const [lost, kept] = [await register(), await register()];
  await rows(
    `update webhooks set headers = json_set(headers, '$.key', 'lost') where id = ?1`,
    lost.id,
  );
  const keys = `new:${btoa('n'.repeat(32))},${env.ENCRYPTION_KEYS}`;
  await reEncrypt({ ...env, ENCRYPTION_KEYS: keys });
  const keyOf = ({ id }: { id: string }) =>
    value(`select headers->>'key' from webhooks where id = ?1`, id);
  expect([await keyOf(lost), await keyOf(kept)]).toEqual(['lost', 'new']);
});

it('what is encrypted with an older key is read, re-encrypted with the newest, and counted in the status', async () => {
  await rows('delete from webhooks');
  await sweepAndNote(env);
  const secret = 'a-very-secret-value';
  const oauth = { tokenUrl: 'https://login.example.com/', clientId: 'c', clientSecret: 's' };
  const hook = await register({ headers: { 'X-Secret': secret }, signing: true, oauth });
  heard.serves('https://login.example.com', () => Response.json({ access_token: 'token' }));
  await happen(1, 'before');
  await settled(hook.id);
  const rotated = { ...env, ENCRYPTION_KEYS: `new:${btoa('n'.repeat(32))},${env.ENCRYPTION_KEYS}` };
  const become = (status: string) =>
    rows('update accounts set status = ?1 where id = ?2', status, us.accountId);
  const shown = async () => (await status(rotated)).encryptionKeys;
  // Its headers, its signing secret, its client's secret and the token.
  expect(await shown()).toMatchObject([
    { key: 'new', encrypts: 0, known: true, newest: true },
    { key: 'test', encrypts: 4, known: true, newest: false },
  ]);
  const early = await status({ ...env, ENCRYPTION_KEYS: `new:${btoa('n'.repeat(32))}` });
  expect(early.problem).toMatch(/ENCRYPTION_KEYS lacks keys.*test \(4\)/);
  await become('moving');
  expect(await reEncrypt(rotated)).toBe(0);
  await become('suspended');
  expect(await reEncrypt(rotated)).toBeGreaterThan(0);
  expect(await shown()).toMatchObject([
    { key: 'new', encrypts: 4 },
    { key: 'test', encrypts: 0 },
  ]);
  expect(await reEncrypt(rotated)).toBe(0);
  await become('active');
  await unattempted(hook.id, happen);
  await handle(rotated, { accountId: us.accountId, webhookId: hook.id, worker: 1 });
  expect(heard.got.at(-1)?.headers['x-secret']).toBe(secret);
});

/** The shares of this file's accounts, whose rows are all that a test's database has. */
async function shares(hours = 0) {
  const db = openDatabase(env);
  const now = Date.now() + hours * hourMs;
  return accidentsInTime(await transaction(db, selectWaits(db, now)), now);
}

const crash = () => us.send(accident());
/** Has an accident wait for ten minutes. */
async function waits(webhookId: string) {
  await unattempted(webhookId, crash);
  await rows(`update deliveries set id = ?1 where status = 'pending'`, newId(Date.now() - 600_000));
}
const both = (count: number, inTime: number | null) => {
  const share = { count, inTime };
  return { hour: share, day: share };
};
const nothing = both(0, null);

it('accidents attempted at once are in time, for this hour and for 24, and events do not count', async () => {
  const hook = await register();
  expect(await shares()).toEqual(nothing);
  await happen(3);
  await crash();
  await settled(hook.id, 4);
  await expect.poll(() => shares()).toEqual(both(1, 1));
  expect(await shares(1)).toEqual({ hour: nothing.hour, day: both(1, 1).day });
  expect(await shares(24)).toEqual(nothing);
});

it('an accident that waits for more than 5 s is late, also once it is attempted, and counts once', async () => {
  const hook = await register();
  await waits(hook.id);
  expect(await shares()).toEqual(both(1, 0));
  heard.returns(500);
  for (let attempt = 0; attempt < 2; attempt++) {
    await makeDue(hook.id);
    await handle(env, { accountId: us.accountId, webhookId: hook.id, worker: 1 });
    expect(await shares()).toEqual(both(1, 0));
  }
});

it('an accident that was never attempted is late', async () => {
  const hook = await register();
  await unattempted(hook.id, crash);
  await rows(`update deliveries set next_attempt_at = 0 where status = 'pending'`);
  await giveUp(env);
  expect(await shares()).toEqual(both(1, 0));
});

it('tests and replays do not count', async () => {
  const hook = await register();
  await us.api.post(`/webhook/${hook.id}/test`, { type: 1 });
  await settled(hook.id);
  await crash();
  await settled(hook.id, 2);
  const id = await value(
    'select max(id) from deliveries where webhook_id = ?1 and is_test = 0',
    hook.id,
  );
  await operator.post(`/operator/deliveries/${id}/replay`, {});
  await expect
    .poll(() => value('select json_array_length(log) from deliveries where id = ?1', id))
    .toBe(2);
  await expect.poll(() => value('select sum(delivered) from webhook_hours')).toBe(3);
  expect(await shares()).toEqual(both(1, 1));
});

/** The value of each metric by its name, and label if it has one. */
async function scrape({ key = env.OPERATOR_KEY, bindings = env } = {}) {
  const headers = { authorization: `Bearer ${key}` };
  const request = new Request('https://api.example.com/operator/metrics', { headers });
  const response = await fetchWith(bindings, request);
  const values = new Map(
    [...(await response.text()).matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(
      ([, name = '', label = '', value]) => [name + label, Number(value)],
    ),
  );
  return { status: response.status, values };
}

it('what waits or fails of a suspended account needs nobody, in status, metrics and log', async () => {
  const hook = await register();
  await waits(hook.id);
  await addRows('webhook_health', 1, () => ({ webhook_id: hook.id, failures: 1 }));
  await changeConnection(us.connection.id, { healthStatus: 3 });
  const { lines } = listenToLog();
  const DELIVERIES = { sendBatch: async () => {} } as unknown as Queue; // all that it uses
  const found = async () => {
    await sweepAndNote({ ...env, DELIVERIES });
    const { pending, accidents, failing, connections } = await show();
    const { values } = await scrape();
    return {
      listed: [pending, accidents.length, failing.length, connections.length],
      oldest: values.get('fleet_accident_oldest_undelivered_seconds'),
      problems: values.get('fleet_connections_with_problems'),
      logged: lines('fault').length,
    };
  };
  const all = { listed: [1, 1, 1, 1], oldest: expect.closeTo(600, -2), problems: 1 };
  expect(await found()).toEqual({ ...all, logged: 1 });
  await changeAccount(us, { status: 'suspended' });
  expect(await found()).toEqual({ listed: [0, 0, 0, 0], oldest: 0, problems: 0, logged: 1 });
  await changeAccount(us, { status: 'active' });
  expect(await found()).toEqual({ ...all, logged: 2 });
  await changeConnection(us.connection.id, { healthStatus: 1 });
});

it('metrics say how the service is doing, to operators alone', async () => {
  await sweepAndNote(env);
  await rows('update connections set health_status = 3 where id = ?1', us.connection.id);
  const { status, values } = await scrape();
  expect(status).toBe(200);
  expect(Object.fromEntries(values)).toMatchObject({
    fleet_database_up: 1,
    fleet_connections_with_problems: 1,
    fleet_pulls_due: 0,
  });
  expect(values.get('fleet_database_bytes')).toBeGreaterThan(10_000);
  expect(values.get('fleet_sweep_age_seconds')).toBeLessThan(60);
  expect([...values.values()].every(Number.isFinite)).toBe(true);
  expect((await scrape({ key: 'wrong' })).status).toBe(401);
});

it('metrics count deliveries by outcome, and say how old the oldest undelivered accident is', async () => {
  const hook = await register();
  await happen(3);
  const metric = async (name: string) => (await scrape()).values.get(`fleet_${name}`);
  await expect.poll(() => metric('deliveries_this_houroutcome="delivered"')).toBe(3);
  expect(await metric('accident_oldest_undelivered_seconds')).toBe(0);
  await waits(hook.id);
  const { values } = await scrape();
  expect(values.get('fleet_accident_oldest_undelivered_seconds')).toBeGreaterThanOrEqual(600);
  expect(values.get('fleet_deliveries_pending')).toBe(1);
  for (const span of ['hour', 'day'])
    expect(values.get(`fleet_accidents_in_time_ratiospan="${span}"`)).toBe(0);
});

it('metrics are fewer while the database does not respond', async () => {
  const { status, values } = await scrape({ bindings: { ...env, DB: overloaded(env.DB) } });
  expect(status).toBe(200);
  expect([...values.keys()]).toEqual(['fleet_database_up', 'fleet_queue_backlog']);
  expect(values.get('fleet_database_up')).toBe(0);
});
