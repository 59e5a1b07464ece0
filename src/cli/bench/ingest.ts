import { randomUUID } from 'node:crypto';
import { forget, newAccount, newEvents } from './account.ts';
import type { Benchmark } from './harness.ts';
import { compare, comparedWithBare } from './table.ts';

const perCall = 500;

export const ingest: Benchmark = {
  about: 'records a second, in calls of 500 safety events for four webhooks',
  run: async ({ small, stack: start }) => {
    const { rounds, calls } = small ? { rounds: 0, calls: 1 } : { rounds: 5, calls: 6 };
    const stack = await start();
    const us = await newAccount(stack);
    await us.ingest(newEvents(1));
    const row = Object.entries(await stack.call('/bench/sample'));
    const sample = Object.fromEntries(row.filter(([, value]) => value !== null));
    const { url } = await stack.receiver();
    const webhooks = await us.webhooks([1, 2, 3, 4].map((n) => `${url}/${n}`));
    /** The rows that the service would write: events, and deliveries of each to each webhook. */
    const bareRows = () => {
      const ids = Array.from({ length: perCall }, () => randomUUID());
      const delivery = { account_id: us.id, level: 0, status: 'pending', next_attempt_at: 9e15 };
      return {
        safety_events: ids.map((id) => ({ ...sample, id, source_id: randomUUID() })),
        deliveries: webhooks.flatMap((webhook_id) =>
          ids.map((event_id) => ({ ...delivery, webhook_id, event_id, id: randomUUID() })),
        ),
      };
    };
    const recordsPerSecond = async (path: string, body: () => object) => {
      const bodies = Array.from({ length: calls }, () => JSON.stringify(body())); // built before the clock starts
      const began = performance.now();
      for (const body of bodies) await us.post(path, body, us.ingestKey);
      return (calls * perCall) / ((performance.now() - began) / 1000);
    };
    await stack.call('/bench/hold?on');
    const what = `ingest of ${perCall} events for 4 webhooks`;
    const compared = await compare({ what, unit: 'records/s', atLeast: 0.6 }, rounds, {
      bare: () => recordsPerSecond('/bare/ingest', bareRows),
      service: () => recordsPerSecond('/ingest', () => ({ records: newEvents(perCall) })),
    });
    await forget(stack, webhooks);
    return [comparedWithBare([compared])];
  },
};
