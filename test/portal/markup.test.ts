import { beforeAll, expect, it, vi } from 'vitest';
import { deliveriesOf, settled } from '../support/deliveries.ts';
import { ask, signIn } from '../support/portal.ts';
import { connect, turn } from '../support/provider.ts';
import { receiver } from '../support/receiver.ts';
import { rows } from '../support/rows.ts';
import {
  accident,
  as,
  driver,
  operator,
  safetyEvent,
  trip,
  vehicle,
  type WebhookOut,
  webhookBody,
  world,
} from '../support/world.ts';

const now = new Date().toISOString();
const markup = `"><script>alert('1')</script>`;
let cookie: string;
const paths: string[] = [];
beforeAll(async () => {
  const hooks = receiver(() => new Response(markup, { status: 410 }));
  const us = await world();
  cookie = (await signIn(us)).cookie;
  await operator.patch(`/operator/connections/${us.connection.id}`, { name: markup, tSP: markup });
  const path = `/operator/accounts/${us.accountId}/tokens`;
  const token = await operator.post<{ id: string }>(path, { name: markup });
  const { data: webhook } = await as(us.apiToken).post<WebhookOut>(
    '/webhook',
    webhookBody(us, { url: `https://receiver.example.com/${markup}`, headers: { 'X-Secret': markup } }),
  );
  await as(us.connection.ingestKey).send(
    vehicle({ name: markup, vin: markup, groups: [markup], licensePlate: markup }),
    driver({ name: markup }),
    safetyEvent({ startedAt: now, driver: 'driver-1', incidentTypes: [markup] }),
    trip({ startedAt: now, driver: 'driver-1', startLocation: { latitude: 1, longitude: 2 } }),
    accident({ vin: markup, eventTime: now, reportUrl: `https://reports.example.com/${markup}` }),
  );
  await settled(webhook.id);
  const [delivery] = await deliveriesOf(webhook.id);
  await rows('update webhooks set name = ?1, description = ?1 where id = ?2', markup, webhook.id);
  // What a provider calls its organisation is one line of at most 200 characters, and may be anything else.
  hooks.serves('https://api.samsara.com', (request) =>
    new URL(request.url).pathname === '/me'
      ? Response.json({ data: { name: markup } })
      : Response.json({ message: markup }, { status: 500 }),
  );
  const pulled = await connect(us, 'samsara', markup.replaceAll(' ', ''));
  await rows(
    `insert into pull_refusals (connection_id, kind, source_id, reason, at) values (?1, ?2, ?2, ?2, ?3)`,
    pulled,
    markup,
    Date.now(),
  );
  await turn(pulled);
  for (const page of ['', '/credential', '/remove']) paths.push(`/portal/connections/${pulled}${page}`);
  paths.push(
    '/portal',
    '/portal/connections',
    `/portal/connections/${us.connection.id}`,
    '/portal/events',
    '/portal/accidents',
    '/portal/webhooks',
  );
  for (const [kind, table] of [
    ['events', 'safety_events'],
    ['accidents', 'accidents'],
    ['vehicles', 'vehicles'],
    ['drivers', 'drivers'],
    ['trips', 'trips'],
  ])
    for (const { id } of await rows(`select id from ${table} where account_id = ?`, us.accountId))
      paths.push(`/portal/${kind}/${id}`);
  for (const filter of ['vehicle', 'driver', 'vin', 'from', 'connection'])
    paths.push(`/portal/events?${filter}=${encodeURIComponent(markup)}`);
  for (const list of ['vehicles', 'drivers', 'search'])
    paths.push(`/portal/${list}?q=${encodeURIComponent(`${markup}?`)}`);
  paths.push(
    '/portal/vehicles',
    '/portal/drivers',
    '/portal/trips',
    '/portal/settings/tokens',
    '/portal/settings/audit',
  );
  paths.push(`/portal/settings/tokens/${token.data.id}/revoke`);
  paths.push('/portal/webhooks/new', `/portal/webhooks/${webhook.id}?q=${encodeURIComponent(markup)}`);
  for (const page of ['', '/edit', '/edit?reveal=yes', '/delete', '/replay', `/deliveries/${delivery?.id}`])
    paths.push(`/portal/webhooks/${webhook.id}${page}`);
  return () => vi.restoreAllMocks();
});

it('markup in names, addresses, headers and what receivers reply is text on every page', async () => {
  for (const path of paths) {
    const html = await (await ask('GET', path, { cookie })).text();
    expect(html, path).toContain('&lt;script&gt;');
    expect(html, path).not.toContain('<script>');
  }
});

it('markup that is sent comes back as text', async () => {
  for (const [path, fields] of [
    ['/portal/webhooks/new', { url: markup, headerName: markup, headerValue: markup }],
    ['/portal/settings/tokens', { name: markup, expires: markup }],
    ['/portal/settings/people', { email: markup }],
    ['/portal/connections/new?provider=samsara', { credential: '', region: markup, address: markup }],
  ] as const) {
    const reply = await ask('POST', path, { cookie, fields });
    expect(reply.status, path).toBe(400);
    const html = await reply.text();
    expect(html, path).toContain('&lt;script&gt;');
    expect(html, path).not.toContain('<script>');
  }
});
