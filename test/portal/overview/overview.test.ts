import { env } from 'cloudflare:workers';
import {
  accident,
  ask,
  changeConnection,
  metered,
  personBefore,
  receiver,
  register,
  rows,
  safetyEvent,
  settled,
  signIn,
  times,
  vehicle,
  watchedOn,
  world,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeEach);
const ann = personBefore(beforeEach, us);
const { page } = ann;
beforeEach(() => void receiver());

/** What a reader sees of a part of a page, by its id. */
const textOf = async (id: string, path = '/portal') => (await page(path)).textAt(`#${id}`)[0];

it('a new account sees what to do next, and each step ticks itself off', async () => {
  // The token, and the first person, who is emailed of accidents.
  expect(await textOf('setup-now')).toMatch(
    /2 of 4 done.*Who is notified of accidents\? \(done\) Notified: person-\d+@/,
  );
  expect(await textOf('safety-events-per-day-now')).toBeUndefined();
  await rows('update tokens set revoked_at = 1 where id = ?1', us.tokenId);
  const viewer = await signIn(us, 'viewer');
  for (const [reader, buttons] of [
    [page, 1],
    [viewer.page, 0],
  ] as const)
    for (const name of ['Add a webhook', 'Create a token'])
      expect((await reader('/portal')).links(name)).toHaveLength(buttons);
  await rows('update tokens set revoked_at = null where id = ?1', us.tokenId);
  await register(us);
  expect(await textOf('setup-now')).toContain('3 of 4 done');
  await us.send(vehicle());
  expect(await textOf('setup-now')).toBeUndefined();
  expect(await textOf('safety-events-per-day-now')).toContain('Safety events per day');
});

it('a fleet without programs skips steps, and hides the list once data has come', async () => {
  await rows('update tokens set revoked_at = 1 where id = ?1', us.tokenId);
  const links = async (name: string) => (await page('/portal')).links(name);
  expect(await links('Hide this list')).toEqual([]);
  await us.send(vehicle());
  const [href = ''] = await links('Hide this list');
  expect((await page(href)).text).not.toContain('of 4 done');
  const [skipWebhook = ''] = await links('Skip Send notifications to your systems');
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
  const crashes = (count: number) => times(count, (i) => accident({ sourceId: `crash-${i}` }));
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
  await us.send(
    vehicle(),
    accident({ sourceId: 'a1', notificationLevel: 2 }),
    accident({ sourceId: 'a2', dismissed: true }),
    accident({ sourceId: 'a3', notificationLevel: 3, eventTime: '2026-11-20T20:00:01Z' }),
  );
  await settled(webhook.id, 1, 'failed');
  const unwell = { name: 'Cold chain', healthStatus: 3 };
  await changeConnection(us.connection.id, unwell);
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

it.each(['/portal', '/portal/webhooks/:id'])(
  'an open page of %s learns that something has changed by reading two rows',
  async (page) => {
    const webhook = await register(us);
    const watched = async () => watchedOn(await ann.get(page.replace(':id', webhook.id)));
    const [path, seen] = await watched();
    const version = async (bindings: Env = env) =>
      (await (await ann.get(path, { bindings })).json<{ version: string }>()).version;
    expect(await version()).toBe(seen);
    await us.send(vehicle(), safetyEvent());
    await settled(webhook.id);
    const { env: bindings, cost } = metered();
    const changed = await version(bindings);
    expect(changed).not.toBe(seen);
    expect(cost).toMatchObject({ trips: 1, written: 0, kvReads: 0 });
    expect(cost.read).toBeLessThanOrEqual(2);
    expect(await watched()).toEqual([path, changed]);
  },
);

it('nobody learns of another account, or after signing out, but is sent to sign in', async () => {
  const [path] = await watchedOn(await ann.get('/portal'));
  const isAskedToSignIn = async (reply: Promise<Response>) =>
    expect((await reply).status).toBe(303);
  await isAskedToSignIn((await signIn(await world())).get(path));
  await isAskedToSignIn(ask('GET', path));
  await isAskedToSignIn(ann.get(path.replace(us.accountId, crypto.randomUUID())));
  await ann.post('/portal/sign-out');
  await isAskedToSignIn(ann.get(path));
});
