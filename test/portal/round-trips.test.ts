import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { through } from '../../src/platform/db/through.ts';
import { ask } from '../support/portal.ts';
import { portalAccount } from '../support/portal-account.ts';

let ours: Awaited<ReturnType<typeof portalAccount>>;
beforeAll(async () => {
  ours = await portalAccount();
});

it.each([
  ['/portal', 2, 2],
  ['/portal/connections', 4, 2],
  ['/portal/connections/links', 2, 2],
  ['/portal/connections/links/:id/revoke', 2, 2],
  ['/portal/connections/new', 1, 1],
  ['/portal/connections/new?provider=samsara', 1, 1],
  ['/portal/connections/:id', 4, 2],
  ['/portal/connections/:id/credential', 3, 2],
  ['/portal/connections/:id/remove', 3, 2],
  ['/portal/events', 3, 3],
  ['/portal/events?vehicle=marked&driver=marked&vin=Marked&risk=2', 4, 3],
  ['/portal/events/:id', 5, 3],
  ['/portal/accidents', 2, 2],
  ['/portal/accidents/:eventId', 7, 4],
  ['/portal/vehicles', 2, 2],
  ['/portal/vehicles?q=t', 2, 2],
  ['/portal/vehicles/:id', 7, 3],
  ['/portal/drivers', 2, 2],
  ['/portal/drivers/:id', 7, 3],
  ['/portal/trips', 2, 2],
  ['/portal/trips/:id', 4, 3],
  ['/portal/search?q=nothing', 2, 2],
  ['/portal/webhooks', 2, 2],
  ['/portal/webhooks/new', 2, 2],
  ['/portal/webhooks/:id', 3, 2],
  ['/portal/webhooks/:id?state=retrying&by=day', 3, 2],
  ['/portal/webhooks/:id?q=nothing', 3, 2],
  ['/portal/webhooks/:id/edit', 3, 2],
  ['/portal/webhooks/:id/delete', 2, 2],
  ['/portal/webhooks/:id/replay', 3, 2],
  ['/portal/webhooks/:id/deliveries/:deliveryId', 2, 2],
  ['/portal/settings/tokens', 2, 2],
  ['/portal/settings/tokens/:id/revoke', 2, 2],
  ['/portal/settings/people', 2, 2],
  ['/portal/settings/people/:id/role', 2, 2],
  ['/portal/settings/people/:id/remove', 2, 2],
  ['/portal/settings/notifications', 3, 2],
  ['/portal/settings/notifications/channels/new', 2, 2],
  ['/portal/settings/notifications/channels/:id', 3, 3],
  ['/portal/settings/notifications/channels/:id/remove', 2, 2],
  ['/portal/settings/exports', 2, 2],
  ['/portal/settings/audit', 2, 2],
  ['/portal/settings/account', 1, 1],
])('GET %s asks D1 %d times, one after the other %d', async (path, trips, rounds) => {
  const count = { trips: 0, rounds: 0 };
  let inFlight = 0;
  const DB = through(env.DB, async (run) => {
    count.trips += 1;
    if (inFlight++ === 0) count.rounds += 1;
    return run().finally(() => inFlight--);
  });
  const reply = await ask('GET', ours.at(path), { cookie: ours.cookie, bindings: { ...env, DB } });
  expect(reply.status).toBe(200);
  expect(count).toEqual({ trips, rounds });
});
