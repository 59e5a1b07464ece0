import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Received, startReceiver } from '../../../src/cli/local/receiver.ts';
import type { Stack } from '../../../src/cli/local/stack.ts';
import { lists, recordKinds } from '../../../src/fleet/lists/registry.ts';
import { closed, isOf, schemas, startProxy, wholeDocument } from '../../support/node/contract.ts';
import { fleetJson, journeyAccount, stackFolder, until } from '../../support/node/journey.ts';
import { accident, driver, safetyEvent, trip, vehicle } from '../../support/records.ts';

/** Operators' replies are parsed by the schemas that their document is made of. */
const isOperators = (path: string) => /^\/(?:operator|providers)\//.test(path);
const document = closed(wholeDocument());
const folder = stackFolder();
const directory = mkdtempSync(join(tmpdir(), 'fleet-prism-'));
let stack: Stack;
let proxy: Awaited<ReturnType<typeof startProxy>>;
beforeAll(async () => {
  stack = await folder.start();
  await stack.minute(); // as in generated.test.ts
  proxy = await startProxy(document, stack.baseUrl, directory);
});
afterAll(async () => {
  proxy.stop();
  await stack.stop();
  folder.remove();
  rmSync(directory, { recursive: true });
});

it('a validating proxy between clients, connectors and the service finds no deviation', async () => {
  const us = await journeyAccount(stack);
  const deliveries: Received[] = [];
  let receiverStatus = 410;
  const receiver = await startReceiver(stack.certificates, 0, (received, response) => {
    deliveries.push(received);
    response.writeHead(receiverStatus).end('not wanted');
  });
  const as =
    (key: string) =>
    async <T = never>(method: string, path: string, body?: unknown, headers = {}) => {
      const reply = await fetch(proxy.url + path, {
        method,
        headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return (await reply.json()) as { status: number; message: string; data: T; next?: string }; // the envelope
    };
  const client = as(us.token);
  const connector = as(us.ingestKey);
  const connection = { 'connection-id': us.connectionId };
  const webhook = (changes: object = {}) => ({
    connectionIds: [us.connectionId],
    url: receiver.url,
    httpVerb: 'POST',
    headers: { 'X-Secret': 's3cret' },
    notificationTypes: [1, 2],
    ...changes,
  });

  expect((await client('GET', '/webhooks')).data).toEqual([]);
  const made = await client<{ id: string }>('POST', '/webhook', webhook());
  expect(made.message).toBe('Webhook created');
  expect((await client('POST', '/webhook', webhook())).message).toBe('Webhook with this URL already exist');
  expect((await client('POST', '/webhook', webhook({ url: 'http://example.com' }))).message).toBe(
    "Invalid URL, must use 'https'",
  );
  const signed = webhook({ httpVerb: 'PUT', signing: true });
  expect((await client('PUT', `/webhook/${made.data.id}`, signed)).status).toBe(200);
  expect((await client('POST', `/webhook/${made.data.id}/signing-secret`)).status).toBe(200);
  expect((await client('DELETE', `/webhook/${crypto.randomUUID()}`)).message).toBe('Invalid webhook id');

  const records = Array.from({ length: 3 }, (_, i) => [
    driver({ sourceId: `d${i}`, email: 'robin@example.com' }),
    vehicle({ sourceId: `v${i}`, lastLocation: spot }),
    trip({ sourceId: `t${i}`, vehicle: `v${i}`, driver: `d${i}`, startedAt: spot.timestamp }),
    safetyEvent({ sourceId: `e${i}`, vehicle: `v${i}` }),
  ]).flat();
  const all = [...records, accident(), trip({ sourceId: 'x', vehicle: 'nowhere' })];
  expect((await connector('POST', '/ingest', { records: all })).data).toMatchObject({
    accepted: 13,
    rejected: [{ index: 13, sourceId: 'x' }],
  });
  expect((await connector('GET', '/webhooks')).status).toBe(403);
  expect((await as(`${us.token}x`)('GET', '/webhooks')).status).toBe(401);

  const range = 'from=2026-11-20&to=2026-11-21';
  const examples = recordKinds.map(({ recordExample }) => recordExample);
  expect((await connector('POST', '/ingest', { records: examples, notify: false })).data).toMatchObject({
    accepted: examples.length,
  });
  for (const { list } of lists) {
    const query = list.range ? `?${range}` : '';
    const { data } = await client<Record<string, string>[]>('GET', list.path + query, undefined, connection);
    expect((await client('GET', `${list.path}/${data[0]?.[list.id]}`)).data, list.path).toEqual(data[0]);
    expect((await client('GET', `${list.path}/${crypto.randomUUID()}`)).status, list.path).toBe(404);
  }
  expect((await client('GET', '/vehicles?cursor=abc', undefined, connection)).message).toBe('Invalid cursor');

  const [van] = (await client<{ id: string }[]>('GET', '/vehicles', undefined, connection)).data;
  for (const path of [`/vehicles/${van?.id}`, `/connections/${us.connectionId}`])
    expect((await client('PUT', path, { externalId: 'A-1' })).data).toMatchObject({ externalId: 'A-1' });

  expect((await client<object[]>('GET', '/changes?limit=5')).data).toHaveLength(5);

  expect((await fetch(`${proxy.url}/health`)).status).toBe(200);

  expect((await client<object[]>('GET', `/deliveries?webhookId=${made.data.id}`)).data).toHaveLength(4);

  const failed = async () => (await client<{ id: string }[]>('GET', '/deliveries?status=failed')).data;
  await until('all have failed', async () => (await failed()).length === 4);
  const [first] = await failed();
  expect((await client('POST', `/deliveries/${first?.id}/replay`)).data).toMatchObject({ id: first?.id });

  // A delivery waits for a retry, and is sent before that.
  receiverStatus = 503;
  const event = { kind: 'safetyEvent', sourceId: 'waits', vehicle: 'v0', startedAt: '2026-11-20T20:00:00Z' };
  await connector('POST', '/ingest', { records: [{ ...event, incidentTypes: ['Crash'], eventRisk: 5 }] });
  const [waiting] = (await client<{ id: string }[]>('GET', '/deliveries?status=pending')).data;
  for (const [method, action] of [
    ['GET', ''],
    ['POST', '/send'],
  ] as const)
    expect((await client(method, `/deliveries/${waiting?.id}${action}`)).data).toMatchObject({
      id: waiting?.id,
    });

  for (const [action, body] of [['pause'], ['resume'], ['test', { type: 2 }], ['replay', {}]] as const)
    expect((await client('POST', `/webhook/${made.data.id}/${action}`, body)).status, action).toBe(200);

  expect((await client('DELETE', `/webhook/${made.data.id}`)).data).toBe(true);
  await fleetJson(stack, 'token', 'revoke', us.tokenId);
  expect((await client('GET', '/webhooks')).status).toBe(401);
  receiver.stop();

  expect(proxy.deviations()).toEqual([]);
  const succeeded = proxy.succeeded();
  const unused = Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.keys(methods)
      .filter(() => !isOperators(template))
      .filter((method) => !succeeded.some((call) => call.method === method && isOf(template, call.path)))
      .map((method) => `${method} ${template}`),
  );
  expect(unused).toEqual([]);
  for (const { headers, body } of deliveries) expect(wrongIn(headers, body)).toEqual([]);
});

/** What of a delivery is not as the document's `webhooks` say. */
function wrongIn(headers: IncomingHttpHeaders, body: Received['body']): unknown[] {
  const delivery = document.webhooks?.[body.type === 1 ? 'accident' : 'event']?.post;
  const check = schemas(document);
  const parameters = (delivery?.parameters ?? []) as { name: string; schema: { type: string } }[];
  return [
    ...check(delivery?.requestBody?.content['application/json'].schema ?? {}, body),
    ...parameters.flatMap(({ name, schema }) => {
      const value = headers[name.toLowerCase()];
      return check(schema, schema.type === 'integer' ? Number(value) : value);
    }),
  ];
}

const spot = { latitude: 52.5, longitude: 13.4, timestamp: '2026-11-20T20:00:00Z' };
