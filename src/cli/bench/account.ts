import { partsOf } from '../../core/platform/parts.ts';
import { openAccount } from '../demo/account.ts';
import { operatorOf } from '../operate/client.ts';
import type { Stack } from './harness.ts';

const vehicles = 50;

/** Deliveries of larger calls are created in the background. */
const maxPerCall = 2000;

/** Opens an account with a connection and fifty vehicles. Returns what it can do. */
export async function newAccount(stack: Stack) {
  const operator = operatorOf(stack);
  const wanted = [{ provider: 'motive', name: 'bench' }];
  const { accountId: id, apiToken, connections } = await openAccount(operator, 'Bench', wanted);
  const [{ id: connection, ingestKey } = { id: '', ingestKey: '' }] = connections;
  const call = async <T>(path: string, body: object, credential = ingestKey, method = 'POST') => {
    const headers = { 'x-api-key': credential, 'content-type': 'application/json' };
    const reply = await fetch(stack.baseUrl + path, {
      method,
      headers,
      body: JSON.stringify(body),
    });
    const { data, message } = (await reply.json()) as { data: T; message: string }; // the envelope
    if (!reply.ok) throw new Error(`${path}: ${message}`);
    return { data, readyAt: Number(reply.headers.get('x-ready-at')) };
  };
  const ingest = async (records: object[]) =>
    (await call<{ accepted: number }>('/ingest', { records })).data;
  const all = Promise.all.bind(Promise);
  // Not all at once: the calls are not what is measured.
  const setPaused = async (ids: string[], what: 'pause' | 'resume') => {
    for (const some of partsOf(ids, 10))
      await all(some.map((id) => call(`/webhook/${id}/${what}`, {}, apiToken)));
  };
  await ingest(Array.from({ length: vehicles }, (_, i) => vehicle(`v${i}`)));
  return {
    ...{ id, call, ingest, headers: { 'x-api-key': apiToken, 'connection-id': connection } },
    async webhooks(urls: string[]) {
      const headers = { 'X-Secret': 's3cret' };
      const notificationTypes = [1, 2];
      const body = { connectionIds: [connection], httpVerb: 'POST', headers, notificationTypes };
      const ids: string[] = [];
      for (const url of urls)
        ids.push((await call<{ id: string }>('/webhook', { ...body, url }, apiToken)).data.id);
      return ids;
    },
    /** Ends webhooks, with all that they wait for. */
    forget: (ids: string[]) => all(ids.map((id) => call(`/webhook/${id}`, {}, apiToken, 'DELETE'))),
    /** Has events wait for paused webhooks. Returns how to resume these. */
    async pileUp(ids: string[], events: number) {
      await setPaused(ids, 'pause');
      const perCall = Math.min(250, Math.ceil(maxPerCall / ids.length));
      for (let remaining = events; remaining > 0; remaining -= perCall)
        await ingest(newEvents(Math.min(perCall, remaining)));
      return () => setPaused(ids, 'resume');
    },
  };
}

export const vehicle = (sourceId: string) => ({
  ...{ kind: 'vehicle', sourceId, name: sourceId, groups: ['North', 'Reefers'] },
});

export const safetyEvent = (vehicle: string, sourceId = vehicle) => ({
  ...{ kind: 'safetyEvent', sourceId, vehicle, incidentTypes: ['hard_brake'] },
  startedAt: new Date().toISOString(), // an old one would notify nobody
});

let events = 0;

export const newEvents = (count: number) =>
  Array.from({ length: count }, () => ({
    ...safetyEvent(`v${events % vehicles}`, `e${events++}`),
    recipients: ['safety@example.com'],
  }));
