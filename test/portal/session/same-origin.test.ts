import { exports } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { origin, signIn } from '../../support/portal.ts';
import { as, world } from '../../support/world.ts';

let cookie: string;
let apiToken: string;
beforeAll(async () => {
  const us = await world();
  cookie = (await signIn(us)).cookie;
  apiToken = us.apiToken;
});

const post = (headers: Record<string, string>, body: BodyInit = 'name=forged') =>
  exports.default.fetch(
    new Request(`${origin}/portal/settings/tokens`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie, ...headers },
      body,
    }),
  );

const formType = 'application/x-www-form-urlencoded';
const foreign = { origin: 'https://evil.example' };

it.each([
  { 'content-type': formType },
  { ...foreign, 'content-type': formType },
  ...['multipart/form-data; boundary=x', 'text/plain', 'application/json'].map((type) => ({
    ...{ ...foreign, 'content-type': type },
  })),
  foreign,
  { origin: 'null' },
  { origin: origin.replace('https', 'http') },
  { origin: `${origin}.evil.example` },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { origin, 'sec-fetch-site': 'cross-site' },
  { ...foreign, 'sec-fetch-site': 'same-origin' },
] as Record<string, string>[])('a form is refused when it comes with %o', async (headers) => {
  const reply = await post(headers, new Blob(['name=forged']));
  expect(reply.status).toBe(403);
  expect(await reply.text()).toContain('Form refused');
});

it.each([{ origin }, { 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'none' }] as Record<
  string,
  string
>[])('a form is taken when it comes with %o', async (headers) => {
  const form = new URLSearchParams({ name: 'ours', expires: '' });
  const reply = await post({ 'content-type': formType, ...headers }, `${form}`);
  expect(reply.status).toBe(200);
});

it('the API, which no browser authenticates to by itself, is not concerned', async () => {
  expect((await as(apiToken, { origin: 'https://evil.example' }).get('/webhooks')).status).toBe(200);
});
