import { env } from 'cloudflare:workers';
import { beforeEach, expect, it } from 'vitest';
import { countEvents } from '../../../src/fleet/trends/job.ts';
import { hourMs } from '../../../src/platform/durations.ts';
import { readOverview, spanOf } from '../../../src/portal/overview/overview.tsx';
import { deliveriesOf, settled } from '../../support/deliveries.ts';
import { ask, follow, signIn, watchedOn } from '../../support/portal.ts';
import { receiver } from '../../support/receiver.ts';
import { accident, driver, safetyEvent, vehicle } from '../../support/records.ts';
import { rows } from '../../support/rows.ts';
import { metered } from '../../support/runtime/meter.ts';
import { as, operator, type WebhookOut, webhookBody, world, worldBefore } from '../../support/world.ts';

const us = worldBefore(beforeEach);
let cookie: string;
beforeEach(async () => {
  receiver();
  cookie = (await signIn(us)).cookie;
});

const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
const overview = async (path = '/portal') => (await ask('GET', path, { cookie })).text();
/** What a reader sees of a part of a page, by its id. */
async function textOf(id: string, path = '/portal'): Promise<string> {
  const parts: string[] = [];
  await new HTMLRewriter()
    .on(`#${id}`, { text: ({ text }) => void parts.push(text) })
    .on(`#${id} *`, { element: () => void parts.push(' ') })
    .transform(await ask('GET', path, { cookie }))
    .text();
  return parts.join('').replaceAll(/\s+/g, ' ').trim();
}

it('a new account sees what to do next, and each step ticks itself off', async () => {
  expect(await textOf('setup-now')).toContain('1 of 3 done'); // the token
  expect(await overview()).not.toContain('Safety events per day');
  await as(us.apiToken).post('/webhook', webhookBody(us));
  expect(await textOf('setup-now')).toContain('2 of 3 done');
  await as(us.connection.ingestKey).send(vehicle());
  const html = await overview();
  expect(html).not.toContain('of 3 done');
  expect(html).toContain('Safety events per day');
});

it('whoever does not want the list of steps hides it, once data has come in', async () => {
  await rows('update tokens set revoked_at = 1 where id = ?1', us.tokenId);
  expect(await overview()).not.toContain('Hide this list');
  await as(us.connection.ingestKey).send(vehicle());
  const href = /[^"]+(?=">Hide this list)/.exec(await overview())?.[0] ?? '';
  const reply = await ask('GET', href, { cookie });
  expect(await follow(reply, cookie)).not.toContain('of 3 done');
  expect(await overview()).toContain('of 3 done'); // for others
});

it('says how long deliveries took, once there are any', async () => {
  const { data: hook } = await as(us.apiToken).post<WebhookOut>('/webhook', webhookBody(us));
  await as(us.connection.ingestKey).send(vehicle());
  expect(await textOf('delivery-times-now')).toBe('');
  await as(us.connection.ingestKey).send(accident());
  await settled(hook.id);
  await expect
    .poll(() => textOf('delivery-times-now'))
    .toMatch(/Accidents, 24 hours 1 100% [\d.]+ m?s · [\d.]+ m?s · [\d.]+ m?s .*Events, 30 days 0 – – –$/);
});

it('events are counted when they come in, and late ones when the job has run; each number leads to its list', async () => {
  const send = as(us.connection.ingestKey).send;
  await send(vehicle(), driver());
  const event = { vehicle: 'truck-1', driver: 'driver-1', incidentTypes: ['Speeding'] };
  await send(
    safetyEvent({ ...event, sourceId: 'now', startedAt: ago(0), eventRisk: 5 }),
    safetyEvent({ ...event, sourceId: 'late', startedAt: ago(26 * hourMs), eventRisk: 4 }),
  );
  expect(await textOf('trend-now')).toContain('1 in the last 30 days');
  await countEvents(env);
  expect(await textOf('trend-now')).toMatch(/2 in the last 30 days.*Risk 5 1 \+1 Risk 4 1 \+1 Risk 3 0 0/);
  expect(await textOf('types-now')).toMatch(/Speeding 2 \+2/);
  expect(await textOf('vehicles-now')).toMatch(/Truck 1 1 1 2/);
  expect(await textOf('drivers-now')).toMatch(/Ann 1 1 2/);
  expect(await textOf('latest-now')).toMatch(/5 Speeding Truck 1 · Motive/);
  const html = await overview();
  const day = (before: number) => ago(before * 24 * hourMs).slice(0, 10);
  expect(html).toContain(`/portal/events?from=${day(29)}&amp;to=${day(0)}&amp;type=Speeding`);
  expect(html).toContain(`/portal/events?from=${day(0)}&amp;to=${day(0)}&amp;risk=4`);
  expect(html).toMatch(/\/portal\/events\?from=[\d-]+&amp;to=[\d-]+&amp;vehicle=[\da-f-]{36}&amp;risk=4/);
});

it('a period is compared with as much time before', async () => {
  const send = as(us.connection.ingestKey).send;
  await send(vehicle());
  await send(
    ...[1, 8, 9, 40].map((days) =>
      safetyEvent({ sourceId: `e${days}`, vehicle: 'truck-1', startedAt: ago(days * 24 * hourMs) }),
    ),
  );
  await countEvents(env);
  for (const [path, words] of [
    ['/portal?days=7', '1 in the last 7 days, 50% fewer than in the 7 days before'],
    ['/portal', '3 in the last 30 days, 200% more than in the 30 days before'],
    ['/portal?days=90', '4 in the last 90 days'],
  ])
    expect(await textOf('trend-now', path)).toContain(words);
});

it('what has a problem comes first, with why and where to go, and is counted in the menu', async () => {
  receiver(() => new Response('gone', { status: 410 }));
  const { data: webhook } = await as(us.apiToken).post<WebhookOut>('/webhook', webhookBody(us));
  const send = as(us.connection.ingestKey).send;
  await send(
    vehicle(),
    accident({ sourceId: 'a1', notificationLevel: 2 }),
    accident({ sourceId: 'a2', dismissed: true }),
  );
  await settled(webhook.id);
  expect((await deliveriesOf(webhook.id)).some(({ status }) => status === 'failed')).toBe(true);
  await operator.patch(`/operator/connections/${us.connection.id}`, { name: 'Cold chain', healthStatus: 3 });
  const problems = await textOf('problems-now');
  expect(problems).toContain('Connection “Cold chain” is unavailable No data arrives.');
  expect(problems).toContain('Webhook “receiver.example.com”');
  expect(problems).toContain('returns 410');
  expect(await textOf('open-now')).toMatch(
    /1 open accident All.*Level 2 Truck 1 Verified, report to follow\./,
  );
  expect(await textOf('nav', '/portal/events')).toContain('Accidents 1 open');
  expect(await textOf('nav', '/portal/events')).toMatch(
    /Connections 1 with a problem Webhooks 1 with a problem/,
  );
});

const watched = async (path: string) => watchedOn(await ask('GET', path, { cookie }));
const versionAt = async (path: string) =>
  (await (await ask('GET', path, { cookie })).json<{ version: string }>()).version;

it.each(['/portal', '/portal/webhooks/:id'])(
  'an open page of %s learns that something has changed by reading two rows',
  async (page) => {
    const { data: webhook } = await as(us.apiToken).post<WebhookOut>('/webhook', webhookBody(us));
    const shown = () => watched(page.replace(':id', webhook.id));
    const [path, seen] = await shown();
    expect(await versionAt(path)).toBe(seen);
    await as(us.connection.ingestKey).send(vehicle(), safetyEvent());
    await settled(webhook.id);
    const { env: bindings, cost } = metered();
    const { version } = await (await ask('GET', path, { cookie, bindings })).json<{ version: string }>();
    expect(version).not.toBe(seen);
    expect(cost).toMatchObject({ trips: 1, written: 0, kvReads: 0 });
    expect(cost.read).toBeLessThanOrEqual(2);
    expect(await shown()).toEqual([path, version]);
  },
);

it('nobody learns of another account, or after signing out, but is sent to sign in', async () => {
  const [path] = await watched('/portal');
  const others = await signIn(await world());
  expect((await ask('GET', path, { cookie: others.cookie })).status).toBe(303);
  expect((await ask('GET', path)).status).toBe(303);
  expect((await ask('GET', path.replace(us.accountId, crypto.randomUUID()), { cookie })).status).toBe(303);
  await ask('POST', '/portal/sign-out', { cookie });
  expect((await ask('GET', path, { cookie })).status).toBe(303);
});

it.each([
  ['UTC', '2026-06-21', 1],
  ['America/Chicago', '2026-06-20', 0],
  ['Asia/Tokyo', '2026-06-21', 1],
])('in %s an event at 01:30 UTC is of %s, in the chart and among the types', async (zone, day, latest) => {
  const own = await world();
  // 2026-06-21, the hour from 01:00, and what its day adds up to.
  const hour = Date.UTC(2026, 5, 21, 1) / hourMs;
  await rows(
    `insert into event_counts select ?1, value->>0, value->>1, 0, 0, 0, 0, 1, '{"Speeding": 1}', '{}', '{}'
     from json_each(?2)`,
    own.accountId,
    JSON.stringify([
      [1, hour],
      [24, hour - 1],
    ]),
  );
  const caller = { accountId: own.accountId, operator: true } as const;
  const about = (today: string, days: number) =>
    readOverview(env, caller, { span: spanOf(zone, today, days), since: 0 });
  const { days } = await about('2026-06-21', 7);
  expect(days).toEqual([{ day: latest ? 13 : 12, risks: [0, 0, 0, 0, 1] }]);
  expect((await about(day, 1)).types).toEqual([{ type: 'Speeding', events: 1, before: 0 }]);
});
