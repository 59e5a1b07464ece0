import { env } from 'cloudflare:workers';
import { partHeader } from '#src/core/platform/cells.ts';
import { through } from '#src/core/platform/db/through.ts';
import { overloaded } from '#test/support/database.ts';
import { bodies, portalRoutes, routes } from '#test/support/routes.ts';
import { call, webhookBody, worldBefore } from '#test/support/world.ts';

const without = [
  ...portalRoutes,
  ...['GET /operator/metrics', 'POST /operator/check'], // they say how D1 is
  'POST /operator/accounts/:id/move', // it needs a router
];

/** Every route that reads or writes D1, but for the portal's and those that say how D1 is: these have tests of their own. */
const asking = routes.filter((route) => !without.includes(route));

const id = '01a1fc69-ae9e-77d4-be7b-4bc5ae1cace7';
const queries: { [pattern: string]: string } = {
  '/operator/deliveries': `?webhookId=${id}`,
  '/operator/deliveries/find': `?eventId=${id}`,
  '/operator/fleet/find': '?vehicle=van',
  '/operator/why': `?eventId=${id}`,
};

/** What a router asks for by `PUT /operator/accounts/:id/move`. */
const stage = { id, accountId: id, state: 'cancelling' };
const part = encodeURIComponent(JSON.stringify({ from: 'eu', now: stage, next: stage }));

const us = worldBefore(beforeAll);

it.each(asking)('while D1 is overloaded %s is 503 and says when to try again', async (route) => {
  const [method = '', pattern = ''] = route.split(' ');
  const path = pattern.replace(/:\w+/g, id) + (method === 'GET' ? (queries[pattern] ?? '') : '');
  const body = method === 'GET' || method === 'DELETE' ? undefined : (bodies[route]?.(us) ?? {});
  const credential = path.startsWith('/operator')
    ? { authorization: `Bearer ${env.OPERATOR_KEY}` }
    : { 'x-api-key': path === '/ingest' ? us.connection.ingestKey : us.apiToken };
  const headers = { ...credential, 'connection-id': us.connection.id, [partHeader]: part };
  vi.spyOn(scheduler, 'wait').mockResolvedValue(); // between tries
  const reply = await call(method, path, {
    headers,
    body,
    bindings: { ...env, DB: overloaded(env.DB) },
  });
  expect(reply).toMatchObject({ status: 503, retryAfter: expect.any(Number) });
  expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
});

it('while D1 hangs, a request is 503 after ten seconds', async () => {
  const waits = vi.spyOn(scheduler, 'wait').mockResolvedValue();
  const reset = new Error(
    'D1 DB storage operation exceeded timeout which caused object to be reset.',
  );
  const hanging = () => new Promise<never>((_, fail) => setTimeout(() => fail(reset), 500));
  const DB = through(env.DB, hanging);
  const headers = { 'x-api-key': us.apiToken };
  const reply = await call('POST', '/webhook', {
    headers,
    body: webhookBody(us),
    bindings: { ...env, DB },
  });
  expect(waits).toHaveBeenCalledWith(10_000, expect.anything());
  expect(reply).toMatchObject({
    status: 503,
    message: 'Temporarily unavailable, try again',
    retryAfter: 10,
  });
});
