import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll } from 'vitest';

type Asked = {
  method: string;
  url: URL;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown> | undefined;
};

type Reply = { status?: number; headers?: { [name: string]: string }; [field: string]: unknown };

/** A service that replies as the tests of a file say, for the operator's tool to talk to. */
export async function fakeService(reply: (asked: Asked) => Reply) {
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const sent = await text(request);
    const body = sent ? JSON.parse(sent) : undefined;
    const asked = { method, url: new URL(url, 'http://service'), headers, body };
    const { status = 200, headers: more, ...envelope } = reply(asked);
    response.writeHead(status, { 'content-type': 'application/json', ...more });
    response.end(JSON.stringify({ status, message: 'Try again', ...envelope }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  afterAll(() => void server.close());
  const { port } = server.address() as AddressInfo; // it listens on a port
  return { baseUrl: `http://127.0.0.1:${port}`, operatorKey: 'key' };
}
