import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Certificates } from './certificates.ts';

/** One delivery as a receiver got it. */
export type Received = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: { timestamp: string; type: number; data: Record<string, unknown> };
};

/**
 * Listens for deliveries over HTTPS on this machine and hands each to `got`, which may answer it; otherwise,
 * once `got` is done, it is answered 204. Answers the receiver's base URL and how to stop it.
 */
export function startReceiver(
  { certFile, keyFile }: Certificates,
  port: number,
  got: (received: Received, response: ServerResponse) => unknown,
): Promise<{ url: string; stop: () => void }> {
  const options = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
  const server = createServer(options, async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const { method = '', url: path = '', headers } = request;
    await got({ method, path, headers, body: JSON.parse(text) }, response);
    if (!response.writableEnded && !response.headersSent) response.writeHead(204).end();
  });
  return new Promise((done, fail) => {
    server.on('error', fail);
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      const bound = typeof address === 'object' && address ? address.port : port;
      const stop = () => {
        server.close();
        server.closeAllConnections();
      };
      done({ url: `https://localhost:${bound}`, stop });
    });
  });
}
