import { env } from 'cloudflare:workers';
import { maxTokenBytes, requestToken } from '#src/extras/oauth/token-endpoint.ts';
import { receiver } from '#test/support/receiver.ts';

const origin = 'https://login.example.com';
const audience = 'https://api.example.com/claims';
const client = {
  tokenUrl: `${origin}/token`,
  clientId: 'fleet data',
  clientSecret: 's3cret:+/of ours-and-longer',
};
const secretParam = 'a:secret+of/another kind';

let asked: number;
let grant: (byBasic: boolean) => Response | Promise<Response>;
beforeEach(() => {
  asked = 0;
  receiver().serves(origin, (request) => {
    asked++;
    return grant(request.headers.has('authorization'));
  });
});
const granted = (access_token: string, more: object = {}) =>
  Response.json({ access_token, token_type: 'Bearer', expires_in: 3600, ...more });
const replying = (status: number, body: string | object) => () =>
  typeof body === 'string' ? new Response(body, { status }) : Response.json(body, { status });
const refused = (status: number, error: string) => replying(status, { error })();
const request = (more: object = {}) =>
  requestToken({ env, userAgent: 'test' }, { ...client, ...more }, Date.now() + 5_000, false);
const problem = async (more: object = {}) =>
  (await request(more)).problem?.replace('token endpoint ', '') ?? '';

it.each([
  ['of a type that Apigee names', { token_type: 'BearerToken' }],
  ['of no type', { token_type: null }],
  ['whose life is text', { expires_in: '3600' }, 3600],
  ['whose life is missing', { expires_in: undefined }, 300],
  ['whose life is 0', { expires_in: 0 }, 300],
  ['whose life is a year', { expires_in: 31_536_000 }, 86_400],
])('a token %s is used', async (_, more, lifeSeconds = 3600) => {
  grant = () => granted('good', more);
  const now = Date.now();
  const token = await request();
  expect(token.value).toBe('good');
  expect(Math.round((token.goodUntil - now) / 1000)).toBeCloseTo(lifeSeconds - 60, -1);
});

it.each([
  ['text/plain', '{"access_token":"good"}\n'],
  ['application/json; charset=utf-8', '\uFEFF{"access_token":"good"}'],
  ['application/x-www-form-urlencoded', 'access_token=good&scope=&token_type=bearer'],
])('a token is found in %s', async (type, body) => {
  grant = () => new Response(body, { headers: { 'content-type': type } });
  expect(await request()).toMatchObject({ value: 'good' });
});

it.each([
  [400, ''],
  [401, ''],
  [403, ''],
  [415, ''],
  [422, ''],
  [200, { error: 'incorrect_client_credentials' }],
])(
  'an endpoint that refuses Basic with %i is asked with the client in the body',
  async (status, says) => {
    grant = (byBasic) => (byBasic ? replying(status, says)() : granted('good'));
    expect(await request()).toMatchObject({ value: 'good' });
  },
);

describe('an endpoint that fails', () => {
  it('for another reason than the way that the client is sent is asked once', async () => {
    grant = replying(500, '');
    expect(await request()).toHaveProperty('problem');
    expect(asked).toBe(1);
  });

  const twice =
    'responded 401: invalid_client; with the client in the body it responded 400: invalid_scope';
  const described = { error: 'invalid_request', error_description: 'AADSTS900144:\r\nThe body.' };
  const target = { error: 'invalid_target', error_description: `unknown ${audience}` };
  const page = '<html><head><title>404 Not Found</title>';
  const words = { fault: { faultstring: 'Invalid client', refreshToken: 'mine' } };
  it.each<[says: string | RegExp, fails: typeof grant]>([
    ['responded 400: invalid_request: AADSTS900144: The body', replying(400, described)],
    [
      twice,
      (byBasic) => refused(byBasic ? 401 : 400, byBasic ? 'invalid_client' : 'invalid_scope'),
    ],
    ['responded 500: {"fault":{"faultstring":"Invalid client"}}', replying(500, words)],
    ['responded 404: 404 Not Found', replying(404, page)],
    [/^responded 500: (no ){99}no$/, replying(500, 'no '.repeat(999))],
    [`responded 400: invalid_target: unknown ${audience}`, replying(400, target)],
    [
      'responded 302: to https://other.example.com/',
      () => Response.redirect('https://other.example.com/?x=1'),
    ],
    ['responded 200: no access_token', () => granted('x'.repeat(maxTokenBytes))],
    ['responded 200: no access_token, but accessToken', replying(200, { accessToken: 'mine' })],
    [
      'responded 200: a token of type DPoP, which is no bearer token',
      () => granted('x', { token_type: 'DPoP' }),
    ],
    ['responded 200: an access_token that no header can hold', () => granted('a\r\nb')],
    ['cannot be reached', () => Promise.reject(new Error('connect refused'))],
    ['did not respond in time', () => Promise.reject(new DOMException('late', 'TimeoutError'))],
  ])('is quoted: “%s”', async (says, fails) => {
    grant = fails;
    const reason = await problem();
    expect(reason).toEqual(typeof says === 'string' ? says : expect.stringMatching(says));
    expect(reason).not.toContain('mine');
  });

  it.each([
    ['itself', (secret: string) => secret],
    ['in a form', (secret: string) => new URLSearchParams({ secret }).toString()],
    [
      'in HTML',
      (secret: string) => `<p>${secret.replace(/\W/g, (c) => `&#${c.charCodeAt(0)};`)}</p>`,
    ],
    [
      'with escapes',
      (secret: string) => secret.replace(/\W/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`),
    ],
    ['in base64', btoa],
    ['as HTTP Basic', () => `Basic ${btoa('fleet+data:s3cret%3A%2B%2Fof+ours-and-longer')}`],
    ['cut', (secret: string) => secret.slice(0, -8)],
    ['in capitals', (secret: string) => secret.toUpperCase()],
    ['that is a parameter, encoded', () => encodeURIComponent(secretParam)],
    ['that is a token', () => `eyJhbGciOiJIUzI1NiJ9.${'Zm9v'.repeat(20)}.${'YmFy'.repeat(20)}`],
  ])('does not repeat a secret %s', async (_, repeated) => {
    const text = repeated(client.clientSecret);
    grant = replying(401, { error: 'invalid_client', error_description: `We got ${text}.` });
    const reason = await problem({ params: { audience, pin: secretParam } });
    expect(reason).toMatch(/^responded 401: invalid_client: /);
    for (const part of [text.slice(0, 12), text.slice(-12)]) expect(reason).not.toContain(part);
  });
});
