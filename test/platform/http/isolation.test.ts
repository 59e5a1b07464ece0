import { env, exports } from 'cloudflare:workers';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { app } from '../../../src/app.ts';
import { archive } from '../../../src/fleet/archive/job.ts';
import { archiveKinds } from '../../../src/fleet/lists/registry.ts';
import { attempted } from '../../support/deliveries.ts';
import { receiver } from '../../support/receiver.ts';
import { type AccountRows, rowsOf } from '../../support/rows.ts';
import {
  accident,
  as,
  call,
  driver,
  exampleRecords,
  operator,
  safetyEvent,
  trip,
  vehicle,
  type WebhookOut,
  type World,
  webhookBody,
  world,
} from '../../support/world.ts';

/** Every route of the service: whoever adds one decides here how it keeps accounts apart. */
const routes = app.routes
  .filter(({ method }) => method !== 'ALL')
  .map(({ method, path }) => `${method} ${path}`)
  .filter((route, index, all) => all.indexOf(route) === index);
const anonymous = ['GET /health'];
const operators = routes.filter((route) => route.includes(' /operator'));
const providers = routes.filter((route) => route.includes(' /providers')); // for signed calls: test/providers/connection.test.ts
const portal = routes.filter((route) => route.includes(' /portal')); // walked by a test of its own
const customers = routes.filter(
  (route) => ![...anonymous, ...operators, ...providers, ...portal].includes(route),
);

let us: World;
let them: World;
let theirs: { webhook: WebhookOut; rows: AccountRows };
beforeAll(async () => {
  receiver(() => new Response('no', { status: 500 }));
  [us, them] = [await world(), await world()];
  const webhook = (await as(them.apiToken).post<WebhookOut>('/webhook', webhookBody(them))).data;
  await as(them.connection.ingestKey).send(
    vehicle({ name: 'their secret truck' }),
    driver({ name: 'their secret driver' }),
    trip({ driver: 'driver-1' }),
    trip({ sourceId: 'old', startedAt: '2026-01-01T00:00:00Z' }),
    safetyEvent(),
    accident(),
    ...exampleRecords,
  );
  await signIn('someone@their-secret.example');
  await attempted(webhook.id);
  await comeToRest(webhook.id);
  await archive(env, archiveKinds);
  await leaveFanOut();
  await leaveDeletions();
  await leaveMove();
  theirs = { webhook, rows: await rowsOf(them.accountId) };
  return () => vi.restoreAllMocks();
});

/** Has somebody of the other account sign in, and leaves them a second link that is not used yet. */
async function signIn(email: string): Promise<void> {
  await operator.post(`/operator/accounts/${them.accountId}/users`, { email });
  const { data } = await operator.post<{ url: string }>('/operator/sign-in-links', { email });
  const form = { method: 'POST', headers: { origin: new URL(data.url).origin } };
  const signedIn = await exports.default.fetch(new Request(data.url, { ...form, redirect: 'manual' }));
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  const people = new URL('/portal/settings/people', data.url);
  await exports.default.fetch(
    new Request(people, {
      ...form,
      headers: { ...form.headers, cookie },
      body: new URLSearchParams({ email: 'invited@their-secret.example' }),
    }),
  );
  await operator.post('/operator/sign-in-links', { email });
}

/** Leaves a fan-out of theirs, as a large call does for a moment. */
const leaveFanOut = () =>
  env.DB.prepare(
    `insert into fan_outs (id, account_id, connection_id, type, notifications, expanded_to, created_at)
     values ('a fan-out of theirs', ?1, ?2, 2, '[]', '', 0)`,
  )
    .bind(them.accountId, them.connection.id)
    .run();

/** Leaves what is there of theirs while a connection is deleted, and once a driver has been erased. */
const leaveDeletions = () =>
  env.DB.batch([
    env.DB.prepare(
      `insert into deletions (id, kind, account_id, connection_id, requested_at, due_at)
       values ('a deletion of theirs', 'connection', ?1, 'gone', 0, 9000000000000000)`,
    ).bind(them.accountId),
    env.DB.prepare(`insert into erased_drivers values ('a driver of theirs', ?1, ?2, 0)`).bind(
      them.accountId,
      them.connection.id,
    ),
  ]);

/** Leaves what is there of theirs while the account is moved to another home. */
const leaveMove = () =>
  env.DB.batch([
    env.DB.prepare(
      `insert into moves (account_id, role, home, state, started_at) values (?1, 'leaving', 'their-secret-home', 'their-secret-state', 0)`,
    ).bind(them.accountId),
  ]);

/** From here on, time alone changes nothing: no delivery is due, and all that runs after a reply has run. */
async function comeToRest(webhookId: string): Promise<void> {
  await vi.waitFor(async () => {
    const { tokens, webhook_health, deliveries } = await rowsOf(them.accountId);
    expect(tokens?.every(({ last_used_at }) => last_used_at)).toBe(true);
    expect(deliveries?.every(({ attempts }) => attempts)).toBe(true);
    expect(webhook_health).toHaveLength(1);
  });
  const never = 9_000_000_000_000_000;
  await env.DB.prepare('update deliveries set next_attempt_at = ?1 where webhook_id = ?2')
    .bind(never, webhookId)
    .run();
  // Its deliveries never end, so that there is nothing to count.
  await env.DB.prepare(
    'insert into webhook_hours (webhook_id, slot, hour, delivered, failed) values (?1, 0, 0, 1, 1)',
  )
    .bind(webhookId)
    .run();
  await env.DB.prepare('insert into alerts (webhook_id, account_id) values (?1, ?2)')
    .bind(webhookId, them.accountId)
    .run();
  await env.DB.prepare(
    `insert into pulls (connection_id, account_id, secrets, credential_hash, base_url, organisation, history_days, connected_at)
     values (?1, ?2, '{}', 'a hash of theirs', 'https://api.example.com', 'their secret fleet', 0, 0)`,
  )
    .bind(them.connection.id, them.accountId)
    .run();
  await env.DB.prepare("insert into pull_refusals values (?1, 'trip', 't', 'their secret reason', 0)")
    .bind(them.connection.id)
    .run();
  // The minute's job, which counts events, does not run here.
  await env.DB.prepare("insert into event_counts values (?1, 24, 0, 1, 0, 0, 0, 0, '{}', '{}', '{}')")
    .bind(them.accountId)
    .run();
}

/** A request to `route` with the ids of the other account wherever an id goes. */
const aimedAtThem = (route: string) => {
  const [method = '', pattern = ''] = route.split(' ');
  const path = pattern.replace(':id', theirs.webhook.id);
  const records = [vehicle(), driver(), trip(), safetyEvent(), accident()];
  const body = path === '/ingest' ? { records } : webhookBody(them);
  return { method, path, ...(method !== 'GET' && method !== 'DELETE' && { body }) };
};

/** When everything of these accounts happened. Lists that need no period ignore it. */
const period = 'from=2026-11-01&to=2026-12-01';

/** Filters of the lists by what the other account has. A webhook of theirs is as one that nobody has. */
const filters = () => {
  const ids = (table: string) => theirs.rows[table]?.map(({ id }) => id).join(',');
  const eventId = theirs.rows.deliveries?.[0]?.event_id;
  return `vehicleIds=${ids('vehicles')}&driverIds=${ids('drivers')}&eventId=${eventId}`;
};
const theirWebhook = () => `webhookId=${theirs.webhook.id}`;

/** What must not come out: the ids of all that the other account has, and what it calls things. */
const secrets = () => [
  theirs.webhook.url,
  'their secret',
  'their-secret',
  ...Object.values(theirs.rows).flatMap((rows) =>
    rows.flatMap(({ id }) => (typeof id === 'string' ? id : [])),
  ),
];

describe('two accounts', () => {
  it('there are routes to walk', () => {
    expect(customers).toEqual(expect.arrayContaining(['GET /webhooks', 'PUT /webhook/:id', 'POST /ingest']));
  });

  it('the other has something in every table, so that nothing is left out', () => {
    const empty = Object.keys(theirs.rows).filter((table) => theirs.rows[table]?.length === 0);
    expect(empty).toEqual([]);
  });

  it.each(customers)('%s neither shows nor changes anything of another account', async (route) => {
    const { method, path, body } = aimedAtThem(route);
    const connections = [{ 'connection-id': them.connection.id }, { 'connection-id': us.connection.id }, {}];
    for (const token of [us.apiToken, us.connection.ingestKey])
      for (const connection of connections)
        for (const query of ['', `?${period}`, `?${period}&${filters()}`, `?${theirWebhook()}`]) {
          const headers = { 'x-api-key': token, ...connection };
          const reply = await call(method, path + query, { headers, body });
          const text = JSON.stringify(reply);
          for (const secret of secrets()) expect(text).not.toContain(secret);
          expect([200, 400, 403]).toContain(reply.status);
        }
    expect(await rowsOf(them.accountId)).toEqual(theirs.rows);
  });

  it.each(customers)('%s refuses whoever has no credential', async (route) => {
    const { method, path, body } = aimedAtThem(route);
    for (const headers of [{}, { 'x-api-key': 'x' }])
      expect(await call(method, path, { headers, body })).toMatchObject({
        status: 401,
        message: 'Invalid or expired token',
      });
  });

  it.each(operators)('%s refuses whoever is no operator', async (route) => {
    const [method = '', path = ''] = route.split(' ');
    // Each from an address of its own: wrong keys are counted by address.
    for (const headers of [{}, { 'x-api-key': us.apiToken }, { authorization: `Bearer ${us.apiToken}` }])
      expect(
        (await call(method, path, { headers: { ...headers, 'cf-connecting-ip': crypto.randomUUID() } }))
          .status,
      ).toBe(401);
  });

  it('the operators see both', async () => {
    const { data } = await operator.get<{ id: string }[]>('/operator/accounts');
    expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining([us.accountId, them.accountId]));
  });
});
