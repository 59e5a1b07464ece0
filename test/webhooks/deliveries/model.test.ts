import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import type { QueueMessage } from '../../../src/index.ts';
import { schedule } from '../../../src/webhooks/deliveries/policy.ts';
import { giveUp } from '../../../src/webhooks/deliveries/sweep.ts';
import { through } from '../../support/database.ts';
import { claim, deliveriesOf } from '../../support/deliveries.ts';
import { receiver } from '../../support/receiver.ts';
import { safetyEvent, vehicle } from '../../support/records.ts';
import { value } from '../../support/rows.ts';
import { runs } from '../../support/runs.ts';
import { consume, minute } from '../../support/service.ts';
import { call, type World, webhookBody, world } from '../../support/world.ts';

/** A queue whose messages the test hands out itself: late, twice, or never. */
const queued: QueueMessage[] = [];
const DELIVERIES = {
  send: async (body: QueueMessage) => void queued.push(body),
  async sendBatch(messages: { body: QueueMessage }[]) {
    queued.push(...messages.map(({ body }) => body));
  },
  metrics: async () => ({ backlogCount: 0 }),
};
const ours = { ...env, DELIVERIES } as unknown as Env; // the queue is all that differs

type Hook = { id: string; url: string; deleted: boolean; up: boolean };
type Call = { id: string; url: string; ok: boolean };

let us: World;
let heard: ReturnType<typeof receiver>;
beforeAll(async () => {
  us = await world();
  heard = receiver();
});
const api = async <T>(method: string, path: string, token: string, body?: unknown): Promise<T> => {
  const reply = await call<T>(method, path, { headers: { 'x-api-key': token }, body, bindings: ours });
  if (reply.status !== 200) throw new Error(`${method} ${path}: ${reply.message}`);
  return reply.data;
};

const sweep = () => minute(ours, new Date(60_000));
const passTime = () =>
  env.DB.batch([
    env.DB.prepare(`update deliveries set next_attempt_at = 0, claimed_until = 0 where status = 'pending'`),
    env.DB.prepare('update webhook_health set open_until = 0'),
  ]);

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('ingest' as const), count: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('create' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('update' as const), hook: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), hook: fc.nat(5) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('turn' as const), hook: fc.nat(5), up: fc.boolean() }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('consume' as const), twice: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash before' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash after' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('sweep' as const) }) },
);

let run = 0;

it('whatever happens in whatever order, each notification comes to an end for each webhook', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      run++;
      queued.length = 0;
      await env.DB.batch(
        ['deliveries', 'webhook_health', 'webhook_connections', 'webhooks'].map((table) =>
          env.DB.prepare(`delete from ${table}`),
        ),
      );
      const hooks: Hook[] = [];
      const calls: Call[] = [];
      const expected = new Map<string, number>(); // webhook → notifications that matched it
      const underWay = new Set<string>();
      const broken: string[] = [];
      let crashed = 0;
      let events = 0;
      heard.responds(async ({ url, headers }) => {
        const id = headers['delivery-id'] ?? '';
        const hook = hooks.find((one) => one.url === url);
        if (!hook || hook.deleted) broken.push(`called after deletion: ${id}`);
        if (underWay.has(id)) broken.push(`two calls at a time: ${id}`);
        if (calls.some((call) => call.id === id && call.ok) && crashed === 0)
          broken.push(`called although delivered: ${id}`);
        underWay.add(id);
        await scheduler.wait(0);
        underWay.delete(id);
        const ok = hook?.up ?? false;
        calls.push({ id, url, ok });
        return new Response(ok ? 'ok' : 'no', { status: ok ? 200 : 500 });
      });

      const create = async () => {
        const body = webhookBody(us);
        const { id } = await api<{ id: string }>('POST', '/webhook', us.apiToken, body);
        hooks.push({ id, url: body.url, deleted: false, up: true });
        expected.set(id, 0);
      };
      await create();
      for (const step of steps) {
        const hook = 'hook' in step ? hooks[step.hook % hooks.length] : undefined;
        switch (step.do) {
          case 'ingest': {
            const records = Array.from({ length: step.count }, () =>
              safetyEvent({ sourceId: `model-${run}-${events++}` }),
            );
            await api('POST', '/ingest', us.connection.ingestKey, {
              records: [vehicle(), ...records, ...records],
            });
            for (const { id, deleted } of hooks)
              if (!deleted) expected.set(id, (expected.get(id) ?? 0) + step.count);
            break;
          }
          case 'create':
            if (hooks.length < 6) await create();
            break;
          case 'update':
            if (hook && !hook.deleted) {
              const body = webhookBody(us);
              await api('PUT', `/webhook/${hook.id}`, us.apiToken, body);
              hook.url = body.url;
            }
            break;
          case 'delete':
            if (hook && !hook.deleted) {
              await api('DELETE', `/webhook/${hook.id}`, us.apiToken);
              hook.deleted = true;
            }
            break;
          case 'turn':
            if (hook) hook.up = step.up;
            break;
          case 'consume': {
            const batch = queued.splice(0, 10);
            await Promise.all([consume(batch, ours), step.twice ? consume(batch, ours) : undefined]);
            break;
          }
          case 'crash before': // claimed, and then the worker is gone
            for (const message of queued.splice(0, 5))
              if ('webhookId' in message) await claim(message.webhookId, 5);
            break;
          case 'crash after': {
            // The calls are made, and nothing is recorded.
            const batch = queued.splice(0, 5);
            crashed++;
            const DB = through(env.DB, (_, run, statements) =>
              statements.length < 3 ? Promise.reject(new Error('gone')) : run(),
            );
            await consume(batch, { ...ours, DB }).catch(() => {});
            break;
          }
          case 'lose':
            queued.length = 0;
            break;
          case 'sweep':
            await passTime();
            await sweep();
            break;
        }
      }

      // Then time passes, until nothing waits any more.
      for (let round = 0; round < 40; round++) {
        await passTime();
        if (round > 15) await giveUp(env);
        await sweep();
        while (queued.length > 0) await consume(queued.splice(0, 100), ours);
        const left = await value(`select count(*) as n from deliveries where status = 'pending'`);
        if (left === 0) break;
      }
      expect(broken).toEqual([]);
      for (const hook of hooks) {
        const rows = await deliveriesOf(hook.id);
        expect(rows).toHaveLength(expected.get(hook.id) ?? 0);
        for (const row of rows) {
          expect(['delivered', 'failed', 'cancelled']).toContain(row.status);
          expect(row.attempts).toBeLessThanOrEqual(schedule.length + 1);
          const made = calls.filter(({ id }) => id === row.id);
          if (row.status === 'delivered') expect(made.some(({ ok }) => ok)).toBe(true);
          if (row.status === 'cancelled') expect(hook.deleted).toBe(true);
          expect(made.length).toBeLessThanOrEqual(schedule.length + 1 + crashed);
        }
      }
    }),
    { numRuns: runs(50) },
  );
}, 600_000);
