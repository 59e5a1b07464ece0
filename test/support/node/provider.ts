import { once } from 'node:events';
import { createServer } from 'node:http';
import { servedBy } from '#src/cli/local/receiver.ts';

/** Serves a fake of a provider over HTTP on this machine, on any free port. */
export async function startProvider(serve: (request: Request) => Response | Promise<Response>) {
  const server = createServer(servedBy(serve));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    server,
    url: `http://localhost:${port}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
