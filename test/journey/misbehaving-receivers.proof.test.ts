// @module-tag proof
// More than 15 s: receivers that time out take the runtime's 15 s.
import { once } from 'node:events';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { type Certificates, certificates } from '#src/cli/local/certificates.ts';
import { freePort } from '#src/cli/local/dev.ts';
import type { Delivery } from '#src/extras/delivery-log/operations.ts';
import {
  type JourneyAccount,
  journeyAccount,
  operatorOf,
  ownStack,
  readText,
  safetyEvent,
  temporaryFolder,
  until,
  vehicle,
} from '#test/support/node/index.ts';
import { canMeasureMemory, memoryOf } from '#test/support/node/memory.ts';

/** What a receiver does with its socket, and the outcome that leads to. */
type Misbehaviour = [does: (socket: Socket) => void, outcome: object];

const success = { result: 'success', status: 200 };
const broken = { result: 'connection' };
const timeout = { result: 'timeout' };

const head = (...lines: string[]): string => `${lines.join('\r\n')}\r\n\r\n`;
const ok = (...headers: string[]): string => head('HTTP/1.1 200 OK', ...headers);

function drip(socket: Socket, text: string, everyMs: number): void {
  let at = 0;
  const timer = setInterval(() => {
    if (at < text.length && !socket.destroyed) socket.write(text.charAt(at++));
    else clearInterval(timer);
  }, everyMs);
}

/** Writes `block` as often as the other side takes it. */
function pour(socket: Socket, block: Buffer): void {
  while (!socket.destroyed)
    if (!socket.write(block)) return void socket.once('drain', () => pour(socket, block));
}

const megabyte = Buffer.alloc(2 ** 20, 'a');
const chunk = Buffer.concat([Buffer.from('100000\r\n'), megabyte, Buffer.from('\r\n')]);

/** Ways in which a receiver behind a good certificate misbehaves once it has the request. */
const misbehaviours: Record<string, Misbehaviour> = {
  'never ends its headers, byte by byte': [
    (socket) => drip(socket, `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(10_000)}`, 100),
    timeout,
  ],
  'sends headers without end': [
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX: ');
      pour(socket, megabyte);
    },
    broken,
  ],
  'sends a body without end': [
    (socket) => {
      socket.write(ok('Transfer-Encoding: chunked'));
      pour(socket, chunk);
    },
    success,
  ],
  'sends a gzip bomb': [
    (socket) => {
      const bomb = gzipSync(Buffer.alloc(100 * 2 ** 20));
      socket.write(ok('Content-Encoding: gzip', `Content-Length: ${bomb.length}`));
      socket.end(bomb);
    },
    success,
  ],
  'redirects to itself': [
    (socket) =>
      socket.end(head('HTTP/1.1 307 Temporary Redirect', 'Location: /', 'Connection: close')),
    { result: 'redirect', status: 307 },
  ],
  'speaks another protocol': [(socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'), broken],
  'closes in its headers': [(socket) => socket.end('HTTP/1.1 200 OK\r\nContent-'), broken],
  'closes in the body of a 200': [
    (socket) => socket.end(`${ok('Content-Length: 100')}half`),
    success,
  ],
  'sends broken gzip with its 500': [
    (socket) =>
      socket.end(
        `${head('HTTP/1.1 500 Oh', 'Content-Encoding: gzip', 'Content-Length: 11')}not at all.`,
      ),
    { result: 'status', status: 500 },
  ],
};

/** Ways in which it fails before there is a request, by what it does with a TCP connection. */
const rudeServers: Record<string, Misbehaviour> = {
  'closes at once': [(socket) => socket.destroy(), broken],
  'never begins TLS': [() => {}, timeout],
};

/** Serves over TLS: gives `handle` the socket, and the head of each request. */
const serveTls = (
  pair: { cert: string; key: string },
  handle: (socket: Socket, request: string) => void,
) =>
  serve(createTlsServer(pair), 'secureConnection', (socket) => {
    let text = '';
    const read = (data: Buffer) => {
      text += data.toString('latin1');
      if (!text.includes('\r\n\r\n')) return;
      socket.off('data', read);
      socket.resume();
      handle(socket, text);
    };
    socket.on('data', read);
  });

const serveTcp = (handle: (socket: Socket) => void) =>
  serve(createTcpServer(), 'connection', handle);

const servers: Server[] = [];
const open = new Set<Socket>();

function stopAll(): void {
  for (const server of servers) server.close();
  for (const socket of open) socket.destroy();
}

/** Starts a server of the above. Returns its port. */
async function serve(server: Server, event: string, handle: (socket: Socket) => void) {
  servers.push(server);
  server.on(event, (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    handle(socket);
  });
  server.on('tlsClientError', () => {});
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  return port;
}

/** More than the runtime may grow by, in MB, whatever its receivers send. */
const maxGrowth = 200;

const stack = ownStack();
const { directory } = stack;
const hooks: Record<string, string> = {};
let us: JourneyAccount;
let growth: Promise<number>;
const ended = Promise.withResolvers<void>();
let healthyCalls = 0;

const pair = ({ certFile, keyFile }: Certificates) => ({
  cert: readText(certFile),
  key: readText(keyFile),
});

beforeAll(async () => {
  const good = pair(stack.certificates);
  const untrusted = pair(await certificates(temporaryFolder())); // of an authority that nobody knows
  us = await journeyAccount(stack);

  const register = async (name: string, port: Promise<number>, changes = {}) => {
    hooks[name] = await us.register(`https://localhost:${await port}/`, changes);
  };
  // Each on a port of its own: what one leaves on a connection must not reach another.
  for (const [name, [does]] of Object.entries(misbehaviours))
    await register(name, serveTls(good, does));
  for (const [name, [does]] of Object.entries(rudeServers)) await register(name, serveTcp(does));
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
  const tokenUrl = `https://localhost:${login}/token`;
  await register('is healthy', healthy, {
    oauth: { tokenUrl, clientId: 'us', clientSecret: 'secret' },
  });
  await register('is not there', freePort());
  const work = async () => {
    await event('first');
    await ended.promise;
    return 0;
  };
  growth = canMeasureMemory ? memoryOf(directory)(work) : work();
  await until('the healthy receiver is called', () => healthyCalls === 1);
});

afterAll(stopAll);

/** Says that it closes the connection: otherwise the next call may be sent on it, and fail. */
const reply = 'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n';

const event = (sourceId: string) => us.send([vehicle(), safetyEvent({ sourceId })]);

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
it.each<[name: string, outcome: { result?: string }]>([
  ...Object.entries({ ...misbehaviours, ...rudeServers }).map(
    ([name, [, outcome]]): [string, object] => [name, outcome],
  ),
  // The local runtime has one word for these; Cloudflare's network has statuses.
  ['has a certificate of nobody', { result: 'connection' }],
  ['is not there', { result: 'connection' }],
])('an attempt at a receiver that %s has the right outcome', async (name, outcome) => {
  const [first] = (await attempted(name))?.log ?? [];
  expect(first).toMatchObject(outcome);
  if (outcome.result === 'timeout') expect(Math.round((first?.durationMs ?? 0) / 1000)).toBe(15);
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
