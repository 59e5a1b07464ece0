import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { openAccount } from '../demo/account.ts';
import type { Stack } from '../local/stack.ts';
import { operatorOf } from '../operate/client.ts';
import type { BenchStack } from './harness.ts';

export type BenchAccount = Awaited<ReturnType<typeof newAccount>>;

const vehicles = 50;

/** Opens an account with a connection and fifty vehicles. Returns what it can call. */
export async function newAccount(stack: Stack & { cell?: string }) {
  const operator = operatorOf(stack);
  const wanted = [{ provider: 'motive', name: 'bench' }];
  const { accountId: id, apiToken: token, connections } = await openAccount(operator, 'Bench', wanted);
  const [{ id: connection, ingestKey } = { id: '', ingestKey: '' }] = connections;
  const post = async <T>(path: string, body: string, credential: string) => {
    const headers = { 'x-api-key': credential, 'content-type': 'application/json' };
    const reply = await fetch(stack.baseUrl + path, { method: 'POST', headers, body });
    const { data, message } = (await reply.json()) as { data: T; message: string }; // the envelope
    if (!reply.ok) throw new Error(`${path}: ${message}`);
    return { data, headers: reply.headers };
  };
  const ingest = async (records: object[]) =>
    (await post<{ accepted: number }>('/ingest', JSON.stringify({ records }), ingestKey)).data;
  const withVin = (i: number) => ({
    ...{ ...vehicle(`v${i}`, ['North', 'Reefers']), vin: `1FUJGLDR5CLBP8${100 + i}` },
  });
  await ingest(Array.from({ length: vehicles }, (_, i) => withVin(i)));
  return {
    ...{ id, connection, token, ingestKey, post, ingest },
    headers: { 'x-api-key': token, 'connection-id': connection },
    async webhooks(urls: string[], changes: { signing?: true } = {}) {
      const ids: string[] = [];
      const headers = { 'X-Secret': 's3cret' };
      const all = { connectionIds: [connection], httpVerb: 'POST', headers, notificationTypes: [1, 2] };
      let credential = token;
      for (const url of urls) {
        // More than one token may call.
        if (ids.length % 500 === 499)
          credential = (await operator.call('POST /accounts/:id/tokens', { id, body: { name: 'bench' } }))
            .value;
        const webhook = JSON.stringify({ ...all, ...changes, url });
        ids.push((await post<{ id: string }>('/webhook', webhook, credential)).data.id);
      }
      return ids;
    },
  };
}

export const vehicle = (sourceId: string, groups: string[] = []) => ({
  ...{ kind: 'vehicle', sourceId, name: sourceId, groups },
});

export const safetyEvent = (vehicle: string, sourceId = vehicle, incidentType = 'crash') => ({
  ...{ kind: 'safetyEvent', sourceId, vehicle, incidentTypes: [incidentType] },
  startedAt: new Date().toISOString(), // an old one would notify nobody
});

let events = 0;

export const newEvents = (count: number) =>
  Array.from({ length: count }, () => ({
    ...safetyEvent(`v${events % vehicles}`, `e${events++}`, 'hard_brake'),
    recipients: ['safety@example.com'],
  }));

/** A body as large as that of a delivery of such an event. */
export const deliveryBody = JSON.stringify({
  ...{ timestamp: '2026-11-20T20:00:02.114Z', type: 2 },
  data: {
    ...{ ...newEvents(1)[0], eventId: randomUUID(), vehicleId: randomUUID() },
    ...{ vehicleGroups: ['North', 'Reefers'], translatedIncidentTypes: ['Harsh Braking'] },
    vehicleVin: '1FUJGLDR5CLBP8107',
  },
});

/** The deliveries of larger calls are created by the consumer, which would count as its work. */
const maxPerCall = 2000;

/** Sends events whose wake-ups are dropped, for so many webhooks. */
export async function pileUp({ call }: BenchStack, us: BenchAccount, events: number, webhooks: number) {
  await call('/bench/hold?on');
  const perCall = Math.min(250, Math.ceil(maxPerCall / webhooks));
  for (let left = events; left > 0; left -= perCall) await us.ingest(newEvents(Math.min(perCall, left)));
  await call('/bench/hold');
}

/** Deletes webhooks and their pending deliveries. */
export async function forget({ call }: BenchStack, webhooks: string[]): Promise<void> {
  await call('/bench/forget', webhooks);
  await call('/bench/hold?on');
  await wait(500); // what the queue still holds is dropped
  await call('/bench/hold');
}
