import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ring } from '../../../src/cli/demo/provider.ts';
import { type Received, startReceiver } from '../../../src/cli/local/receiver.ts';
import type { Stack } from '../../../src/cli/local/stack.ts';
import { operatorOf } from '../../../src/cli/operate/client.ts';
import { fakeSamsara } from '../../../src/dev/fakes/samsara.ts';
import { lists, recordKinds } from '../../../src/fleet/lists/registry.ts';
import { closed, isOf, schemas, startProxy, wholeDocument } from '../../support/node/contract.ts';
import { fleet, fleetJson, journeyAccount, stackFolder, until } from '../../support/node/journey.ts';
import { startProvider } from '../../support/node/provider.ts';
import { accident, driver, safetyEvent, trip, vehicle } from '../../support/records.ts';

const document = closed(wholeDocument());
const folder = stackFolder(undefined, ['eu']);
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

it('a validating proxy between clients, connectors, operators and the service finds no deviation', async () => {
  const seen = { baseUrl: proxy.url, operatorKey: stack.operatorKey };
  const us = await journeyAccount(seen);
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
  await fleetJson(seen, 'vehicle', 'update', van?.id ?? '', '--external-id', 'A-2');

  expect((await client<object[]>('GET', '/changes?limit=5')).data).toHaveLength(5);

  expect((await fetch(`${proxy.url}/health`)).status).toBe(200);

  expect((await client<object[]>('GET', `/deliveries?webhookId=${made.data.id}`)).data).toHaveLength(4);

  // The operators look into what failed, and send it again.
  const failed = async () => (await client<object[]>('GET', '/deliveries?status=failed')).data.length;
  await until('all have failed', async () => (await failed()) === 4);
  await fleetJson(seen, 'status');
  await fleetJson(seen, 'webhook', 'list', '--account', us.accountId);
  const listed = ['delivery', 'list', '--webhook', made.data.id];
  const [first, second] = await fleetJson<{ id: string }[]>(seen, ...listed);
  await fleetJson(seen, 'delivery', 'show', first?.id ?? '');
  await fleetJson(seen, 'delivery', 'replay', first?.id ?? '');
  expect((await client('POST', `/deliveries/${second?.id}/replay`)).data).toMatchObject({ id: second?.id });
  const missed = ['--webhook', made.data.id, '--since', '2026-11-20T00:00:00Z'];
  await fleetJson(seen, 'delivery', 'replay', ...missed, '--dry-run');
  await fleetJson(seen, 'delivery', 'replay', ...missed, '--yes');
  await fleetJson(seen, 'webhook', 'limit', made.data.id, '--in-flight', '10', '--per-second', '20');
  for (const action of ['pause', 'resume']) await fleetJson(seen, 'webhook', action, made.data.id);
  await fleetJson(seen, 'account', 'list');
  await fleetJson(seen, 'account', 'suspend', us.accountId);
  expect((await client('GET', '/webhooks')).status).toBe(403);
  await fleetJson(seen, 'account', 'activate', us.accountId);
  await fleetJson(seen, 'account', 'rename', us.accountId, 'Acme');
  await fleetJson(seen, 'audit');
  await fleetJson(seen, 'audit', '--account', us.accountId);
  const { data: drivers } = await client<{ id: string }[]>('GET', '/drivers');
  await fleetJson(seen, 'driver', 'erase', drivers[0]?.id ?? '', '--yes');
  const output = ['--output', join(directory, 'trips.ndjson')];
  const exported = await fleetJson<{ rows: number }>(
    seen,
    ...['export', '--account', us.accountId, '--kind', 'trip', ...output],
  );
  expect(exported.rows).toBe(4);
  await fleetJson(seen, 'connection', 'list', '--account', us.accountId);
  const renamed = ['--name', 'Vans of the city', '--external-id', 'A-3'];
  await fleetJson(seen, 'connection', 'update', us.connectionId, ...renamed);

  // They connect a provider, look after it, and it rings.
  const samsara = {
    organisation: 'Acme',
    token: 'samsara_api_1',
    vehicles: [],
    drivers: [],
    trips: [],
    events: [],
  };
  const provider = await startProvider(fakeSamsara(samsara));
  const pulled = await fleetJson<{ id: string }>(
    seen,
    ...['connection', 'create', '--account', us.accountId, '--provider', 'samsara'],
    ...['--credential', samsara.token, '--base-url', provider.url],
  );
  for (const action of ['status', 'pause', 'resume', 'pull'])
    await fleetJson(seen, 'connection', action, pulled.id);
  const secret = Buffer.alloc(32, 7);
  const operator = operatorOf(proxy.url, stack.operatorKey);
  const { id } = pulled;
  await operator.call('PUT /connections/:id/credential', { id, body: { credential: samsara.token } });
  await operator.call('PUT /connections/:id/webhook-secret', {
    id,
    body: { secret: secret.toString('base64') },
  });
  expect((await ring(`${proxy.url}/providers/${pulled.id}/webhook`, secret)).status).toBe(200);
  const day = { kind: 'trips', date: '2026-01-01' };
  const repaired = await operator.call('POST /connections/:id/archive/repair', { id, body: day });
  expect(repaired.bucket).toEqual({ files: 0, records: 0 });
  provider.stop();

  const mover = await operator.call('POST /accounts', { body: { name: 'Mover' } });
  // Beside the proxy, which takes one call at a time. It loses its turn.
  const direct = operatorOf(stack.baseUrl, stack.operatorKey);
  const moving = direct.call('POST /accounts/:id/move', { id: mover.id, body: { to: 'eu' } }).catch(() => {});
  await until('the move is being cancelled', () =>
    operator.call('POST /accounts/:id/move/cancel', { id: mover.id }).then(
      () => true,
      () => false,
    ),
  );
  await moving;
  await fleetJson(seen, 'account', 'move', mover.id, '--cancel').catch(() => {}); // unless that was all
  expect(await operator.call('GET /accounts/:id/move', { id: mover.id })).toMatchObject({ move: null });
  const moved = await fleetJson(seen, 'account', 'move', mover.id, '--to', 'eu');
  expect(moved).toMatchObject({ from: 'main', to: 'eu', state: 'done' });
  expect((await fleet(seen, 'account', 'move', mover.id, '--to', 'eu')).err).toContain('lives in eu already');
  expect(await fleetJson<object[]>(seen, 'home', 'list')).toHaveLength(2);
  const checked = await operator.call('POST /check', { body: { schema: ['table loans: 0'] } });
  expect(checked.map(({ home, name, result }) => name === 'schema' && `${home} ${result}`)).toEqual(
    expect.arrayContaining(['main fault', 'eu fault']),
  );

  // A delivery waits for a retry, and is sent before that.
  receiverStatus = 503;
  const event = { kind: 'safetyEvent', sourceId: 'waits', vehicle: 'v0', startedAt: '2026-11-20T20:00:00Z' };
  await connector('POST', '/ingest', { records: [{ ...event, incidentTypes: ['Crash'], eventRisk: 5 }] });
  const [waiting] = (await client<{ id: string }[]>('GET', '/deliveries?status=pending')).data;
  expect(await fleetJson(seen, 'delivery', 'send', waiting?.id ?? '')).toMatchObject({ id: waiting?.id });
  for (const [method, action] of [
    ['GET', ''],
    ['POST', '/send'],
  ] as const)
    expect((await client(method, `/deliveries/${waiting?.id}${action}`)).data).toMatchObject({
      id: waiting?.id,
    });
  expect(await fleetJson<object[]>(seen, 'delivery', 'find', '--vin', 'none')).toEqual([]);

  for (const [action, body] of [['pause'], ['resume'], ['test', { type: 2 }], ['replay', {}]] as const)
    expect((await client('POST', `/webhook/${made.data.id}/${action}`, body)).status, action).toBe(200);

  await fleetJson(seen, 'token', 'list', '--account', us.accountId);
  await fleetJson(seen, 'user', 'add', 'ann@example.com', '--account', us.accountId);
  await fleetJson(seen, 'user', 'list', '--account', us.accountId);
  const ofAccount = ['--account', us.accountId];
  const link = await fleetJson<{ id: string }>(
    seen,
    'connect-link',
    'create',
    ...ofAccount,
    '--name',
    'Vans',
  );
  await fleetJson(seen, 'connect-link', 'list', ...ofAccount);
  await fleetJson(seen, 'connect-link', 'revoke', link.id);
  const { id: channelId } = await operator.call('POST /accounts/:id/channels', {
    id: us.accountId,
    body: { kind: 'https', name: 'Claims', url: 'https://channel.example.com' },
  });
  await fleetJson(seen, 'channel', 'list', ...ofAccount);
  for (const action of ['test', 'remove']) await fleetJson(seen, 'channel', action, channelId);
  await fleetJson(seen, 'sign-in-link', 'ann@example.com');
  await fleetJson(seen, 'user', 'remove', 'ann@example.com', '--account', us.accountId);
  expect((await fleet(seen, 'token', 'revoke', 'none')).err).toContain('Unknown token');
  expect((await client('DELETE', `/webhook/${made.data.id}`)).data).toBe(true);
  await fleetJson(seen, 'token', 'revoke', us.tokenId);
  expect((await client('GET', '/webhooks')).status).toBe(401);
  const name = 'Vans of the city';
  await fleetJson(seen, 'connection', 'delete', us.connectionId, '--yes', name);
  await fleetJson(seen, 'account', 'delete', us.accountId, '--yes', 'Acme');
  expect(await fleetJson<object[]>(seen, 'deletion', 'list')).toHaveLength(1);
  receiver.stop();

  expect(proxy.deviations()).toEqual([]);
  const succeeded = proxy.succeeded();
  const unused = Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.keys(methods)
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
