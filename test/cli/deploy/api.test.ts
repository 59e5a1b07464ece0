import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { apiFor, credentials, granted, listed } from '../../../src/cli/deploy/api.ts';
import type { Wrangler } from '../../../src/cli/deploy/wrangler.ts';

const fetching = vi.fn<(url: string, init: RequestInit) => Promise<Response>>();
beforeEach(() => {
  vi.stubGlobal('fetch', fetching);
  vi.stubEnv('CLOUDFLARE_API_TOKEN', '');
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  fetching.mockReset();
});

const api = apiFor('a1', {});
const says = (status: number, body: object) =>
  fetching.mockResolvedValueOnce(Response.json(body, { status }));

it('whoever wrangler is signed in as calls the API', async () => {
  const wrangler: Wrangler = async () => ({ ok: true, out: '{"type":"oauth","token":"t"}', text: '' });
  expect(await credentials(wrangler)).toEqual({ authorization: 'Bearer t' });
  vi.stubEnv('CLOUDFLARE_API_TOKEN', 'given');
  says(200, { result: 1, errors: [] });
  await apiFor('a1', await credentials(wrangler))('/queues');
  expect(fetching).toHaveBeenCalledWith(
    expect.stringMatching(/\/accounts\/a1\/queues$/),
    expect.objectContaining({ headers: { authorization: 'Bearer given' } }),
  );
});

it('a list comes in as many pages as it has', async () => {
  for (const length of [100, 100, 7]) says(200, { result: Array(length).fill(1), errors: [] });
  expect(await listed(api, 'Listing', '/things', v.number())).toHaveLength(207);
  expect(fetching.mock.lastCall?.[0]).toMatch(/\/things\?per_page=100&page=3$/);
});

describe('a call that fails', () => {
  const creating = () =>
    granted('Creating it', v.object({ name: v.string() }), api('/x', { method: 'POST', body: {} }));

  it.each([
    [
      'says why',
      400,
      { errors: [{ code: 7, message: 'Too many' }] },
      'Creating it failed: Too many [code: 7]. Fix that',
    ],
    [
      'asks for permission',
      403,
      { errors: [{ code: 10000, message: 'Authentication error' }] },
      'Give the API token the permissions',
    ],
    ['is distinguished from a page', 502, {}, 'Creating it failed: Cloudflare replied with HTTP 502.'],
    [
      'says what is not as expected',
      200,
      { result: { name: 1 }, errors: [] },
      "Creating it failed: Cloudflare's reply is not what was expected, name.",
    ],
  ])('%s', async (_, status, body, words) => {
    says(status, { result: null, ...body });
    await expect(creating()).rejects.toThrow(words);
  });

  it('says so when nobody responds', async () => {
    fetching.mockRejectedValueOnce(new TypeError('fetch failed', { cause: new Error('ECONNRESET') }));
    await expect(creating()).rejects.toThrow(
      'Creating it failed: Cloudflare did not respond: ECONNRESET. Fix',
    );
  });
});
