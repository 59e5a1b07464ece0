import { startProvider } from './provider.ts';

type Asked = {
  method: string;
  url: URL;
  headers: Headers;
  body: Record<string, unknown> | undefined;
};

type Reply = { status?: number; headers?: { [name: string]: string }; [field: string]: unknown };

/** A service that replies as the tests of a file say, for the operator's tool to talk to. */
export async function fakeService(reply: (asked: Asked) => Reply) {
  const server = await startProvider(async (request) => {
    const { method, url, headers } = request;
    const sent = await request.text();
    const body = sent ? JSON.parse(sent) : undefined;
    const {
      status = 200,
      headers: more,
      ...envelope
    } = reply({ method, url: new URL(url), headers, body });
    return Response.json(
      { status, message: 'Try again', ...envelope },
      { status, headers: more ?? {} },
    );
  });
  afterAll(server.stop);
  return { baseUrl: server.url, operatorKey: 'key' };
}
