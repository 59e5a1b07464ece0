import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  accident,
  fleet,
  fleetJson,
  type Received,
  readText,
  runToEnd,
  safetyEvent,
  sharedAccount,
  stackFolder,
  startReceiver,
  until,
  vehicle,
} from '#test/support/node/index.ts';

const { stack, us } = await sharedAccount();
const directory = dirname(stack.certificates.caFile);

const van = vehicle({ name: 'Van of the main job' });
const event = (sourceId: string) => safetyEvent({ sourceId });

it('an event and an accident reach a receiver over HTTPS, with its verb and headers', async () => {
  const got: Received[] = [];
  const receiver = await startReceiver(stack.certificates, 0, (received) => got.push(received));
  const secrets = { 'x-secret': 'one', authorization: 'Bearer three-is-secret' };
  const webhook = await us.register(`${receiver.url}/main`, {
    httpVerb: 'PUT',
    headers: secrets,
    notificationTypes: [1, 2],
  });
  expect(await us.send([van, event('e1')])).toMatchObject({ status: 200, data: { accepted: 2 } });
  await until('the event arrives', () => got.length >= 1);
  expect(got[0]).toMatchObject({
    method: 'PUT',
    path: '/main',
    headers: { ...secrets, 'content-type': 'application/json', 'delivery-attempt': '1' },
    body: { type: 2, data: { vehicleName: van.name } },
  });
  for (const notificationLevel of [1, 2, 3]) await us.send([accident({ notificationLevel })]);
  await until('three levels arrive', () => got.length >= 4);
  const levels = got.slice(1).map(({ body }) => body.data);
  expect(levels.map((data) => data.notificationLevel).sort()).toEqual([1, 2, 3]);

  // What is on disk: the database with its journal, KV, and the log.
  expect(filesHolding(van.name).length).toBeGreaterThan(0);
  expect(filesHolding('three-is-secret')).toEqual([]);
  await us.call('DELETE', `/webhook/${webhook}`);
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
  readText(directory, 'wrangler.log')
    .split('\n')
    .map((line) => line.replace(/^\[[\w-]+\] /, '')) // which isolate it is of
    .filter((line) => line.startsWith('{"level"') && line.includes(us.accountId))
    .map((line): Record<string, unknown> => JSON.parse(line));

it('a call that fails is found by its request id, and sent again with the tool', async () => {
  const receiver = await startReceiver(stack.certificates, 0, (_, response) =>
    response.writeHead(410).end(),
  );
  const headers = { 'X-Secret': 'four-is-secret' };
  const webhook = await us.register(`${receiver.url}/secret-path`, { headers });
  await us.send([event('e2'), event('e3')]);
  type Failed = { id: string; log: object[] };
  const failed = () =>
    fleetJson<Failed[]>(stack, 'delivery list --webhook', webhook, '--status', 'failed');
  await until('both have failed', async () => (await failed()).length === 2);

  const ingest = logged().findLast(({ route }) => route === '/ingest');
  expect(ingest).toMatchObject({ status: 200, records: { accepted: 2 } });
  const attempts = logged().filter(({ kind }) => kind === 'attempt');
  expect(attempts).toMatchObject(
    Array(2).fill({ requestId: ingest?.requestId, webhookId: webhook, status: 410 }),
  );
  expect(filesHolding('secret-path').filter((file) => file.endsWith('.log'))).toEqual([]);
  expect(filesHolding('four-is-secret')).toEqual([]);
  const [{ id } = { id: '' }] = await failed();
  const { out } = await fleet(stack, 'delivery show', id);
  expect(out).toContain(String(ingest?.requestId));

  expect(await fleetJson(stack, 'delivery replay', id)).toMatchObject({ replayed: 1 });
  await until('it has failed again', async () =>
    (await failed()).some(({ log }) => log.length === 2),
  );
  receiver.stop();
});

it('npm run deploy -- --check tries what it relies on, and nothing is at fault', {
  tags: ['proof'],
}, async () => {
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

it('a start on a port that another service has fails', { tags: ['proof'] }, async () => {
  const second = stackFolder();
  const taken = Number(new URL(stack.baseUrl).port);
  await expect(second.start(taken)).rejects.toThrow(`Address already in use (127.0.0.1:${taken})`);
  second.remove();
});

it.each([
  ['import /nowhere.csv --connection x', 'fleet: Cannot read /nowhere.csv'],
  ['import README.md --connection x', 'fleet: 400 Unknown connection'],
  ['delivery replay', 'error: give either a Delivery-Id or --webhook'],
  ['token issue --name x', "error: required option '--account <id>' not specified"],
  ['--url http://localhost:1 account list', 'fleet: Cannot reach http://localhost:1'],
  [
    '--url nowhere account list',
    'fleet: --url (or FLEET_URL) must begin with https:// or http://,',
  ],
])('fleet %s fails with one clear line', async (args, line) => {
  const { code, err } = await fleet(stack, args);
  expect(code).toBe(1);
  expect(err).toContain(line);
  expect(err.trim().split('\n')).toHaveLength(1);
});
