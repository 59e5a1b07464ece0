import { env } from 'cloudflare:workers';
import { beforeAll, expect, it, vi } from 'vitest';
import { deliveriesOf, settled } from '../support/deliveries.ts';
import { ask, signIn } from '../support/portal.ts';
import { receiver } from '../support/receiver.ts';
import { as, safetyEvent, vehicle, type WebhookOut, webhookBody, world } from '../support/world.ts';

let cookie: string;
const ids = { webhook: '', delivery: '', token: '' };
beforeAll(async () => {
  receiver();
  const us = await world();
  cookie = (await signIn(us)).cookie;
  ids.token = us.tokenId;
  ids.webhook = (await as(us.apiToken).post<WebhookOut>('/webhook', webhookBody(us))).data.id;
  await as(us.connection.ingestKey).send(vehicle(), safetyEvent());
  await settled(ids.webhook);
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
  ['/portal', 3, 2],
  ['/portal/events', 3, 3],
  ['/portal/accidents', 2, 2],
  ['/portal/webhooks', 3, 2],
  ['/portal/webhooks/new', 2, 2],
  ['/portal/webhooks/:webhook', 3, 2],
  ['/portal/webhooks/:webhook/edit', 3, 2],
  ['/portal/webhooks/:webhook/delete', 2, 2],
  ['/portal/webhooks/:webhook/replay', 3, 2],
  ['/portal/webhooks/:webhook/deliveries/:delivery', 2, 2],
  ['/portal/settings/tokens', 2, 2],
  ['/portal/settings/tokens/:token/revoke', 2, 2],
  ['/portal/settings/people', 2, 2],
  ['/portal/settings/notifications', 1, 1],
])('GET %s asks D1 %d times, one after the other %d', async (pattern, trips, rounds) => {
  const { bindings, count } = counted();
  const path = pattern.replace(/:(\w+)/g, (_, name) => ids[name as keyof typeof ids]); // as the table has them
  expect((await ask('GET', path, { cookie, bindings })).status).toBe(200);
  expect(count).toEqual({ trips, rounds });
});
