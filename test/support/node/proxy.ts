import { createServer, type ServerResponse } from 'node:http';

/**
 * Stands before the service at `baseUrl` and sees each request's path. What `asked` answers itself is not passed
 * on. Answers the proxy's own base URL, the paths in their order, and how to stop it.
 */
export async function startProxy(
  baseUrl: string,
  asked: (path: string, response: ServerResponse) => boolean,
) {
  const paths: string[] = [];
  const server = createServer(async (request, response) => {
    const path = request.url ?? '';
    paths.push(path);
    if (asked(path, response)) return;
    const { 'x-api-key': token = '', 'connection-id': connection = '' } = request.headers;
    const reply = await fetch(baseUrl + path, {
      headers: { 'x-api-key': String(token), 'Connection-Id': String(connection) },
    });
    response.writeHead(reply.status, { 'Content-Type': 'application/json' }).end(await reply.text());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, paths, stop };
}
