import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Received, startReceiver } from '../../src/cli/local/receiver.ts';
import type { Stack } from '../../src/cli/local/stack.ts';
import {
  addWebhook,
  api,
  fleet,
  fleetJson,
  journeyAccount,
  stackFolder,
  until,
} from '../support/node/journey.ts';

const folder = stackFolder();
let stack: Stack;
let us: Awaited<ReturnType<typeof journeyAccount>>;
beforeAll(async () => {
  stack = await folder.start();
  us = await journeyAccount(stack);
});
afterAll(async () => {
  await stack.stop();
  folder.remove();
});

const vehicle = {
  kind: 'vehicle',
  sourceId: 'v1',
  name: 'Van 1',
  vin: 'WDB9066331S000001',
  groups: ['City'],
};
const event = (sourceId: string) => ({
  kind: 'safetyEvent',
  sourceId,
  vehicle: 'v1',
  incidentTypes: ['Braking', 'MobileUsage'],
  startedAt: '2026-11-20T21:00:00+01:00',
  recipients: ['safety@example.com'],
});
const send = (...records: unknown[]) =>
  api<{ accepted: number }>(stack, us.ingestKey, 'POST', '/ingest', { records });

it('an event and an accident reach a receiver over HTTPS, with its verb and headers, each once', async () => {
  const got: Received[] = [];
  const receiver = await startReceiver(stack.certificates, 0, (received) => got.push(received));
  const webhook = await addWebhook(stack, us, `${receiver.url}/main`, {
    httpVerb: 'PUT',
    headers: { 'X-Secret': 'one', 'X-Tenant': 'two', Authorization: 'Bearer three-is-secret' },
    notificationTypes: [1, 2],
  });
  expect(await send(vehicle, event('e1'))).toMatchObject({ status: 200, data: { accepted: 2 } });
  await until('the event arrives', () => got.length >= 1);
  expect(got[0]).toMatchObject({
    method: 'PUT',
    path: '/main',
    headers: {
      'x-secret': 'one',
      'x-tenant': 'two',
      authorization: 'Bearer three-is-secret',
      'content-type': 'application/json',
      'delivery-id': expect.stringMatching(
        /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      ),
      'delivery-attempt': '1',
    },
  });
  expect(Object.keys(got[0]?.body ?? {}).sort()).toEqual(['data', 'timestamp', 'type']);
  expect(got[0]?.body.data).toEqual({
    eventId: expect.any(String),
    issuedOn: '2026-11-20T20:00:00.000Z',
    translatedIncidentTypes: ['Harsh Braking', 'Phone Usage'],
    eventRisk: 4,
    vehicleId: expect.any(String),
    vehicleName: 'Van 1',
    vehicleVin: 'WDB9066331S000001',
    vehicleGroups: ['City'],
    recipients: ['safety@example.com'],
  });

  for (const notificationLevel of [1, 1, 2, 3, 3, 2])
    await send({
      kind: 'accident',
      sourceId: 'a1',
      vin: 'WDB9066331S000001',
      eventTime: '2026-11-20T20:00:00Z',
      location: { latitude: 52.5, longitude: 13.4 },
      notificationLevel,
    });
  await until('three levels arrive', () => got.length >= 4);
  await stack.minute();
  expect(got).toHaveLength(4);
  const levels = got.slice(1).map(({ body }) => body.data);
  expect(levels.map((data) => data.notificationLevel).sort()).toEqual([1, 2, 3]);
  expect(new Set(levels.map((data) => data.eventId)).size).toBe(1);
  expect(levels.every((data) => data.tSP === 'Samsara' && data.connection === us.connectionId)).toBe(true);

  // What is on disk: the database with its journal, KV, and the log.
  expect(filesHolding('Van 1').length).toBeGreaterThan(0);
  expect(filesHolding('three-is-secret')).toEqual([]);
  await api(stack, us.token, 'DELETE', `/webhook/${webhook}`);
  receiver.stop();
});

/** The files of the stack, its database among them, in which a text stands. */
function filesHolding(text: string): string[] {
  const directory = dirname(stack.certificates.caFile);
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text));
}

it('a webhook that is deleted while its delivery waits for a retry hears nothing more', async () => {
  const got: Received[] = [];
  const receiver = await startReceiver(stack.certificates, 0, (received, response) => {
    got.push(received);
    response.writeHead(503).end();
  });
  const webhook = await addWebhook(stack, us, receiver.url);
  await send(vehicle, event('e2'));
  await until('the first attempt', () => got.length === 1);
  await api(stack, us.token, 'DELETE', `/webhook/${webhook}`);
  await new Promise((on) => setTimeout(on, 7500)); // the retry would have come after 4 to 6 s
  await stack.minute();
  expect(got).toHaveLength(1);
  receiver.stop();
});

it('a delivery survives SIGKILL between the call and its record', async () => {
  const got: Received[] = [];
  let hang = true;
  const receiver = await startReceiver(stack.certificates, 0, async (received, response) => {
    got.push(received);
    if (hang) await new Promise((on) => response.on('close', on));
    else response.writeHead(200).end();
  });
  await addWebhook(stack, us, receiver.url);
  await send(vehicle, event('e3'));
  await until('the call is under way', () => got.length === 1);
  stack.kill();
  hang = false;
  stack = await folder.start();
  await until(
    'it arrives again',
    async () => {
      await stack.minute();
      return got.length === 2;
    },
    60,
  );
  expect(got[1]?.headers['delivery-id']).toBe(got[0]?.headers['delivery-id']);
  expect(got[1]?.body.data).toEqual(got[0]?.body.data);
  receiver.stop();
});

it('a start on a port that another service has fails, and does not take that one for its own', async () => {
  const second = stackFolder();
  const taken = Number(new URL(stack.baseUrl).port);
  await expect(second.start(taken)).rejects.toThrow(`Address already in use (127.0.0.1:${taken})`);
  second.remove();
});

it('a token revoked with the tool is refused on its next call', async () => {
  expect((await api(stack, us.token, 'GET', '/webhooks')).status).toBe(200);
  const revoked = await fleetJson<{ revokedAt: string }>(stack, 'token', 'revoke', us.tokenId);
  expect(revoked.revokedAt).toMatch(/Z$/);
  expect(await api(stack, us.token, 'GET', '/webhooks')).toMatchObject({
    status: 401,
    message: 'Invalid or expired token',
  });
  expect(await fleetJson(stack, 'token', 'list', '--account', us.accountId)).toEqual([]);
});

it('the tool lists, suspends and activates accounts, in tables for people', async () => {
  const listed = await fleet(stack, 'account', 'list');
  expect(listed.out).toMatch(/│ id .*│ name .*│ status/);
  expect(listed.out).toContain(us.accountId);
  await fleetJson(stack, 'account', 'suspend', us.accountId);
  expect(await send(vehicle)).toMatchObject({ status: 403, message: 'Insufficient permissions' });
  await fleetJson(stack, 'account', 'activate', us.accountId);
  expect(await send(vehicle)).toMatchObject({ status: 200 });
  const connections = await fleet(stack, 'connection', 'list', '--account', us.accountId);
  expect(connections.out).toContain('Samsara');
});

it.each([
  [['account', 'suspend', 'nobody'], 'fleet: 400 Unknown account'],
  [['token', 'revoke', 'none'], 'fleet: 400 Unknown token'],
  [['token', 'issue', '--name', 'x'], "error: required option '--account <id>' not specified"],
  [['connection', 'create', '--account', 'x', '--provider', 'a b'], 'fleet: 400 provider must be letters'],
  [
    ['connection', 'create', '--account', 'x', '--provider', 'a', '--incident-types', '/nowhere'],
    'fleet: Cannot read',
  ],
  [['--url', 'http://localhost:1', 'account', 'list'], 'fleet: Cannot reach http://localhost:1'],
  [['--url', 'nowhere', 'account', 'list'], 'fleet: --url (or FLEET_URL) must be a URL'],
  [['nonsense'], "error: unknown command 'nonsense'"],
])('fleet %j fails with one clear line', async (args, line) => {
  const { code, err } = await fleet(stack, ...args);
  expect(code).toBe(1);
  expect(err).toContain(line);
  expect(err.trim().split('\n')).toHaveLength(1);
});

it.each([
  [],
  ['account'],
  ['account', 'create'],
  ['connection', 'list'],
  ['token', 'issue'],
  ['ingest-key', 'revoke'],
])('fleet %s %s --help explains itself', async (...args) => {
  const { code, out } = await fleet(stack, ...args, '--help');
  expect(code).toBe(0);
  expect(out).toContain(`Usage: fleet ${args.join(' ')}`.trim());
});

it('fleet refuses a wrong operator key', async () => {
  const { code, err } = await fleet({ ...stack, operatorKey: 'wrong' }, 'account', 'list');
  expect({ code, err }).toEqual({ code: 1, err: 'fleet: 401 Invalid or expired token\n' });
});
