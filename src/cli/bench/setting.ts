import { type Listening, listen } from '../local/receiver.ts';
import type { Stack } from '../local/stack.ts';
import { operatorOf, request } from '../operate/client.ts';
import { benchStack } from './stack.ts';

/** What is measured: the stack, an account with a connection and vehicles, and a receiver. */
export type Setting = {
  stack: Stack;
  token: string;
  connection: string;
  ingestKey: string;
  receiver: Receiver;
  /** Calls the benchmark's Worker, with a body if there is one. */
  post: <T = unknown>(path: string, body?: object) => Promise<T>;
  ingest: (records: object[]) => Promise<void>;
  /** Creates webhooks, for the receiver of the setting or for others. */
  webhooks: (count: number, urls?: string[]) => Promise<string[]>;
  /** Measures without the log, whose local cost says nothing about Cloudflare's network. */
  quietly: <T>(measure: () => Promise<T>) => Promise<T>;
  /** Deletes webhooks and pending deliveries, and stops dropping wake-ups. */
  end: (webhooks: string[]) => Promise<void>;
};

/** An HTTPS receiver that only counts: it calls `arrived` at the first byte of each call. */
type Receiver = Listening & { arrived: () => void };

const vehicles = 50;

/** Creates an account with one connection, and the credentials of client and connector; without a `home` in main. */
export async function newAccount(
  stack: Stack,
  home?: string,
): Promise<{ id: string; connection: string; token: string; ingestKey: string }> {
  const operator = operatorOf(stack.baseUrl, stack.operatorKey);
  const account = await operator.post<{ id: string }>('/accounts', { name: 'Bench', home });
  const path = `/accounts/${account.id}`;
  const connection = await operator.post<{ id: string }>(`${path}/connections`, { provider: 'motive' });
  const token = await operator.post<{ value: string }>(`${path}/tokens`, { name: 'bench' });
  const key = await operator.post<{ value: string }>(`/connections/${connection.id}/ingest-keys`, {
    name: 'bench',
  });
  return { id: account.id, connection: connection.id, token: token.value, ingestKey: key.value };
}

/** Starts a stack with all of it. */
export async function startSetting(name: string): Promise<Setting> {
  const { stack } = await benchStack(name);
  const { connection, token, ingestKey } = await newAccount(stack);
  const send = (credential: string, route: string, body?: object) =>
    request<never>(stack.baseUrl + route, {
      method: 'POST',
      headers: { 'x-api-key': credential, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  const receiver = await startCounter(stack);
  let made = 0;
  const setting: Setting = {
    stack,
    token,
    connection,
    ingestKey,
    receiver,
    post: (route, body) => send(token, route, body),
    ingest: async (records) => void (await send(ingestKey, '/ingest', { records })),
    end: async () => {},
    quietly: async (measure) => {
      await send(token, '/log?off');
      const measured = await measure();
      await send(token, '/log');
      return measured;
    },
    webhooks: async (count, urls) => {
      const ids: string[] = [];
      for (let i = 0; i < count; i++) {
        const webhook = await send(token, '/webhook', {
          connectionIds: [connection],
          url: urls?.[i] ?? `${receiver.url}/${made++}`,
          httpVerb: 'POST',
          headers: { 'X-Secret': 's3cret' },
          notificationTypes: [1, 2],
        });
        ids.push((webhook as { id: string }).id);
      }
      return ids;
    },
  };
  setting.end = async (webhooks) => {
    await setting.post('/fill', {
      sql: 'delete from webhooks where id in (select value from json_each(?1))',
      params: [JSON.stringify(webhooks)],
    });
    await setting.post('/fill', { sql: "delete from deliveries where status = 'pending'" });
    await new Promise((on) => setTimeout(on, 500)); // what the queue still holds is dropped
    await setting.post('/hold');
  };
  await setting.ingest(
    Array.from({ length: vehicles }, (_, i) => ({
      kind: 'vehicle',
      sourceId: `v${i}`,
      name: `Truck ${i}`,
      vin: `1FUJGLDR5CLBP8${100 + i}`,
      groups: ['North', 'Reefers'],
    })),
  );
  return setting;
}

/** The data of a delivery of such an event. */
export const eventData = {
  eventId: '294aeb9d-4040-5e5d-b215-b1bab9373196',
  issuedOn: '2026-11-20T20:00:00.000Z',
  translatedIncidentTypes: ['Harsh Braking'],
  eventRisk: 3,
  vehicleId: '9ad29d75-2f50-53e3-a117-0006da84a407',
  vehicleName: 'Truck 7',
  vehicleVin: '1FUJGLDR5CLBP8834',
  vehicleGroups: ['North', 'Reefers'],
  recipients: ['safety@example.com'],
};

let events = 0;

/** Returns new safety events, as a connector sends them. */
export const newEvents = (count: number): object[] =>
  Array.from({ length: count }, () => ({
    kind: 'safetyEvent',
    sourceId: `e${events++}`,
    vehicle: `v${events % vehicles}`,
    incidentTypes: ['hard_brake'],
    startedAt: '2026-11-20T20:00:00Z',
    recipients: ['safety@example.com'],
  }));

async function startCounter({ certificates }: Stack): Promise<Receiver> {
  const counter: Receiver = { url: '', arrived: () => {}, stop: () => {} };
  const listening = await listen(certificates, 0, (request, response) => {
    counter.arrived();
    request.resume().on('end', () => response.writeHead(204).end());
  });
  return Object.assign(counter, listening);
}
