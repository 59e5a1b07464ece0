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

const foreign = { origin: 'https://evil.example' };

it.each<Record<string, string>>([
  {},
  foreign,
  { origin: 'null' },
  { origin: origin.replace('https', 'http') },
  { origin: `${origin}.evil.example` },
  { 'sec-fetch-site': 'same-site' },
  { origin, 'sec-fetch-site': 'cross-site' },
  { ...foreign, 'sec-fetch-site': 'same-origin' },
])('a form is refused when it comes with %o, whatever type it says it has', async (headers) => {
  for (const type of [undefined, 'application/x-www-form-urlencoded', 'text/plain', 'application/json']) {
    const reply = await post(
      { ...headers, ...(type && { 'content-type': type }) },
      new Blob(['name=forged']),
    );
    expect(reply.status).toBe(403);
    expect(await reply.text()).toContain('Form refused');
  }
});

it.each<Record<string, string>>([
  { origin },
  { 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'none' },
])('a form is taken when it comes with %o', async (headers) => {
  expect((await post(headers, new URLSearchParams({ name: 'ours', expires: '' }))).status).toBe(303);
});

it('the API, which no browser authenticates to by itself, is not concerned', async () => {
  expect((await as(apiToken, foreign).get('/webhooks')).status).toBe(200);
});
