import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { metered as meteredDatabase, type Rows } from '../../src/dev/bench/worker-meter.ts';
import { receiver } from '../support/receiver.ts';
import { safetyEvent, vehicle } from '../support/records.ts';
import { consume, minute } from '../support/service.ts';
import { as, type World, webhookBody, world } from '../support/world.ts';

type Cost = Rows & { queued: number };
type Bindings = { [binding: string]: unknown };

const suffixes = { main: '', eu: '_EU', us2: '_US2' };

/**
 * The bindings with a meter before each home's, what each has cost, and the messages that have been sent. All deliveries
 * begin in the queue.
 */
function metered(names: (keyof typeof suffixes)[]) {
  const bindings: Bindings = { ...env, QUEUE_ONLY: true };
  for (const suffix of Object.values(suffixes)) {
    delete bindings[`DB${suffix}`];
    delete bindings[`DELIVERIES${suffix}`];
  }
  const messages: unknown[] = [];
  const costs = names.map((name) => {
    const cost: Cost = { trips: 0, read: 0, written: 0, ms: 0, queued: 0 };
    const { [`DB${suffixes[name]}`]: db } = env as unknown as Bindings;
    bindings[`DB${suffixes[name]}`] = meteredDatabase(db as D1Database, cost);
    bindings[`DELIVERIES${suffixes[name]}`] = {
      sendBatch: async (batch: { body: unknown }[]) => {
        cost.queued += batch.length;
        messages.push(...batch.map(({ body }) => body));
      },
    };
    return [name, cost] as const;
  });
  return { env: bindings as unknown as Env, costs: new Map(costs), messages };
}

/** An ingest call of 20 events for one webhook, and a page of them, for an account of a home. */
async function ingestAndList(us: World, meter: ReturnType<typeof metered>): Promise<void> {
  const records = Array.from({ length: 20 }, (_, i) => safetyEvent({ sourceId: `e${i}` }));
  const { status } = await as(us.connection.ingestKey, {}, meter.env).send(...records);
  const list = as(us.apiToken, { 'connection-id': us.connection.id }, meter.env);
  const page = await list.get('/safety-events?from=2026-11-01&to=2026-12-01');
  expect([status, page.status]).toEqual([200, 200]);
}

/** Handles the messages that have been sent, and those that follow from them. */
async function deliver(meter: ReturnType<typeof metered>): Promise<void> {
  while (meter.messages.length > 0) await consume(meter.messages.splice(0, 1), meter.env, 'deliveries');
}

async function prepared(home: keyof typeof suffixes): Promise<World> {
  const us = await world({ home });
  await as(us.apiToken).post('/webhook', webhookBody(us));
  await as(us.connection.ingestKey).send(vehicle());
  await as(us.apiToken, { 'connection-id': us.connection.id }).get('/vehicles'); // the hour's note of its use
  return us;
}

it('goes to each home four times in a minute without work', async () => {
  const meter = metered(['main', 'eu', 'us2']);
  await minute(meter.env, new Date('2026-11-22T12:01:00Z'));
  expect([...meter.costs.values()].map(({ trips }) => trips)).toEqual([4, 4, 4]);
});

it('costs in each of three homes what it costs where there is one, and nothing in the others', async () => {
  const { got } = receiver();
  const nothing = { trips: 0, read: 0, written: 0, queued: 0 };
  const spentIn = (meter: ReturnType<typeof metered>) =>
    Object.fromEntries([...meter.costs].map(([home, { ms: _, ...spent }]) => [home, spent]));
  const alone = metered(['main']);
  await ingestAndList(await prepared('main'), alone);
  const cost = spentIn(alone).main;
  for (const name of ['main', 'eu', 'us2'] as const) {
    const meter = metered(['main', 'eu', 'us2']);
    await ingestAndList(await prepared(name), meter);
    const all = { main: nothing, eu: nothing, us2: nothing };
    expect(spentIn(meter)).toEqual({ ...all, [name]: cost });

    got.length = 0;
    await deliver(meter); // how many rows that takes depends on how fast the receiver responds
    expect(got).toHaveLength(20);
    expect({ ...spentIn(meter), [name]: nothing }).toEqual(all);
  }
});
