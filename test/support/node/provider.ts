import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';

/** Serves a fake of a provider over HTTP on this machine, on any free port. */
export async function startProvider(serve: (request: Request) => Promise<Response>) {
  const server = createServer(async (incoming, reply) => {
    const response = await serve(asRequest(incoming));
    reply.writeHead(response.status, Object.fromEntries(response.headers));
    reply.end(Buffer.from(await response.arrayBuffer()));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `http://localhost:${port}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Without a body: fakes that take one read it elsewhere. */
const asRequest = ({ url = '/', method = 'GET', headers }: IncomingMessage): Request =>
  new Request(`http://localhost${url}`, { method, headers: headers as Record<string, string> }); // none repeats
