import { env } from 'cloudflare:workers';
import { beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { QueueMessage } from '../../../src/index.ts';
import { sweep } from '../../../src/webhooks/deliveries/sweep.ts';
import { through } from '../../support/database.ts';
import { deliveriesOf } from '../../support/deliveries.ts';
import { receiver } from '../../support/receiver.ts';
import { accident, safetyEvent, vehicle } from '../../support/records.ts';
import { rows } from '../../support/rows.ts';
import { consume } from '../../support/service.ts';
import { as, operator, type World, webhookBody, world } from '../../support/world.ts';

/** The bindings, of which the n-th call of a kind fails as Cloudflare's do; before the work is done, or after. */
function faulty(kind: string, n: number, when: 'before' | 'after') {
  const calls = new Map<string, number>();
  const queued: QueueMessage[] = [];
  const risk = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const count = (calls.get(name) ?? 0) + 1;
    calls.set(name, count);
    const fails = name === kind && count === n;
    if (fails && when === 'before') throw new Error(`D1_ERROR: ${name}: storage caused object to be reset`);
    const result = await work();
    if (fails) throw new Error(`${name}: Network connection lost.`);
    return result;
  };
  const bindings = {
    ...env,
    DB: through(env.DB, (call, run) => risk(`D1 ${call}`, run)),
    TOKENS: {
      get: (...args: [string, never]) => risk('KV get', () => env.TOKENS.get(...args)),
      put: (...args: [string, string]) => risk('KV put', () => env.TOKENS.put(...args)),
      delete: (key: string) => risk('KV delete', () => env.TOKENS.delete(key)),
    },
    DELIVERIES: {
      send: (body: QueueMessage) => risk('queue send', async () => void queued.push(body)),
      sendBatch: (messages: { body: QueueMessage }[]) =>
        risk('queue send', async () => void queued.push(...messages.map(({ body }) => body))),
      metrics: () => risk('queue metrics', async () => ({ backlogCount: 0 })),
    },
  } as unknown as Env; // what the service uses of each
  return { bindings, queued, calls };
}

/** The main job as its parties would do it, each trying again when told that something failed. */
async function mainJob(
  us: World,
  webhook: string,
  { bindings, queued }: ReturnType<typeof faulty>,
  name: string,
) {
  const send = async (records: unknown[]) =>
    (await as(us.connection.ingestKey, {}, bindings).send(...records)).status;
  const consumeAll = async () => {
    for (const body of queued.splice(0)) await consume([body], bindings);
  };
  const records = [vehicle(), safetyEvent({ sourceId: name }), accident({ sourceId: name })];
  for (let tries = 0; (await send(records)) !== 200; tries++)
    if (tries === 3) throw new Error('never taken in');
  for (let round = 0; round < 3; round++) {
    await consumeAll();
    // A minute passes, and more: claims lapse, the sweep comes round.
    await rows(
      `update deliveries set claimed_until = 0, next_attempt_at = ?2 where webhook_id = ?1 and status = 'pending'`,
      webhook,
      Date.now() - 60_000,
    );
    await sweep(bindings).catch(() => {});
  }
  await consumeAll();
}

let us: World;
beforeAll(async () => {
  us = await world();
  receiver();
});
beforeEach(() => {
  for (const level of ['error', 'warn'] as const) vi.spyOn(console, level).mockImplementation(() => {});
});

it.each(['before', 'after'] as const)(
  'whichever call of ours fails, %s its work is done, all is delivered in the end and nothing is doubled',
  async (when) => {
    const callsWithFault = async (kind: string, n: number) => {
      await rows('delete from webhooks');
      await rows('delete from deliveries');
      const { data } = await as(us.apiToken).post<{ id: string }>('/webhook', webhookBody(us));
      const faults = faulty(kind, n, when);
      await mainJob(us, data.id, faults, `${when}-${kind}-${n}`);
      const made = await deliveriesOf(data.id);
      expect(
        made.map(({ status, attempts }) => ({ status, attempts })),
        `${kind} ${n}`,
      ).toEqual([
        { status: 'delivered', attempts: 1 },
        { status: 'delivered', attempts: 1 },
      ]);
      return faults.calls;
    };
    const kinds = [...(await callsWithFault('none', 0)).keys()];
    expect(kinds).toEqual(expect.arrayContaining(['D1 batch', 'D1 all', 'D1 run', 'queue send']));
    // By kind, for how many calls there are before the first of another varies with how fast the receiver answers.
    for (const kind of kinds) {
      for (let n = 1; ; n++) {
        const calls = await callsWithFault(kind, n);
        if ((calls.get(kind) ?? 0) < n) break;
      }
    }
  },
);

it.each([
  ['down', () => Promise.reject(new Error('KV is down'))],
  ['hung', () => new Promise(() => {})],
])('with KV %s altogether, credentials are still good, and revoked ones still not', async (_, fails) => {
  us = await world();
  const bindings = { ...env, TOKENS: { get: fails, put: fails } } as unknown as Env; // what the service uses of it
  const call = async () => (await as(us.apiToken, {}, bindings).get('/webhooks')).status;
  expect(await call()).toBe(200);
  await operator.delete(`/operator/tokens/${us.tokenId}`);
  expect(await call()).toBe(401);
});
