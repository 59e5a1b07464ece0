import { env, exports } from 'cloudflare:workers';
import { as, fetchWith, invalid, worldBefore } from '#test/support.ts';

const us = worldBefore(beforeAll);
const post = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
  as(us.apiToken, headers).post('/webhook', body);
describe('a request', () => {
  it('to no route is 404, with a request id in body and header', async () => {
    const reply = await us.api.get('/nothing');
    expect(reply).toMatchObject({ status: 404, message: 'Not found' });
    expect(reply.requestId).toBe(reply.headers.get('x-request-id'));
  });

  it('by a method that the path does not have is 405 and says which it has', async () => {
    const reply = await us.api.post('/webhooks', {});
    expect(reply.status).toBe(405);
    expect(reply.headers.get('allow')).toBe('GET, HEAD');
    const other = await us.api.patch('/webhook/abc', {});
    expect(other.headers.get('allow')).toBe('GET, HEAD, PUT, DELETE');
  });

  it('with a body that is not declared as JSON is 415', async () => {
    expect((await post('{}', { 'content-type': 'text/plain' })).status).toBe(415);
  });

  describe('with Content-Encoding', () => {
    const body = JSON.stringify({ url: 'http://example.com' });
    const compressed = (
      content: string | Uint8Array<ArrayBuffer>,
      format: 'gzip' | 'deflate' = 'gzip',
    ) =>
      new Response(new Blob([content]).stream().pipeThrough(new CompressionStream(format))).bytes();
    const encoded = (encoding: string, content: string | Uint8Array) =>
      post(content, { 'content-encoding': encoding });
    const isRead = invalid("Invalid URL, must use 'https'");

    it.each(['gzip', 'GZIP', 'x-gzip'])('%s is decompressed', async (encoding) => {
      expect(await encoded(encoding, await compressed(body))).toMatchObject(isRead);
    });

    it('identity is read as it is', async () => {
      expect(await encoded('identity', body)).toMatchObject(isRead);
    });

    it.each(['br', 'deflate', 'gzip, gzip', 'zstd'])(
      '%s is 415, and says what is accepted',
      async (encoding) => {
        const reply = await encoded(encoding, await compressed(body, 'deflate'));
        const message = 'Content-Encoding must be gzip or identity';
        expect(reply).toMatchObject({ status: 415, message });
        expect(reply.headers.get('accept-encoding')).toBe('gzip');
      },
    );

    it('gzip that is none, was cut off, damaged or goes on is 400', async () => {
      const whole = await compressed(body);
      const damaged = whole.with(-6, (whole.at(-6) ?? 0) ^ 1); // in the checksum
      const longer = new Uint8Array([...whole, 0x7b]);
      const refused = invalid('Request body is not valid gzip');
      for (const bad of [body, whole.subarray(0, -3), damaged, longer, new Uint8Array()])
        expect(await encoded('gzip', bad)).toMatchObject(refused);
    });

    it('gzip of more than the limit is 413, read no further than that', async () => {
      const bomb = await compressed(new Uint8Array(32 * 1024 * 1024));
      expect(bomb.byteLength).toBeLessThan(64 * 1024);
      const read = vi.spyOn(Uint8Array.prototype, 'subarray');
      const reply = await encoded('gzip', bomb);
      expect(reply).toMatchObject({ status: 413, message: 'Request body is larger than 64 KiB' });
      const parts = read.mock.calls.filter(([from, to]) => to === (from ?? 0) + 4096);
      expect(parts.length).toBeLessThanOrEqual(2); // of eight; one may be read ahead
    });
  });

  it.each([
    ['an empty body', '', 'Request body is not valid JSON'],
    ['a list', '[]', 'Request body must be an object'],
    ['null', 'null', 'Request body must be an object'],
    ['deep nesting', '['.repeat(60_000), 'Request body is not valid JSON'],
    [
      'deep nesting that closes',
      '['.repeat(30_000) + ']'.repeat(30_000),
      'Request body must be an object',
    ],
  ])('with %s is 400', async (_, body, message) => {
    expect(await post(body)).toMatchObject(invalid(message));
  });

  it('with more than 64 KiB for a webhook is 413', async () => {
    const reply = await post(JSON.stringify({ url: 'x'.repeat(70_000) }));
    expect(reply).toMatchObject({ status: 413, message: 'Request body is larger than 64 KiB' });
  });

  it('with 1 MiB of nesting to /ingest is refused, not broken', async () => {
    const nesting = '['.repeat(500_000) + ']'.repeat(500_000);
    expect(await us.connector.post('/ingest', `{"records":[${nesting}]}`)).toMatchObject({
      status: 200,
      data: { accepted: 0, rejected: [{ index: 0 }] },
    });
  });

  it('never sees its own values in an error', async () => {
    const secret = 'do-not-echo-me';
    const reply = await post(
      JSON.stringify({ httpVerb: secret, url: secret, headers: { [secret]: 5 } }),
    );
    expect(reply.status).toBe(400);
    expect(JSON.stringify(reply)).not.toContain(secret);
  });
});

describe('over http', () => {
  const ask = (path: string, init: RequestInit = {}) =>
    new Request(`http://api.example.com${path}`, {
      headers: { 'x-api-key': us.apiToken },
      redirect: 'manual',
      ...init,
    });

  it.each(['/vehicles', '/webhook', '/ingest', '/operator/accounts', '/health'])(
    'a call of %s is refused, and told that its token may have been read',
    async (path) => {
      const refused = await exports.default.fetch(ask(path));
      const message = 'Use https. A token that was sent over http may have been read: replace it';
      expect([refused.status, await refused.json()]).toMatchObject([403, { message }]);
    },
  );

  it('a page leads to https, a form is refused', async () => {
    const page = await exports.default.fetch(ask('/portal/webhooks?a=b'));
    const secure = 'https://api.example.com/portal/webhooks?a=b';
    expect([page.status, page.headers.get('location')]).toEqual([308, secure]);
    const form = await exports.default.fetch(ask('/portal/sign-in', { method: 'POST' }));
    expect(form.status).toBe(403);
  });

  it('is served where the service itself has no https, as on a machine of developers', async () => {
    const local = { ...env, ORIGIN: 'http://localhost:8787' };
    expect((await fetchWith(local, ask('/webhooks'))).status).toBe(200);
  });

  it('is what browsers are told not to use again', async () => {
    const { headers } = await us.api.get('/webhooks');
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000');
  });
});
