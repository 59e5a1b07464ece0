import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders, RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer, json } from 'node:stream/consumers';
import { ACCIDENT } from '../../core/webhooks/notifications/types.ts';
import type { Certificates } from './certificates.ts';

/** A local HTTPS server: its base URL, without a slash at the end, and how to stop it. */
export type Listening = { url: string; stop: () => void };

export type Received = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: { timestamp: string; type: number; data: { [field: string]: unknown } };
};

/** Passes each delivery to `got`, which may respond; or a 204 does. What is not JSON gets a 400. */
export function startReceiver(
  certificates: Certificates,
  port: number,
  got: (received: Received, response: ServerResponse) => unknown,
): Promise<Listening> {
  return listen(certificates, port, async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    const body = (await json(request).catch(() => undefined)) as Received['body'] | undefined; // as we send it
    if (body === undefined) return void response.writeHead(400).end();
    await got({ method, path, headers, body }, response);
    if (!response.writableEnded && !response.headersSent) response.writeHead(204).end();
  });
}

/** A delivery in a line. What others send, such as a team channel, is shown as it is. */
export function lineOf({ method, headers, body }: Received): string {
  if (typeof body?.timestamp !== 'string' || !body.data)
    return `  ${method}  ${JSON.stringify(body).slice(0, 500)}`;
  const { timestamp, type, data } = body;
  const what =
    type === ACCIDENT
      ? `ACCIDENT level ${data.notificationLevel}  ${data.tSP}  VIN ${data.vin}`
      : `event    risk ${data.eventRisk}   ${data.translatedIncidentTypes}  ${data.vehicleName}`;
  const time = timestamp.slice(11, 19);
  return `  ${time}  ${method}  ${what}  (Delivery-Id ${headers['delivery-id']})`;
}

/** A server whose requests `serve` handles. */
export const servedBy =
  (serve: (request: Request) => Response | Promise<Response>): RequestListener =>
  async (incoming, reply) => {
    const { url = '/', method = 'GET', headers } = incoming;
    const body = await buffer(incoming);
    const response = await serve(
      new Request(new URL(url, `http://${headers.host}`), {
        method,
        headers: Object.entries(headers).map(([name, value]): [string, string] => [
          name,
          String(value),
        ]),
        ...(body.length > 0 && { body }),
      }),
    );
    reply
      .writeHead(response.status, Object.fromEntries(response.headers))
      .end(await response.bytes());
  };

/** Listens over HTTPS, and passes each request to `handle` as soon as its headers are in. */
export async function listen(
  { certFile, keyFile }: Certificates,
  port: number,
  handle: RequestListener,
): Promise<Listening> {
  const server = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, handle);
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const { port: bound } = server.address() as AddressInfo; // of a TCP server
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `https://localhost:${bound}`, stop };
}
