import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { apiFor, credentials, granted, listed } from '../../../src/cli/deploy/api.ts';
import type { Wrangler } from '../../../src/cli/deploy/wrangler.ts';

let answer: (request: IncomingMessage, response: ServerResponse) => void;
const server = createServer((request, response) => answer(request, response));
beforeEach(async () => {
  await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
  vi.stubEnv('CLOUDFLARE_API_TOKEN', '');
  vi.stubEnv('CLOUDFLARE_API_BASE_URL', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  await new Promise((down) => server.close(down));
});

const api = (signedIn = {}) => apiFor('a1', signedIn);
const says = (status: number, body: unknown) => (_: IncomingMessage, response: ServerResponse) =>
  response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
const wranglerWith =
  (output: object): Wrangler =>
  async () => ({ ok: true, out: JSON.stringify(output), text: '' });

it('whoever wrangler is signed in as calls the API', async () => {
  let seen: IncomingMessage | undefined;
  answer = (request, response) => {
    seen = request;
    says(200, { result: 1, errors: [] })(request, response);
  };
  for (const [output, headers] of [
    [{ type: 'oauth', token: 't' }, { authorization: 'Bearer t' }],
    [{ env: 't' }, { authorization: 'Bearer t' }],
  ] as const) {
    if ('env' in output) vi.stubEnv('CLOUDFLARE_API_TOKEN', output.env);
    await apiFor('a1', await credentials(wranglerWith(output)))('/queues');
    expect(seen?.headers).toMatchObject(headers);
    expect(seen?.url).toBe('/accounts/a1/queues');
  }
});

it('whoever is not signed in learns how to sign in', async () => {
  const wrangler: Wrangler = async () => ({ ok: false, out: '', text: '[ERROR] Not logged in. Please run' });
  await expect(credentials(wrangler)).rejects.toThrow(
    'Run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN',
  );
});

it('a list comes in as many pages as it has', async () => {
  const pages: string[] = [];
  answer = (request, response) => {
    pages.push(request.url ?? '');
    const result = Array.from({ length: pages.length < 3 ? 100 : 7 }, (_, i) => i);
    says(200, { result, errors: [] })(request, response);
  };
  expect(await listed(api(), 'Listing', '/things', v.number())).toHaveLength(207);
  expect(pages.at(-1)).toBe('/accounts/a1/things?per_page=100&page=3');
});

describe('a call that fails', () => {
  const failure = (reply: typeof answer) => {
    answer = reply;
    return granted('Creating it', v.unknown(), api()('/x', { method: 'POST', body: {} }));
  };

  it.each([
    [
      'says why',
      400,
      { result: null, errors: [{ code: 7, message: 'Too many' }] },
      'Creating it failed: Too many [code: 7]. Fix that',
    ],
    [
      'asks for permission',
      403,
      { result: null, errors: [{ code: 10000, message: 'Authentication error' }] },
      'Give the API token the permissions',
    ],
    [
      'is distinguished from a page',
      502,
      '<html>Bad gateway</html>',
      'Creating it failed: Cloudflare replied with HTTP 502.',
    ],
  ])('%s', async (_, status, body, words) => {
    await expect(failure(says(status, body))).rejects.toThrow(words);
  });

  it('says what is not as expected in a reply', async () => {
    answer = says(200, { result: { name: 1 }, errors: [] });
    await expect(granted('Looking', v.object({ name: v.string() }), api()('/x'))).rejects.toThrow(
      "Looking failed: Cloudflare's reply is not what was expected, name.",
    );
  });

  it('says so when nobody responds', async () => {
    await expect(failure((request) => void request.destroy())).rejects.toThrow(
      /^Creating it failed: Cloudflare did not respond: .+\. Fix that, or wait a moment, and run it again/,
    );
  });
});
