import { fleet, startFleet } from './journey.ts';
import { startProvider } from './provider.ts';

type Asked = {
  method: string;
  url: URL;
  headers: Headers;
  body: { [name: string]: unknown } | undefined;
};
type Reply = { status?: number; headers?: { [name: string]: string }; [field: string]: unknown };

/** A service that replies as the tests of a file say. Returns the operator's tool, which talks to it. */
export async function fakeService(reply: (asked: Asked) => Reply) {
  const server = await startProvider(async (request) => {
    const { method, url, headers } = request;
    const sent = await request.text();
    const asked = { method, url: new URL(url), headers, body: sent ? JSON.parse(sent) : undefined };
    const { status = 200, headers: own = {}, ...envelope } = reply(asked);
    const body = { status, message: 'Try again', ...envelope };
    return Response.json(body, { status, headers: own });
  });
  afterAll(server.stop);
  const service = { baseUrl: server.url, operatorKey: 'key' };
  return {
    ...service,
    fleet: (words: string, ...args: string[]) => fleet(service, words, ...args),
    /** In a process of its own. */
    start: (words: string, ...args: string[]) => startFleet(service, words, ...args),
  };
}
