import { beforeAll, describe, expect, it } from 'vitest';
import { call, webhookBody, worldBefore } from '../../support/world.ts';

const us = worldBefore(beforeAll);
let headers: Record<string, string>;
beforeAll(async () => {
  headers = { 'x-api-key': us.apiToken };
});
const post = (body: string | Uint8Array, more: Record<string, string> = {}) =>
  call('POST', '/webhook', { headers: { ...headers, ...more }, body });

describe('a request', () => {
  it('to no route is 404, with a request id in body and header', async () => {
    const reply = await call('GET', '/nothing', { headers });
    expect(reply).toMatchObject({ status: 404, message: 'Not found' });
    expect(reply.requestId).toBe(reply.headers.get('x-request-id'));
  });

  it('by a method that the path does not have is 405 and says which it has', async () => {
    const reply = await call('POST', '/webhooks', { headers, body: {} });
    expect(reply.status).toBe(405);
    expect(reply.headers.get('allow')).toBe('GET, HEAD');
    const other = await call('GET', '/webhook/abc', { headers });
    expect(other.headers.get('allow')).toBe('PUT, DELETE');
  });

  it('with a body that is not declared as JSON is 415', async () => {
    expect((await post('{}', { 'content-type': 'text/plain' })).status).toBe(415);
  });

  it.each([
    ['an empty body', '', 'Request body is not valid JSON'],
    ['half a body', '{"url":', 'Request body is not valid JSON'],
    ['a list', '[]', "Invalid URL, must use 'https'"],
    ['a number', '5', 'Request body must be an object'],
    ['null', 'null', 'Request body must be an object'],
    ['deep nesting', '['.repeat(60_000), 'Request body is not valid JSON'],
    ['deep nesting that closes', '['.repeat(30_000) + ']'.repeat(30_000), "Invalid URL, must use 'https'"],
  ])('with %s is 400', async (_, body, message) => {
    expect(await post(body)).toMatchObject({ status: 400, message });
  });

  it('with bytes that are no UTF-8 is 400', async () => {
    const reply = await post(new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]));
    expect(reply).toMatchObject({ status: 400, message: 'Request body is not valid UTF-8' });
  });

  it('with more than 64 KiB for a webhook is 413', async () => {
    const reply = await post(JSON.stringify({ url: 'x'.repeat(70_000) }));
    expect(reply).toMatchObject({ status: 413, message: 'Request body is larger than 64 KiB' });
  });

  it('with 1 MiB of nesting to /ingest is refused, not broken', async () => {
    const nesting = '['.repeat(500_000) + ']'.repeat(500_000);
    const reply = await call('POST', '/ingest', {
      headers: { 'x-api-key': us.connection.ingestKey },
      body: `{"records":[${nesting}]}`,
    });
    expect(reply.status).toBe(200);
    expect(reply.data).toMatchObject({ accepted: 0, rejected: [{ index: 0 }] });
  });

  it('with more than 20 errors gets the first 20', async () => {
    const reply = await post(JSON.stringify(webhookBody(us, { connectionIds: Array(21).fill('x') })));
    expect(reply.errors).toHaveLength(20);
  });

  it('never sees its own values in an error', async () => {
    const secret = 'do-not-echo-me';
    const reply = await post(JSON.stringify({ httpVerb: secret, url: secret, headers: { [secret]: 5 } }));
    expect(reply.status).toBe(400);
    expect(JSON.stringify(reply)).not.toContain(secret);
  });
});
