import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { through } from '../../src/platform/db/through.ts';
import { ask } from '../support/portal.ts';
import { personalPages, portalAccount } from '../support/portal-account.ts';

let ours: Awaited<ReturnType<typeof portalAccount>>;
beforeAll(async () => {
  ours = await portalAccount();
});

const more = [
  '/portal/connections/new?provider=samsara',
  '/portal/events?vehicle=marked&driver=marked&vin=Marked&risk=2',
  '/portal/webhooks/:id?state=retrying&by=day',
  '/portal/webhooks/:id?q=nothing',
];

it.each([...personalPages, ...more])(
  'GET %s asks D1 three times at most, one after the other',
  async (path) => {
    let [rounds, inFlight] = [0, 0];
    const DB = through(env.DB, async (run) => {
      if (inFlight++ === 0) rounds += 1;
      return run().finally(() => inFlight--);
    });
    const reply = await ask('GET', ours.at(path), { cookie: ours.cookie, bindings: { ...env, DB } });
    expect([200, 303]).toContain(reply.status);
    expect(rounds).toBeLessThanOrEqual(path === '/portal/accidents/:eventId' ? 4 : 3);
  },
);
