import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';

export type Expected = { result: string; status?: number };

/** What a receiver does with its socket, and what that leads to. */
type Misbehaviour = { does: (socket: Socket) => void; leads: Expected };

const success: Expected = { result: 'success', status: 200 };
const broken: Expected = { result: 'connection' };
const timeout: Expected = { result: 'timeout' };

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
export const misbehaviours: Record<string, Misbehaviour> = {
  'never ends its headers, byte by byte': {
    does: (socket) => drip(socket, `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(10_000)}`, 100),
    leads: timeout,
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
      pour(socket, chunk);
    },
    leads: success,
  },
  'sends a gzip bomb': {
    does: (socket) => {
      const bomb = gzipSync(Buffer.alloc(100 * 2 ** 20));
      socket.write(ok('Content-Encoding: gzip', `Content-Length: ${bomb.length}`));
      socket.end(bomb);
    },
    leads: success,
  },
  'redirects to itself': {
    does: (socket) =>
      socket.end(head('HTTP/1.1 307 Temporary Redirect', 'Location: /', 'Connection: close')),
    leads: { result: 'redirect', status: 307 },
  },
  'speaks another protocol': {
    does: (socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'),
    leads: broken,
  },
  'closes in its headers': {
    does: (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-'),
    leads: broken,
  },
  'closes in the body of a 200': {
    does: (socket) => socket.end(`${ok('Content-Length: 100')}half`),
    leads: success,
  },
  'sends broken gzip with its 500': {
    does: (socket) =>
      socket.end(
        `${head('HTTP/1.1 500 Oh', 'Content-Encoding: gzip', 'Content-Length: 11')}not at all.`,
      ),
    leads: { result: 'status', status: 500 },
  },
};

/** Ways in which it fails before there is a request, by what it does with a TCP connection. */
export const rudeServers: Record<string, Misbehaviour> = {
  'closes at once': { does: (socket) => socket.destroy(), leads: broken },
  'never begins TLS': { does: () => {}, leads: timeout },
};

/** A server of the above, its port, and how to end it with all its connections. */
export type RawServer = { port: number; stop: () => void };

/** Serves over TLS: gives `handle` the socket, and the head of each request. */
export const serveTls = (
  pair: { cert: string; key: string },
  handle: (socket: Socket, request: string) => void,
): Promise<RawServer> =>
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

export const serveTcp = (handle: (socket: Socket) => void): Promise<RawServer> =>
  serve(createTcpServer(), 'connection', handle);

async function serve(
  server: Server,
  event: string,
  handle: (socket: Socket) => void,
): Promise<RawServer> {
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
