import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { app } from '../../src/app.ts';
import { attempted } from '../support/deliveries.ts';
import { receiver } from '../support/receiver.ts';
import {
  accident,
  as,
  call,
  operator,
  safetyEvent,
  vehicle,
  type WebhookOut,
  type World,
  webhookBody,
  world,
} from '../support/world.ts';

/** Every route of the service: whoever adds one decides here how it keeps accounts apart. */
const routes = app.routes
  .filter(({ method }) => method !== 'ALL')
  .map(({ method, path }) => `${method} ${path}`)
  .filter((route, index, all) => all.indexOf(route) === index);
const anonymous = ['GET /health'];
const operators = routes.filter((route) => route.includes(' /operator'));
const portal = routes.filter((route) => route.includes(' /portal')); // walked by a test of its own
const customers = routes.filter((route) => ![...anonymous, ...operators, ...portal].includes(route));

let us: World;
let them: World;
let theirs: WebhookOut;
beforeAll(async () => {
  receiver(() => new Response('no', { status: 500 }));
  [us, them] = [await world(), await world()];
  theirs = (await as(them.apiToken).post<WebhookOut>('/webhook', webhookBody(them))).data;
  const name = 'their secret truck';
  await as(them.connection.ingestKey).send(vehicle({ name }), safetyEvent(), accident());
  await attempted(theirs.id);
  return () => vi.restoreAllMocks();
});

/** A request to `route` with the ids of the other account wherever an id goes. */
const aimedAtThem = (route: string) => {
  const [method = '', pattern = ''] = route.split(' ');
  const path = pattern.replace(':id', theirs.id);
  const body = path === '/ingest' ? { records: [vehicle(), safetyEvent(), accident()] } : webhookBody(them);
  return { method, path, ...(method !== 'GET' && method !== 'DELETE' && { body }) };
};

/** All that the other account has, but for what time alone changes. */
const theirRows = async () => {
  const dump = async (table: string) =>
    (await env.DB.prepare(`select * from ${table} where account_id = ?1`).bind(them.accountId).all()).results;
  return JSON.stringify([
    await dump('webhooks'),
    await dump('vehicles'),
    await dump('safety_events'),
    await dump('notifications'),
    await dump('connections'),
    (await dump('deliveries')).map(({ webhook_id, id }) => [webhook_id, id]),
  ]);
};

describe('two accounts', () => {
  it('there are routes to walk', () => {
    expect(customers).toEqual(expect.arrayContaining(['GET /webhooks', 'PUT /webhook/:id', 'POST /ingest']));
  });

  it.each(customers)('%s neither shows nor changes anything of another account', async (route) => {
    const before = await theirRows();
    const { method, path, body } = aimedAtThem(route);
    for (const token of [us.apiToken, us.connection.ingestKey]) {
      const headers = { 'x-api-key': token, 'connection-id': them.connection.id };
      const reply = await call(method, path, { headers, body });
      const text = JSON.stringify(reply);
      for (const secret of [theirs.id, theirs.url, them.connection.id, 'their secret truck'])
        expect(text).not.toContain(secret);
      expect([200, 400, 403]).toContain(reply.status);
    }
    expect(await theirRows()).toBe(before);
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
    for (const headers of [{}, { 'x-api-key': us.apiToken }, { authorization: `Bearer ${us.apiToken}` }])
      expect((await call(method, path, { headers })).status).toBe(401);
  });

  it('the operators see both', async () => {
    const { data } = await operator.get<{ id: string }[]>('/operator/accounts');
    expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining([us.accountId, them.accountId]));
  });
});
