import { randomUUID } from 'node:crypto';
import { type BenchAccount, forget, newAccount, newEvents } from './account.ts';
import type { Benchmark } from './harness.ts';
import { compare, comparedWithBare } from './table.ts';

const perCall = 500;

export const ingest: Benchmark = {
  about: 'records a second, in calls of 500 safety events for four webhooks',
  run: async ({ small, stack: start }) => {
    const { rounds, calls } = small ? { rounds: 0, calls: 1 } : { rounds: 5, calls: 6 };
    const stack = await start();
    const us = await newAccount(stack);
    const { url } = await stack.receiver();
    const webhooks = await us.webhooks([1, 2, 3, 4].map((n) => `${url}/${n}`));
    const recordsPerSecond = async (path: string, body: () => object) => {
      const bodies = Array.from({ length: calls }, () => JSON.stringify(body())); // built before the clock starts
      const headers = { 'x-api-key': us.ingestKey, 'content-type': 'application/json' };
      const began = performance.now();
      for (const body of bodies) {
        const reply = await fetch(stack.baseUrl + path, { method: 'POST', headers, body });
        const text = await reply.text();
        if (!reply.ok) throw new Error(`${path}: ${text}`);
      }
      return (calls * perCall) / ((performance.now() - began) / 1000);
    };
    await stack.call('/bench/hold?on');
    const what = `ingest of ${perCall} events for 4 webhooks`;
    const row = await compare({ what, unit: 'records/s', atLeast: 0.6 }, rounds, {
      bare: () => recordsPerSecond('/bare/ingest', () => bareBody(us, webhooks)),
      service: () => recordsPerSecond('/ingest', () => ({ records: newEvents(perCall) })),
    });
    await forget(stack, webhooks);
    return [comparedWithBare([row])];
  },
};

/** The rows that the service would write: events, and deliveries of each to each webhook. */
function bareBody({ connection }: BenchAccount, webhooks: string[]) {
  const now = Date.now();
  const events = Array.from({ length: perCall }, () => ({
    id: randomUUID(),
    account_id: 'bare',
    connection_id: connection,
    source_id: randomUUID(),
    tsp: 'Motive',
    incident_types: '["hard_brake"]',
    translated_incident_types: '["Harsh Braking"]',
    event_risk: 3,
    issued_on: now,
    started_at: now,
    vehicle_id: 'v1',
    vehicle_name: 'Truck 1',
    vehicle_vin: '1FUJGLDR5CLBP8834',
    vehicle_groups: '["North","Reefers"]',
    created_at: now,
    updated_at: now,
  }));
  const deliveries = webhooks.flatMap((webhookId) =>
    events.map((event) => ({ webhookId, id: randomUUID(), eventId: event.id })),
  );
  return { events, deliveries, columns: Object.keys(events[0] ?? {}) };
}
