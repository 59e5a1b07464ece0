import * as v from 'valibot';
import {
  apiAt,
  chooseAccount,
  credentials,
  listed,
  type Wrangler,
} from '#src/cli/project/cloudflare.ts';

const fetching = vi.fn<(url: string, init: RequestInit) => Promise<Response>>();
beforeEach(() => {
  vi.stubGlobal('fetch', fetching);
  for (const name of ['API_TOKEN', 'ACCOUNT_ID']) vi.stubEnv(`CLOUDFLARE_${name}`, '');
});
afterEach(() => void fetching.mockReset());

const api = apiAt('/accounts/a1', {});
const says = (status: number, body: object) =>
  fetching.mockResolvedValueOnce(Response.json({ result: null, errors: [], ...body }, { status }));

it('whoever wrangler is signed in as calls the API', async () => {
  const wrangler: Wrangler = async () => ({
    ok: true,
    out: '{"type":"oauth","token":"t"}',
    text: '',
  });
  expect(await credentials(wrangler)).toEqual({ authorization: 'Bearer t' });
  vi.stubEnv('CLOUDFLARE_API_TOKEN', 'given');
  says(200, { result: 1 });
  const signedIn = await credentials(wrangler);
  expect(await apiAt('/accounts/a1', signedIn)('Asking', v.number(), '/queues')).toBe(1);
  expect(fetching).toHaveBeenCalledWith(
    expect.stringMatching(/\/accounts\/a1\/queues$/),
    expect.objectContaining({ headers: { authorization: 'Bearer given' } }),
  );
});

it('a deploy does not choose among several accounts', async () => {
  const [a, b] = ['a', 'b'].map((letter) => letter.repeat(32));
  const acme = { id: a, name: 'Acme' };
  says(200, { result: [acme] });
  expect(await chooseAccount(api)).toBe(a);
  says(200, { result: [acme, { id: b, name: 'Other' }] });
  await expect(chooseAccount(api)).rejects.toThrow(
    `to the id of one:\n  ${a}  Acme\n  ${b}  Other`,
  );
  vi.stubEnv('CLOUDFLARE_ACCOUNT_ID', b);
  expect(await chooseAccount(api)).toBe(b); // nor asks, as some tokens may not
  expect(fetching).toHaveBeenCalledTimes(2);
});

it('a list comes in as many pages as it has', async () => {
  for (const length of [100, 100, 7]) says(200, { result: Array(length).fill(1) });
  expect(await listed(api, 'Listing', v.number(), '/things?')).toHaveLength(207);
  expect(fetching.mock.lastCall?.[0]).toMatch(/\/things\?per_page=100&page=3$/);
});

describe('a call that fails', () => {
  const creating = (otherwise = {}) =>
    api('Creating it', v.object({ name: v.string() }), '/x', { body: {}, otherwise });
  const error = (code: number, message: string) => ({ errors: [{ code, message }] });
  const tooMany = error(7, 'Too many');

  it.each([
    ['says why', 400, tooMany, 'Creating it failed: Too many [code: 7]. Fix that'],
    ['asks for permission', 403, error(10000, 'No'), 'Give the API token the permissions'],
    ['says what a new account lacks', 404, error(10063, 'No'), 'Open Workers & Pages in'],
    ['is not taken for that of a new account', 404, error(10007, 'No'), '[code: 10007]. Fix that'],
    ['is distinguished from a page', 502, { errors: undefined }, 'replied with HTTP 502.'],
    ['says what is not as expected', 200, { result: { name: 1 } }, 'not what was expected, name.'],
  ])('%s', async (_, status, body, words) => {
    says(status, body);
    await expect(creating()).rejects.toThrow(words);
  });

  it('may mean something', async () => {
    says(400, tooMany);
    expect(await creating({ 7: { name: 'there' } })).toEqual({ name: 'there' });
  });

  it('says so when nobody responds', async () => {
    const cause = new Error('ECONNRESET');
    fetching.mockRejectedValueOnce(new TypeError('fetch failed', { cause }));
    await expect(creating()).rejects.toThrow('Cloudflare did not respond: ECONNRESET. Fix');
  });
});
