import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Received, startReceiver } from '#src/cli/local/receiver.ts';
import { runToEnd } from '#test/support/node/child.ts';
import {
  addWebhook,
  api,
  fleet,
  fleetJson,
  sharedAccount,
  stackFolder,
  until,
} from '#test/support/node/journey.ts';

const { stack, us } = await sharedAccount();
const directory = dirname(stack.certificates.caFile);

const vin = 'WDB9066331S000001';
const vehicle = { kind: 'vehicle', sourceId: 'v1', name: 'Van of the main job', vin };
const event = (sourceId: string) => ({
  ...{ kind: 'safetyEvent', sourceId, vehicle: 'v1', incidentTypes: ['Braking', 'MobileUsage'] },
  startedAt: new Date().toISOString(),
});
const send = (...records: unknown[]) =>
  api<{ accepted: number }>(stack, us.ingestKey, 'POST', '/ingest', { records });

it('an event and an accident reach a receiver over HTTPS, with its verb and headers', async () => {
  const got: Received[] = [];
  const receiver = await startReceiver(stack.certificates, 0, (received) => got.push(received));
  const webhook = await addWebhook(stack, us, `${receiver.url}/main`, {
    httpVerb: 'PUT',
    headers: { 'X-Secret': 'one', Authorization: 'Bearer three-is-secret' },
    notificationTypes: [1, 2],
  });
  expect(await send(vehicle, event('e1'))).toMatchObject({ status: 200, data: { accepted: 2 } });
  await until('the event arrives', () => got.length >= 1);
  expect(got[0]).toMatchObject({
    method: 'PUT',
    path: '/main',
    headers: {
      'x-secret': 'one',
      authorization: 'Bearer three-is-secret',
      'content-type': 'application/json',
      'delivery-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'delivery-attempt': '1',
    },
    body: { type: 2, data: { vehicleName: vehicle.name, eventRisk: 4 } },
  });
  const accident = { kind: 'accident', sourceId: 'a1', vin, eventTime: '2026-11-20T20:00:00Z' };
  for (const notificationLevel of [1, 2, 3])
    await send({ ...accident, location: { latitude: 52.5, longitude: 13.4 }, notificationLevel });
  await until('three levels arrive', () => got.length >= 4);
  const levels = got.slice(1).map(({ body }) => body.data);
  expect(levels.map((data) => data.notificationLevel).sort()).toEqual([1, 2, 3]);

  // What is on disk: the database with its journal, KV, and the log.
  expect(filesHolding(vehicle.name).length).toBeGreaterThan(0);
  expect(filesHolding('three-is-secret')).toEqual([]);
  await api(stack, us.token, 'DELETE', `/webhook/${webhook}`);
  receiver.stop();
});

/** The files of the stack, its database among them, in which a text stands. */
const filesHolding = (text: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => contentOf(file).includes(text));

/** Of the service's files, which may be gone by the time that they are read. */
function contentOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.of();
  }
}

/** The lines that the running service has written about our account. */
const logged = () =>
  readFileSync(join(directory, 'wrangler.log'), 'utf8')
    .split('\n')
    .map((line) => line.replace(/^\[[\w-]+\] /, '')) // which isolate it is of
    .filter((line) => line.startsWith('{"level"') && line.includes(us.accountId))
    .map((line): Record<string, unknown> => JSON.parse(line));

it('a call that fails is found by its request id, and sent again with the tool', async () => {
  const receiver = await startReceiver(stack.certificates, 0, (_, response) =>
    response.writeHead(410).end(),
  );
  const headers = { 'X-Secret': 'four-is-secret' };
  const webhook = await addWebhook(stack, us, `${receiver.url}/secret-path`, { headers });
  await send(event('e2'), event('e3'));
  type Failed = { id: string; log: object[] };
  const failed = () =>
    fleetJson<Failed[]>(stack, 'delivery', 'list', '--webhook', webhook, '--status', 'failed');
  await until('both have failed', async () => (await failed()).length === 2);

  const ingest = logged().findLast(({ route }) => route === '/ingest');
  expect(ingest).toMatchObject({
    status: 200,
    records: { accepted: 2, unchanged: 0, rejected: 0 },
  });
  const attempts = logged().filter(({ kind }) => kind === 'attempt');
  expect(attempts).toMatchObject(
    Array(2).fill({ requestId: ingest?.requestId, webhookId: webhook, status: 410 }),
  );
  expect(filesHolding('secret-path').filter((file) => file.endsWith('.log'))).toEqual([]);
  expect(filesHolding('four-is-secret')).toEqual([]);
  const [{ id } = { id: '' }] = await failed();
  const { out } = await fleet(stack, 'delivery', 'show', id);
  expect(out).toContain(String(ingest?.requestId));
  expect(out).toMatch(/^status +failed$/m);
  expect(out).toMatch(/Z +HTTP 410 /);

  expect(await fleetJson(stack, 'delivery', 'replay', id)).toMatchObject({ replayed: 1 });
  await until('it has failed again', async () =>
    (await failed()).some(({ log }) => log.length === 2),
  );
  receiver.stop();
  expect(await fleet(stack, 'delivery', 'replay')).toMatchObject({
    code: 1,
    err: 'error: give either a Delivery-Id or --webhook\n',
  });
  const limit = (...options: string[]) => fleet(stack, 'webhook', 'limit', webhook, ...options);
  await limit('--in-flight', '3');
  expect((await limit('--per-second', '20')).out).toMatch(/max in flight +3\nmax per second +20$/m);
  const message = 'maxInFlight must be a whole number from 1 to 50';
  expect(await limit('--in-flight', 'many')).toMatchObject({
    code: 1,
    err: `fleet: 400 ${message}\n`,
  });
  expect((await limit('--in-flight', '', '--per-second', '')).out).not.toMatch(
    /maxInFlight|maxPerSecond/,
  );
});

it('npm run deploy -- --check tries what it relies on, and nothing is at fault', async () => {
  const { baseUrl: FLEET_URL, operatorKey: FLEET_OPERATOR_KEY } = stack;
  await fetch(`${FLEET_URL}/cdn-cgi/local/scheduled?cron=*+*+*+*+*&time=${Date.now()}`);
  const env = { ...process.env, FLEET_URL, FLEET_OPERATOR_KEY };
  const { code, out } = await runToEnd('src/cli/deploy.ts', ['--check'], { env });
  expect(code).toBe(0);
  expect(out).toContain(`Checked ${FLEET_URL}\n`);
  for (const what of ['schema', 'database', 'refusals', 'scheduled jobs', 'archive', 'queue', 'KV'])
    expect(out).toMatch(new RegExp(`^${what} +ok +\\d+ ms`, 'm'));
  expect(out).toMatch(/^background work +ok .* continues\s+behind\s+the handler/m);
  expect(out).not.toContain('fault');
});

it('a start on a port that another service has fails', async () => {
  const second = stackFolder();
  const taken = Number(new URL(stack.baseUrl).port);
  await expect(second.start(taken)).rejects.toThrow(`Address already in use (127.0.0.1:${taken})`);
  second.remove();
});

it.each([
  ['account suspend nobody', 'fleet: 400 Unknown account'],
  ['import /nowhere.csv --connection x', 'fleet: Cannot read /nowhere.csv'],
  ['import README.md --connection x', 'fleet: 400 Unknown connection'],
  ['token issue --name x', "error: required option '--account <id>' not specified"],
  ['connection create --account x --provider a --incident-types /nowhere', 'fleet: Cannot read'],
  ['--url http://localhost:1 account list', 'fleet: Cannot reach http://localhost:1'],
  [
    '--url nowhere account list',
    'fleet: --url (or FLEET_URL) must begin with https:// or http://,',
  ],
])('fleet %s fails with one clear line', async (args, line) => {
  const { code, err } = await fleet(stack, ...args.split(' '));
  expect(code).toBe(1);
  expect(err).toContain(line);
  expect(err.trim().split('\n')).toHaveLength(1);
});
