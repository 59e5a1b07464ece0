import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { maxTokenBytes, requestToken } from '../../../../src/webhooks/deliveries/send/token-endpoint.ts';
import { receiver } from '../../../support/receiver.ts';

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
const request = (more: object = {}) => requestToken(env, { ...client, ...more }, Date.now() + 5_000, false);
const problem = async (more: object = {}) =>
  (await request(more)).problem?.reason?.replace('token endpoint ', '') ?? '';

describe('a token', () => {
  it.each([
    ['of a type that Apigee names', { token_type: 'BearerToken' }],
    ['of a type with an underscore', { token_type: 'bearer_token' }],
    ['of a type in capitals', { token_type: 'BEARER' }],
    ['of no type', { token_type: null }],
    ['whose type is missing', { token_type: undefined }],
    ['whose life is text', { expires_in: '3600' }, 3600],
    ['whose life is missing', { expires_in: undefined }, 300],
    ['whose life is 0', { expires_in: 0 }, 300],
    ['whose life is no number', { expires_in: 'never' }, 300],
    ['whose life is a year', { expires_in: 31_536_000 }, 86_400],
  ])('%s is used', async (_, more, lifeSeconds = 3600) => {
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
    ['text/html', 'expires_in=3600&access_token=good\r\n'],
  ])('is found in %s', async (type, body) => {
    grant = () => new Response(body, { headers: { 'content-type': type } });
    expect(await request()).toMatchObject({ value: 'good' });
  });
});

describe('an endpoint that fails', () => {
  it('for another reason than the way that the client is sent is asked once', async () => {
    grant = () => new Response('', { status: 500 });
    expect(await request()).toHaveProperty('problem');
    expect(asked).toBe(1);
  });

  it.each([
    [
      'with an error code',
      () => Response.json({ error: 'invalid_scope' }, { status: 400 }),
      'responded 400: invalid_scope',
    ],
    [
      'with a description',
      () =>
        Response.json(
          { error: 'invalid_request', error_description: 'AADSTS900144:\r\nThe body.' },
          { status: 400 },
        ),
      'responded 400: invalid_request: AADSTS900144: The body',
    ],
    [
      'in two ways',
      (byBasic) =>
        byBasic
          ? Response.json({ error: 'invalid_client' }, { status: 401 })
          : Response.json({ error: 'invalid_scope' }, { status: 400 }),
      'responded 401: invalid_client; with the client in the body it responded 400: invalid_scope',
    ],
    [
      'in its own words',
      () =>
        Response.json({ fault: { faultstring: 'Invalid client', refreshToken: 'mine' } }, { status: 500 }),
      'responded 500: {"fault":{"faultstring":"Invalid client"}}',
    ],
    [
      'with a page',
      () => new Response('<html><head><title>404 Not Found</title>', { status: 404 }),
      'responded 404: 404 Not Found',
    ],
    [
      'with too many words',
      () => new Response('no '.repeat(999), { status: 500 }),
      /^responded 500: (no ){99}no$/,
    ],
    [
      'about the audience',
      () =>
        Response.json({ error: 'invalid_target', error_description: `unknown ${audience}` }, { status: 400 }),
      `responded 400: invalid_target: unknown ${audience}`,
    ],
    [
      'with a redirect',
      () => Response.redirect('https://other.example.com/?x=1'),
      'responded 302: to https://other.example.com/',
    ],
    ['with something else than JSON', () => new Response('<html>'), 'responded 200: no access_token'],
    [
      'with other names',
      () => Response.json({ accessToken: 'mine' }),
      'responded 200: no access_token, but accessToken',
    ],
    [
      'with another type',
      () => granted('x', { token_type: 'DPoP' }),
      'responded 200: a token of type DPoP, which is no bearer token',
    ],
    [
      'with a token that no header can hold',
      () => granted('a\r\nb'),
      'responded 200: an access_token that no header can hold',
    ],
    ['with too much', () => granted('x'.repeat(maxTokenBytes)), 'responded 200: no access_token'],
    ['by not being there', () => Promise.reject(new Error('connect refused')), 'cannot be reached'],
    [
      'by being slow',
      () => Promise.reject(new DOMException('late', 'TimeoutError')),
      'did not respond in time',
    ],
  ] as [string, (byBasic: boolean) => Response | Promise<Response>, string | RegExp][])(
    '%s, is quoted: “%s”',
    async (_, fails, says) => {
      grant = fails;
      const reason = await problem();
      expect(reason).toEqual(typeof says === 'string' ? says : expect.stringMatching(says));
      expect(reason).not.toContain('mine');
    },
  );

  it.each([
    ['itself', (secret: string) => secret],
    ['in a form', (secret: string) => new URLSearchParams({ secret }).toString()],
    ['in HTML', (secret: string) => `<p>${secret.replace(/\W/g, (c) => `&#${c.charCodeAt(0)};`)}</p>`],
    [
      'with escapes',
      (secret: string) => secret.replace(/\W/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`),
    ],
    ['in base64', btoa],
    ['as HTTP Basic', () => `Basic ${btoa('fleet+data:s3cret%3A%2B%2Fof+ours-and-longer')}`],
    ['cut', (secret: string) => secret.slice(0, -8)],
    ['in capitals', (secret: string) => secret.toUpperCase()],
    ['that is a parameter', () => secretParam],
    ['that is a parameter, encoded', () => encodeURIComponent(secretParam)],
    ['that is a token', () => `eyJhbGciOiJIUzI1NiJ9.${'Zm9v'.repeat(20)}.${'YmFy'.repeat(20)}`],
  ])('does not repeat a secret %s', async (_, repeated) => {
    const text = repeated(client.clientSecret);
    grant = () =>
      Response.json({ error: 'invalid_client', error_description: `We got ${text}.` }, { status: 401 });
    const reason = await problem({ params: { audience, pin: secretParam } });
    expect(reason).toMatch(/^responded 401: invalid_client: /);
    for (const part of [text.slice(0, 12), text.slice(-12)]) expect(reason).not.toContain(part);
  });
});
