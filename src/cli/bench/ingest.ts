import { randomUUID } from 'node:crypto';
import { byTurns, type Measure } from './rounds.ts';
import { newEvents, type Setting } from './setting.ts';

const perCall = 500;

/** Measures records per second: calls of 500 new safety events for four webhooks, with deliveries held back. */
export async function measureIngest(us: Setting, rounds: number, calls: number): Promise<Measure> {
  const webhooks = await us.webhooks(4);
  await us.post('/hold?on');
  const what = { what: 'ingest of 500 events for 4 webhooks', unit: 'records/s', target: 0.6 };
  const measure = await byTurns(what, rounds, {
    bare: () =>
      recordsPerSecond(
        us,
        '/bare/ingest',
        times(calls, () => bareBody(us, webhooks)),
      ),
    service: () =>
      recordsPerSecond(
        us,
        '/ingest',
        times(calls, () => ({ records: newEvents(perCall) })),
      ),
  });
  await us.end(webhooks);
  return measure;
}

async function recordsPerSecond(us: Setting, path: string, bodies: object[]): Promise<number> {
  const texts = bodies.map((body) => JSON.stringify(body)); // built before the clock starts
  const headers = { 'x-api-key': us.ingestKey, 'content-type': 'application/json' };
  const began = performance.now();
  for (const body of texts) {
    const reply = await fetch(us.stack.baseUrl + path, { method: 'POST', headers, body });
    if (!reply.ok) throw new Error(`${path}: ${await reply.text()}`);
    await reply.text();
  }
  return (texts.length * perCall) / ((performance.now() - began) / 1000);
}

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

/** The rows that the service would write: events, and deliveries of each to each webhook. */
function bareBody(us: Setting, webhooks: string[]) {
  const now = Date.now();
  const events = times(perCall, () => ({
    id: randomUUID(),
    account_id: 'bare',
    connection_id: us.connection,
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
