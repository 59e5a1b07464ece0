import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll } from 'vitest';

type Asked = { method: string; url: URL; body: Record<string, unknown> | undefined };

/** A service that replies as the tests of a file say, for the operator's tool to talk to. */
export async function fakeService(reply: (asked: Asked) => { status?: number; [field: string]: unknown }) {
  const server = createServer(async (request, response) => {
    const { method = '', url = '' } = request;
    const sent = await text(request);
    const body = sent ? JSON.parse(sent) : undefined;
    const { status = 200, ...envelope } = reply({ method, url: new URL(url, 'http://service'), body });
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ status, message: 'Try again', ...envelope }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  afterAll(() => void server.close());
  const { port } = server.address() as AddressInfo; // it listens on a port
  return { baseUrl: `http://127.0.0.1:${port}`, operatorKey: 'key' };
}
