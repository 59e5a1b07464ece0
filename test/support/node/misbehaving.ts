import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';

/** What the first attempt at a receiver may come to, and whether the delivery has then arrived. */
export type Expected = { result: string | string[]; status?: number };

/** A receiver that gets the request's head, or `early` only the connection, and then has the socket to itself. */
export type Misbehaviour = { does: (socket: Socket) => void; leads: Expected; early?: true };

const success = (status = 200): Expected => ({ result: 'success', status });
const broken: Expected = { result: ['connection', 'tls'] };
const timeout: Expected = { result: 'timeout' };

const head = (...lines: string[]): string => `${lines.join('\r\n')}\r\n\r\n`;
const ok = (...headers: string[]): string => head('HTTP/1.1 200 OK', ...headers);

/** Writes `text` a byte at a time, `everyMs`. */
function drip(socket: Socket, text: string, everyMs: number): void {
  let at = 0;
  const timer = setInterval(() => {
    if (at < text.length && !socket.destroyed) socket.write(text.charAt(at++));
    else clearInterval(timer);
  }, everyMs);
}

/** Writes `block` as often as the other side takes it, up to `count` times, and then `last`. */
function pour(socket: Socket, block: Buffer, count = Number.POSITIVE_INFINITY, last = ''): void {
  let left = count;
  const more = () => {
    while (!socket.destroyed && left-- > 0) if (!socket.write(block)) return socket.once('drain', more);
    return socket.end(last);
  };
  more();
}

const megabyte = Buffer.alloc(2 ** 20, 'a');
const chunkOf = (data: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')]);

/** Ways in which a receiver behind a good certificate misbehaves once it has the request. */
export const misbehaviours: Record<string, Misbehaviour> = {
  'answers byte by byte': {
    does: (socket) => drip(socket, `${ok('Content-Length: 2')}ok`, 5),
    leads: success(),
  },
  'never ends its headers, byte by byte': {
    does: (socket) => drip(socket, `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(10_000)}`, 100),
    leads: timeout,
  },
  'sends 4 MB of headers': {
    does: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      pour(socket, Buffer.from(`X-Huge: ${'a'.repeat(1000)}\r\n`), 4000, '\r\n');
    },
    leads: broken,
  },
  'sends headers without end': {
    does: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX: ');
      pour(socket, megabyte);
    },
    leads: broken,
  },
  'sends a body without end': {
    does: (socket) => {
      socket.write(ok('Transfer-Encoding: chunked'));
      pour(socket, chunkOf(megabyte));
    },
    leads: success(),
  },
  'sends a gzip bomb': {
    does: (socket) => {
      const bomb = gzipSync(Buffer.alloc(100 * 2 ** 20));
      socket.end(
        Buffer.concat([Buffer.from(ok('Content-Encoding: gzip', `Content-Length: ${bomb.length}`)), bomb]),
      );
    },
    leads: success(),
  },
  'says 100 Continue first': {
    does: (socket) => socket.end(head('HTTP/1.1 100 Continue') + ok('Content-Length: 0')),
    leads: success(),
  },
  'answers twice': {
    does: (socket) => socket.end(ok('Content-Length: 0') + head('HTTP/1.1 500 Oh', 'Content-Length: 0')),
    leads: success(),
  },
  'sends a body with its 204': {
    does: (socket) => socket.end(`${head('HTTP/1.1 204 No Content')}but there is some`),
    leads: success(204),
  },
  'sends NUL and escape characters': {
    does: (socket) => socket.end(`${ok('Content-Length: 9')}\0\u001b[2J\r\nhi`),
    leads: success(),
  },
  'redirects to itself': {
    does: (socket) => socket.end(head('HTTP/1.1 302 Found', 'Location: /', 'Content-Length: 0')),
    leads: { result: 'redirect', status: 302 },
  },
  'has a status that nobody knows': {
    does: (socket) => socket.end(head('HTTP/1.1 599 Whatever', 'Content-Length: 0')),
    leads: { result: 'status', status: 599 },
  },
  'speaks another protocol': {
    does: (socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'),
    leads: broken,
  },
  'closes before it has the request': { does: (socket) => socket.destroy(), leads: broken, early: true },
  'answers before it has the request, and closes': {
    does: (socket) => socket.end(ok('Content-Length: 0')),
    leads: { result: ['success', 'connection'] },
    early: true,
  },
  'closes in its headers': {
    does: (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-'),
    leads: broken,
  },
};

/** Ways in which a receiver's body goes wrong once its status is known: the status decides. */
export const spoiltBodies: Record<string, Misbehaviour> = {
  'answers 200 and sends its body byte by byte': {
    does: (socket) => drip(socket, ok('Content-Length: 1000') + 'a'.repeat(1000), 50),
    leads: success(),
  },
  'closes in the body of a 200': {
    does: (socket) => socket.end(`${ok('Content-Length: 100')}half`),
    leads: success(),
  },
  'closes in the body of a 500': {
    does: (socket) => socket.end(`${head('HTTP/1.1 500 Oh', 'Content-Length: 100')}half`),
    leads: { result: 'status', status: 500 },
  },
  'closes between the chunks of a 200': {
    does: (socket) => socket.end(`${ok('Transfer-Encoding: chunked')}4\r\nhalf\r\n`),
    leads: success(),
  },
  'sends broken gzip with its 200': {
    does: (socket) => socket.end(`${ok('Content-Encoding: gzip', 'Content-Length: 11')}not at all.`),
    leads: success(),
  },
  'sends broken gzip with its 500': {
    does: (socket) =>
      socket.end(`${head('HTTP/1.1 500 Oh', 'Content-Encoding: gzip', 'Content-Length: 11')}not at all.`),
    leads: { result: 'status', status: 500 },
  },
};

/** Ways in which it fails before there is a request, by what it does with a TCP connection. */
export const rudeServers: Record<string, { does: (socket: Socket) => void; leads: Expected }> = {
  'closes at once': { does: (socket) => socket.destroy(), leads: broken },
  'never begins TLS': { does: () => {}, leads: timeout },
  'answers in plain HTTP': { does: (socket) => socket.end(ok('Content-Length: 0')), leads: broken },
};

/** A server of the above, its port, and how to end it with all its connections. */
export type RawServer = { port: number; stop: () => void };

type Pair = { cert: string; key: string };

/** Serves over TLS: reads the head of each request, unless it is `early`, and gives `handle` its path and the socket. */
export const serveTls = (
  pair: Pair,
  handle: (path: string, socket: Socket) => void,
  early = false,
): Promise<RawServer> =>
  serve(createTlsServer(pair), 'secureConnection', (socket) => {
    if (early) {
      socket.resume();
      return handle('', socket);
    }
    let text = '';
    const read = (data: Buffer) => {
      text += data.toString('latin1');
      if (!text.includes('\r\n\r\n')) return;
      socket.off('data', read);
      socket.resume();
      handle(decodeURIComponent(text.split(' ')[1]?.slice(1) ?? ''), socket);
    };
    socket.on('data', read);
  });

/** Serves plain TCP. */
export const serveTcp = (handle: (socket: Socket) => void): Promise<RawServer> =>
  serve(createTcpServer(), 'connection', handle);

async function serve(server: Server, event: string, handle: (socket: Socket) => void): Promise<RawServer> {
  const open = new Set<Socket>();
  server.on(event, (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    handle(socket);
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
  const { port } = server.address() as AddressInfo; // it listens on a port
  const stop = () => {
    server.close();
    for (const socket of open) socket.destroy();
  };
  return { port, stop };
}
