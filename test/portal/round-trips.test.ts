import { env } from 'cloudflare:workers';
import { beforeAll, expect, it, vi } from 'vitest';
import { deliveriesOf, settled } from '../support/deliveries.ts';
import { ask, signIn } from '../support/portal.ts';
import { connect } from '../support/provider.ts';
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

let cookie: string;
const ids = {
  webhook: '',
  delivery: '',
  token: '',
  event: '',
  accident: '',
  vehicle: '',
  driver: '',
  trip: '',
  connection: '',
  pulled: '',
  person: '',
};
beforeAll(async () => {
  const hooks = receiver();
  const us = await world();
  cookie = (await signIn(us)).cookie;
  ids.token = us.tokenId;
  ids.connection = us.connection.id;
  hooks.serves('https://api.samsara.com', () => Response.json({ data: { name: 'Acme' } }));
  ids.pulled = await connect(us, 'samsara', 'samsara_api_made_up');
  const colleague = { email: 'bob@example.com' };
  ids.person = (
    await operator.post<{ id: string }>(`/operator/accounts/${us.accountId}/users`, colleague)
  ).data.id;
  ids.webhook = (await as(us.apiToken).post<WebhookOut>('/webhook', webhookBody(us))).data.id;
  await as(us.connection.ingestKey).send(vehicle(), driver(), trip({ driver: 'driver-1' }));
  await as(us.connection.ingestKey).send(safetyEvent({ driver: 'driver-1', trip: 'trip-1' }), accident());
  await settled(ids.webhook);
  ids.event = String((await rows('select id from safety_events where account_id = ?', us.accountId))[0]?.id);
  ids.accident = String((await rows('select id from accidents where account_id = ?', us.accountId))[0]?.id);
  for (const kind of ['vehicle', 'driver', 'trip'] as const)
    ids[kind] = String((await rows(`select id from ${kind}s where account_id = ?`, us.accountId))[0]?.id);
  ids.delivery = (await deliveriesOf(ids.webhook))[0]?.id ?? '';
  return () => vi.restoreAllMocks();
});

/** The tests' bindings, with a count of how often D1 is asked, and how often while nothing else is being asked. */
function counted() {
  const count = { trips: 0, rounds: 0 };
  let inFlight = 0;
  const trip = async <T>(work: () => Promise<T>): Promise<T> => {
    count.trips += 1;
    if (inFlight++ === 0) count.rounds += 1;
    return work().finally(() => inFlight--);
  };
  const originals = new WeakMap<object, D1PreparedStatement>();
  const watched = (original: D1PreparedStatement): D1PreparedStatement => {
    const statement = {
      bind: (...values: unknown[]) => watched(original.bind(...values)),
      all: () => trip(() => original.all()),
      run: () => trip(() => original.run()),
      raw: () => trip(() => original.raw()),
    } as unknown as D1PreparedStatement; // all that the service uses
    originals.set(statement, original);
    return statement;
  };
  const DB = {
    prepare: (text: string) => watched(env.DB.prepare(text)),
    batch: (statements: D1PreparedStatement[]) =>
      trip(() => env.DB.batch(statements.map((statement) => originals.get(statement) ?? statement))),
  } as unknown as D1Database; // as above
  return { bindings: { ...env, DB }, count };
}

it.each([
  ['/portal', 2, 2],
  ['/portal/connections', 4, 2],
  ['/portal/connections/new', 1, 1],
  ['/portal/connections/new?provider=samsara', 1, 1],
  ['/portal/connections/:connection', 4, 2],
  ['/portal/connections/:pulled', 4, 2],
  ['/portal/connections/:pulled/credential', 3, 2],
  ['/portal/connections/:pulled/remove', 3, 2],
  ['/portal/events', 3, 3],
  ['/portal/events?vehicle=truck&driver=ann&vin=1FUJGLDR5CLBP8834&risk=2', 4, 3],
  ['/portal/events/:event', 5, 3],
  ['/portal/accidents', 2, 2],
  ['/portal/accidents/:accident', 6, 3],
  ['/portal/vehicles', 2, 2],
  ['/portal/vehicles?q=t', 2, 2],
  ['/portal/vehicles/:vehicle', 6, 3],
  ['/portal/drivers', 2, 2],
  ['/portal/drivers/:driver', 6, 3],
  ['/portal/trips', 3, 3],
  ['/portal/trips/:trip', 4, 3],
  ['/portal/search?q=nothing', 2, 2],
  ['/portal/webhooks', 2, 2],
  ['/portal/webhooks/new', 2, 2],
  ['/portal/webhooks/:webhook', 3, 2],
  ['/portal/webhooks/:webhook?state=retrying&by=day', 3, 2],
  ['/portal/webhooks/:webhook?q=:delivery', 3, 2],
  ['/portal/webhooks/:webhook/edit', 3, 2],
  ['/portal/webhooks/:webhook/delete', 2, 2],
  ['/portal/webhooks/:webhook/replay', 3, 2],
  ['/portal/webhooks/:webhook/deliveries/:delivery', 2, 2],
  ['/portal/settings/tokens', 2, 2],
  ['/portal/settings/tokens/:token/revoke', 2, 2],
  ['/portal/settings/people', 2, 2],
  ['/portal/settings/people/:person/role', 2, 2],
  ['/portal/settings/people/:person/remove', 2, 2],
  ['/portal/settings/notifications', 1, 1],
  ['/portal/settings/audit', 2, 2],
  ['/portal/settings/account', 1, 1],
])('GET %s asks D1 %d times, one after the other %d', async (pattern, trips, rounds) => {
  const { bindings, count } = counted();
  const path = pattern.replace(/:(\w+)/g, (_, name) => ids[name as keyof typeof ids]); // as the table has them
  expect((await ask('GET', path, { cookie, bindings })).status).toBe(200);
  expect(count).toEqual({ trips, rounds });
});
