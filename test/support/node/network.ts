import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { generate } from 'selfsigned';
import { servedBy } from '#src/cli/local/receiver.ts';

type Site = { fetch: (request: Request) => Response | Promise<Response> };

/** A network for programs that run with `env`: `site` at `baseUrl`, and `hosts` by https. */
export async function startNetwork(site: Site, hosts: string[], hosted: Site) {
  const altNames = hosts.map((value) => ({ type: 2 as const, value }));
  const pair = await generate([{ name: 'commonName', value: 'a network for tests' }], {
    extensions: [{ name: 'subjectAltName', altNames }],
  });
  const open: Socket[] = [];
  const secure = createSecureServer({ cert: pair.cert, key: pair.private }, servedBy(hosted.fetch));
  const plain = createServer(servedBy(site.fetch));
  const refused: string[] = [];
  plain.on('connect', (request, client: Socket) => {
    const [host = ''] = (request.url ?? '').split(':');
    open.push(client);
    client.on('error', () => {});
    if (!hosts.includes(host)) {
      refused.push(host);
      client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      return;
    }
    const tunnel = connect(portOf(secure), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      tunnel.pipe(client).pipe(tunnel);
    });
    tunnel.on('error', () => client.destroy());
  });
  await Promise.all(
    [secure, plain].map((server) => new Promise<void>((up) => server.listen(0, '127.0.0.1', up))),
  );
  const baseUrl = `http://127.0.0.1:${portOf(plain)}`;
  return {
    baseUrl,
    certificate: pair.cert,
    refused,
    env: { HTTPS_PROXY: baseUrl, HTTP_PROXY: baseUrl, NO_PROXY: '127.0.0.1' },
    close: () => {
      for (const socket of open) socket.destroy();
      secure.close();
      plain.close();
    },
  };
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port; // it listens on a port
