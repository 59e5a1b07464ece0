import { env } from 'cloudflare:workers';
import { through } from '#src/core/platform/db/through.ts';
import { type Added, added } from '#test/support/added.ts';
import { portalRoutes, requestOf, routes } from '#test/support/routes.ts';
import { as, call, overloaded, webhookBody, worldBefore } from '#test/support.ts';

const without = [
  ...portalRoutes,
  ...['GET /operator/metrics', 'POST /operator/check'], // they say how D1 is
  ...added.flatMap((one) => one.apart ?? []),
];

/** Every route that reads or writes D1, but for the portal's and those that say how D1 is: these have tests of their own. */
const asking = routes.filter((route) => !without.includes(route));

const id = '01a1fc69-ae9e-77d4-be7b-4bc5ae1cace7';
const requests: NonNullable<Added['requests']> = Object.assign(
  {},
  ...added.map((one) => one.requests),
);

const us = worldBefore(beforeAll);

it.each(asking)('while D1 is overloaded %s is 503 and says when to try again', async (route) => {
  const { method, path, headers, body } = requestOf(route, us);
  const { query = '', headers: more } = requests[route] ?? {};
  vi.spyOn(scheduler, 'wait').mockResolvedValue(); // between tries
  const reply = await call(method, path.replace(/:\w+/g, id) + query, {
    headers: { ...headers, ...more },
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
  const api = as(us.apiToken, {}, { ...env, DB: through(env.DB, hanging) });
  const reply = await api.post('/webhook', webhookBody(us));
  expect(waits).toHaveBeenCalledWith(10_000, expect.anything());
  const message = 'Temporarily unavailable, try again';
  expect(reply).toMatchObject({ status: 503, message, retryAfter: 10 });
});
