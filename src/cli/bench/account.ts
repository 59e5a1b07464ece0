import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { openAccount } from '../demo/account.ts';
import type { Stack } from '../local/stack.ts';
import { operatorOf, request } from '../operate/client.ts';
import type { BenchStack } from './harness.ts';

export type BenchAccount = Awaited<ReturnType<typeof newAccount>>;

const vehicles = 50;

/** Opens an account with one connection and fifty vehicles. Returns the calls of its customer and its connector. */
export async function newAccount(stack: Stack & { cell?: string }) {
  const operator = operatorOf(stack);
  const wanted = [{ provider: 'motive', name: 'bench' }];
  const { accountId: id, apiToken: token, connections } = await openAccount(operator, 'Bench', wanted);
  const [{ id: connection, ingestKey } = { id: '', ingestKey: '' }] = connections;
  const newToken = async () =>
    (await operator.call('POST /accounts/:id/tokens', { id, body: { name: 'bench' } })).value;
  const post = <T>(path: string, body: object, credential = token) =>
    request<T>(stack.baseUrl + path, {
      method: 'POST',
      headers: { 'x-api-key': credential, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const ingest = (records: object[]) => post<{ accepted: number }>('/ingest', { records }, ingestKey);
  await ingest(
    Array.from({ length: vehicles }, (_, i) => ({
      ...vehicle(`v${i}`, ['North', 'Reefers']),
      vin: `1FUJGLDR5CLBP8${100 + i}`,
    })),
  );
  return {
    ...{ id, connection, token, ingestKey, post, ingest },
    /** Creates a webhook for each URL. Returns their ids. */
    webhooks: async (urls: string[], changes: { signing?: true } = {}) => {
      const ids: string[] = [];
      const webhook = {
        connectionIds: [connection],
        httpVerb: 'POST',
        headers: { 'X-Secret': 's3cret' },
        notificationTypes: [1, 2],
        ...changes,
      };
      let credential = token;
      for (const url of urls) {
        if (ids.length % 500 === 499) credential = await newToken(); // more than one token may call
        ids.push((await post<{ id: string }>('/webhook', { ...webhook, url }, credential)).id);
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
    ...newEvents(1)[0],
    eventId: randomUUID(),
    vehicleId: randomUUID(),
    vehicleGroups: ['North', 'Reefers'],
    translatedIncidentTypes: ['Harsh Braking'],
    vehicleVin: '1FUJGLDR5CLBP8107',
  },
});

export type Used = { written: number; queued: number };

/** The deliveries of larger calls are created by the consumer, which would count as its work. */
const maxPerCall = 2000;

/** Sends events whose wake-ups are dropped, for so many webhooks, and resets the counts. */
export async function pileUp(
  { call }: BenchStack,
  { post, ingestKey }: BenchAccount,
  events: number,
  webhooks: number,
): Promise<void> {
  await call('/bench/hold?on');
  const perCall = Math.min(250, Math.ceil(maxPerCall / webhooks));
  for (let sent = 0; sent < events; sent += perCall)
    await post('/bench/ingest', { records: newEvents(Math.min(perCall, events - sent)) }, ingestKey);
  await call('/bench/hold');
  await call('/bench/used');
}

/** Deletes webhooks and their pending deliveries. */
export async function forget({ call }: BenchStack, webhooks: string[]): Promise<void> {
  await call('/bench/forget', webhooks);
  await call('/bench/hold?on');
  await wait(500); // what the queue still holds is dropped
  await call('/bench/hold');
}
