import { env } from 'cloudflare:workers';
import { keyOf } from '#src/extras/evidence/evidence.ts';
import { deliveriesOf, settled } from './deliveries.ts';
import { signIn } from './portal.ts';
import { connect, pullRun } from './provider.ts';
import { samsaraOrigin } from './providers/samsara.ts';
import { receiver } from './receiver.ts';
import { accident, driver, safetyEvent, trip, vehicle } from './records.ts';
import { portalRoutes } from './routes.ts';
import { addRows, rows } from './rows.ts';
import { operator, type WebhookOut, webhookBody, world } from './world.ts';

/** An account with something called `mark` behind every page, and an admin who is signed in. */
export async function portalAccount(mark = 'Marked') {
  const hooks = receiver(() => new Response(mark, { status: 410 }));
  const us = await world();
  const admin = await signIn(us);
  const startedAt = new Date().toISOString();
  await operator.patch(`/operator/connections/${us.connection.id}`, { name: mark, tSP: mark });
  const ofAccount = `/operator/accounts/${us.accountId}`;
  const token = await operator.post<{ id: string }>(`${ofAccount}/tokens`, { name: mark });
  const person = await operator.post<{ id: string }>(`${ofAccount}/users`, {
    email: `invited-${us.accountId}@example.com`,
  });
  const url = `https://receiver.example.com/${mark}`;
  const body = webhookBody(us, { url, headers: { 'X-Secret': mark } });
  const { data: webhook } = await us.api.post<WebhookOut>('/webhook', body);
  await rows('update webhooks set name = ?1, description = ?1 where id = ?2', mark, webhook.id);
  await us.send(
    vehicle({ name: mark, vin: mark, groups: [mark], licensePlate: mark }),
    driver({ name: mark }),
    trip({ startedAt, driver: 'driver-1', startLocation: { latitude: 1, longitude: 2 } }),
    safetyEvent({ startedAt, driver: 'driver-1', trip: 'trip-1', incidentTypes: [mark] }),
    accident({ vin: mark, eventTime: startedAt, reportUrl: `https://reports.example.com/${mark}` }),
  );
  await settled(webhook.id, 2);
  const [delivery] = await deliveriesOf(webhook.id);

  // A provider that calls the organisation so, and fails.
  hooks.serves(samsaraOrigin, (request) =>
    new URL(request.url).pathname === '/me'
      ? Response.json({ data: { name: mark } })
      : Response.json({ message: mark }, { status: 500 }),
  );
  const pulled = await connect(us, 'samsara', mark.padEnd(8, '_'));
  const refused = { connection_id: pulled, source_id: mark, reason: mark, at: Date.now() };
  await addRows('pull_refusals', 2, (accepted) => ({
    ...refused,
    kind: `${mark}${accepted}`,
    accepted,
  }));
  await pullRun(pulled);

  const [{ id: linkUserId = '' } = {}] = await rows<{ id: string }>(
    'select id from portal_users where email = ?1',
    admin.email,
  );
  await admin.post('/portal/settings/sign-in', {
    ...{ issuer: 'https://login.example.com', clientId: mark, secret: mark, role: '', linkUserId },
    domains: `d-${us.accountId}.example.com`,
  });

  const channel = `h-${us.accountId}`;
  await addRows('alert_channels', 1, () => ({
    ...{
      id: channel,
      account_id: us.accountId,
      kind: 'https',
      name: mark,
      address: '{}',
      host: mark,
    },
    ...{ last_four: mark.slice(-4), gets_alerts: 1, created_at: 1, problem: mark, problem_at: 1 },
  }));
  await addRows('connect_links', 1, () => ({
    account_id: us.accountId,
    hash: mark + us.accountId,
    name: mark,
    expires_at: 1e15,
  }));
  await addRows('exports', 1, () => ({
    ...{ account_id: us.accountId, requested_by: person.data.id, finished_at: 1, expires_at: 1e15 },
    wanted: '{"lists":["trips"],"formats":["csv"]}',
    files: '[{"name":"trips.csv","records":0,"bytes":0,"pieces":0}]',
  }));
  const only = async (table: string) =>
    String((await rows(`select id from ${table} where account_id = ?1`, us.accountId))[0]?.id);
  const file = {
    accountId: us.accountId,
    accidentId: await only('accidents'),
    id: `file-${us.accountId}`,
  };
  await rows(
    'insert or replace into evidence_days (account_id, days, since) values (?1, 30, 0)',
    us.accountId,
  );
  await addRows('evidence', 1, () => ({
    ...{
      id: file.id,
      account_id: us.accountId,
      connection_id: us.connection.id,
      accident_id: file.accidentId,
    },
    ...{
      kind: 'photo',
      camera: mark,
      state: 'stored',
      content_type: 'image/png',
      bytes: 3,
      created_at: Date.now(),
    },
  }));
  await env.ARCHIVE.put(keyOf(file), 'a,b');
  const ids: Record<string, string> = {
    tokens: token.data.id,
    people: person.data.id,
    webhooks: webhook.id,
    connections: pulled,
    channels: channel,
    links: await only('connect_links'),
    exports: await only('exports'),
    events: await only('safety_events'),
    accidents: await only('accidents'),
    vehicles: await only('vehicles'),
    drivers: await only('drivers'),
    trips: await only('trips'),
  };
  return {
    ...{ us, hooks, webhook, ...admin },
    /** The path of a route, with ids of this account. */
    at: (route: string) =>
      route
        .replace(/(\w+)\/:(?:id|eventId)/, (_, kind) => `${kind}/${ids[kind]}`)
        .replace(':file', 'trips.csv')
        .replace(':evidenceId', file.id)
        .replace(':deliveryId', delivery?.id ?? ''),
  };
}

/** What people who are signed in can reach. `/page-version` checks for itself. */
export const personalRoutes = portalRoutes.filter(
  (route) => !/ \/portal\/(sign-in|sso|page-version|summary|connect(?!ion))/.test(route),
);
/** The paths of the pages among these. */
export const personalPages = personalRoutes
  .filter((route) => route.startsWith('GET '))
  .map((route) => route.slice(4));
