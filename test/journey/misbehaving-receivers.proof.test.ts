// More than 15 s: receivers that time out take the runtime's 15 s.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Certificates, certificates } from '#src/cli/local/certificates.ts';
import { freePort } from '#src/cli/local/dev.ts';
import { operatorOf } from '#src/cli/operate/client.ts';
import type { Delivery } from '#src/extras/delivery-log/operations.ts';
import { addWebhook, api, journeyAccount, ownStack, until } from '#test/support/node/journey.ts';
import { canMeasureMemory, memoryOf } from '#test/support/node/memory.ts';
import {
  type Expected,
  misbehaviours,
  type RawServer,
  rudeServers,
  serveTcp,
  serveTls,
} from '#test/support/node/misbehaving.ts';
import { safetyEvent, vehicle } from '#test/support/records.ts';

/** More than the runtime may grow by, in MB, whatever its receivers send. */
const maxGrowth = 200;

const stack = ownStack();
const { directory } = stack;
const servers: RawServer[] = [];
const hooks: Record<string, string> = {};
let us: Awaited<ReturnType<typeof journeyAccount>>;
let growth: Promise<number>;
const ended = Promise.withResolvers<void>();
let healthyCalls = 0;

/** The certificate that the service trusts, and one of an authority that nobody knows. */
async function pairs() {
  const stranger = join(directory, 'stranger');
  mkdirSync(stranger);
  const [known, unknown] = await Promise.all([certificates(directory), certificates(stranger)]);
  const pair = ({ certFile, keyFile }: Certificates) => ({
    cert: readFileSync(certFile, 'utf8'),
    key: readFileSync(keyFile, 'utf8'),
  });
  return { good: pair(known), untrusted: pair(unknown) };
}

beforeAll(async () => {
  const { good, untrusted } = await pairs();
  us = await journeyAccount(stack);

  const register = async (name: string, starting: Promise<RawServer>, changes = {}) => {
    const server = await starting;
    servers.push(server);
    hooks[name] = await addWebhook(stack, us, `https://localhost:${server.port}/`, changes);
  };
  // Each on a port of its own: what one leaves on a connection must not reach another.
  for (const [name, { does }] of Object.entries(misbehaviours))
    await register(name, serveTls(good, does));
  for (const [name, { does }] of Object.entries(rudeServers)) await register(name, serveTcp(does));
  await register(
    'has a certificate of nobody',
    serveTls(untrusted, (socket) => socket.end(reply)),
  );
  const healthy = serveTls(good, (socket, request) => {
    if (/^authorization: bearer a-token\r$/im.test(request)) healthyCalls++;
    socket.end(reply);
  });
  // It takes the client in the body alone, and responds with a form.
  const login = await serveTls(good, (socket, request) =>
    socket.end(
      /^authorization:/im.test(request)
        ? 'HTTP/1.1 415 Unsupported Media Type\r\nConnection: close\r\n\r\n'
        : 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\ntoken_type=BearerToken&access_token=a-token',
    ),
  );
  servers.push(login);
  const tokenUrl = `https://localhost:${login.port}/token`;
  await register('is healthy', healthy, {
    oauth: { tokenUrl, clientId: 'us', clientSecret: 'secret' },
  });
  hooks['is not there'] = await addWebhook(stack, us, `https://localhost:${await freePort()}/`);
  const work = async () => {
    await event('first');
    await ended.promise;
    return 0;
  };
  growth = canMeasureMemory ? memoryOf(directory)(work) : work();
  await until('the healthy receiver is called', () => healthyCalls === 1);
});
afterAll(async () => {
  for (const server of servers) server.stop();
});

/** Says that it closes the connection: otherwise the next call may be sent on it, and fail. */
const reply = 'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n';

const event = (sourceId: string) =>
  api(stack, us.ingestKey, 'POST', '/ingest', {
    records: [vehicle(), safetyEvent({ sourceId })],
  });

const deliveries = (name: string) =>
  operatorOf(stack).call('GET /deliveries', {
    query: { webhookId: hooks[name] ?? '' },
  });

/** The oldest delivery of a receiver, once it has been attempted. */
async function attempted(name: string): Promise<Delivery | undefined> {
  let shown: Delivery | undefined;
  const isAttempted = async () => {
    shown = (await deliveries(name)).at(-1);
    return (shown?.log.length ?? 0) > 0;
  };
  await until(`a first attempt at the receiver that ${name}`, isAttempted, 60);
  return shown;
}

// The calls are all under way already; each test waits for its own.
it.each<[name: string, Expected]>([
  ...Object.entries({ ...misbehaviours, ...rudeServers }).map(
    ([name, { leads }]): [string, Expected] => [name, leads],
  ),
  // The local runtime has one word for these; Cloudflare's network has statuses.
  ['has a certificate of nobody', { result: 'connection' }],
  ['is not there', { result: 'connection' }],
])('an attempt at a receiver that %s has the right outcome', async (name, expected) => {
  const [first] = (await attempted(name))?.log ?? [];
  expect(first).toMatchObject(expected);
  if (expected.result === 'timeout') expect(Math.round((first?.durationMs ?? 0) / 1000)).toBe(15);
  expect((first?.answer ?? '').length).toBeLessThanOrEqual(1024);
});

it('afterwards a healthy receiver gets what comes next, at once', async () => {
  const before = healthyCalls;
  await event('afterwards');
  // Before the calls that time out do: after 15 s.
  await until('it has come', () => healthyCalls > before, 12);
  await until('all of it is recorded', async () =>
    (await deliveries('is healthy')).every(({ status }) => status === 'delivered'),
  );
});

it.skipIf(!canMeasureMemory)(
  'and the memory of the service is what it was, or nearly',
  async () => {
    ended.resolve();
    expect(await growth).toBeLessThan(maxGrowth);
  },
);
