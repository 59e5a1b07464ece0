import { hourMs } from '#src/core/platform/durations.ts';
import { deliveriesOf, settled } from '#test/support/deliveries.ts';
import { ask, personBefore, signIn, watchedOn } from '#test/support/portal.ts';
import { receiver } from '#test/support/receiver.ts';
import { accident, safetyEvent, vehicle } from '#test/support/records.ts';
import { rows } from '#test/support/rows.ts';
import { metered } from '#test/support/runtime/meter.ts';
import { operator, register, world, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeEach);
const ann = personBefore(beforeEach, us);
const { page } = ann;
beforeEach(() => void receiver());

const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
/** What a reader sees of a part of a page, by its id. */
const textOf = async (id: string, path = '/portal') => (await page(path)).textAt(`#${id}`)[0];

it('a new account sees what to do next, and each step ticks itself off', async () => {
  // The token, and the first person, who is emailed of accidents.
  expect(await textOf('setup-now')).toMatch(
    /2 of 4 done.*Who is notified of accidents\? \(done\) Notified: person-\d+@/,
  );
  expect(await textOf('safety-events-per-day-now')).toBeUndefined();
  await register(us);
  expect(await textOf('setup-now')).toContain('3 of 4 done');
  await us.send(vehicle());
  expect(await textOf('setup-now')).toBeUndefined();
  expect(await textOf('safety-events-per-day-now')).toContain('Safety events per day');
});

it('a fleet without programs skips steps, and hides the list once data has come', async () => {
  await rows('update tokens set revoked_at = 1 where id = ?1', us.tokenId);
  const hide = async () => (await page('/portal')).links('Hide this list');
  expect(await hide()).toEqual([]);
  await us.send(vehicle());
  const [href = ''] = await hide();
  expect((await page(href)).text).not.toContain('of 4 done');
  const [skipWebhook = ''] = (await page('/portal')).links(
    'Skip Send notifications to your systems',
  );
  const { text } = await page(skipWebhook);
  expect(text).toMatch(/3 of 4 done.*Send notifications to your systems \(skipped\)/);
  await rows(`update portal_users set confirmed_at = null where account_id = ?1`, us.accountId);
  expect(await textOf('setup-now')).toContain('Who is notified of accidents? (to do)');
});

it('says how long deliveries took, once there are any', async () => {
  const hook = await register(us);
  await us.send(vehicle());
  expect(await textOf('delivery-times-now')).toBe('');
  await us.send(accident());
  await settled(hook.id);
  await expect
    .poll(() => textOf('delivery-times-now'))
    .toMatch(/Accidents 1 100% [\d.]+ m?s · [\d.]+ m?s · [\d.]+ m?s .*Events 0 – – –$/);
});

it('of many open accidents the newest are shown, and a link says how many there are', async () => {
  await us.send(vehicle());
  const crashes = (count: number) =>
    Array.from({ length: count }, (_, i) =>
      accident({ sourceId: `crash-${i}`, eventTime: ago((i + 1) * hourMs) }),
    );
  await us.send(...crashes(5));
  const open = async () => {
    const { textAt } = await page('/portal');
    return [...textAt('#open-now header'), textAt('#open-now li').length];
  };
  expect(await open()).toEqual(['5 accidents need attention All accidents', 5]);
  await us.send(...crashes(7));
  expect(await open()).toEqual(['7 accidents need attention See all 7', 5]);
});

it('what has a problem comes first, with why, and is counted in the menu', async () => {
  receiver(() => new Response('gone', { status: 410 }));
  const webhook = await register(us);
  const send = us.connector.send;
  await send(
    vehicle(),
    accident({ sourceId: 'a1', notificationLevel: 2 }),
    accident({ sourceId: 'a2', dismissed: true }),
    accident({ sourceId: 'a3', notificationLevel: 3, eventTime: '2026-11-20T20:00:01Z' }),
  );
  await settled(webhook.id);
  expect((await deliveriesOf(webhook.id)).some(({ status }) => status === 'failed')).toBe(true);
  await operator.patch(`/operator/connections/${us.connection.id}`, {
    name: 'Cold chain',
    healthStatus: 3,
  });
  expect(await textOf('problems-now')).toMatch(
    /Connection “Cold chain” is unavailable No data arrives\..*Webhook “receiver\.example\.com”.*returns 410/,
  );
  expect(await textOf('open-now')).toMatch(
    /2 accidents need attention All.*Level 3 Truck 1 Report ready\..*Level 2 Truck 1 Verified, report to follow\./,
  );
  expect(await textOf('nav', '/portal/events')).toMatch(
    /Accidents 2 to look at .* Connections 1 with a problem Webhooks 1 with a problem/,
  );
});

const watched = async (path: string) => watchedOn(await ann.get(path));
const versionAt = async (path: string) =>
  (await (await ann.get(path)).json<{ version: string }>()).version;

it.each(['/portal', '/portal/webhooks/:id'])(
  'an open page of %s learns that something has changed by reading two rows',
  async (page) => {
    const webhook = await register(us);
    const shown = () => watched(page.replace(':id', webhook.id));
    const [path, seen] = await shown();
    expect(await versionAt(path)).toBe(seen);
    await us.send(vehicle(), safetyEvent());
    await settled(webhook.id);
    const { env: bindings, cost } = metered();
    const { version } = await (await ann.get(path, { bindings })).json<{ version: string }>();
    expect(version).not.toBe(seen);
    expect(cost).toMatchObject({ trips: 1, written: 0, kvReads: 0 });
    expect(cost.read).toBeLessThanOrEqual(2);
    expect(await shown()).toEqual([path, version]);
  },
);

it('nobody learns of another account, or after signing out, but is sent to sign in', async () => {
  const [path] = await watched('/portal');
  const others = await signIn(await world());
  expect((await others.get(path)).status).toBe(303);
  expect((await ask('GET', path)).status).toBe(303);
  expect((await ann.get(path.replace(us.accountId, crypto.randomUUID()))).status).toBe(303);
  await ann.post('/portal/sign-out');
  expect((await ann.get(path)).status).toBe(303);
});
