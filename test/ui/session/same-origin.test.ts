import { exports } from 'cloudflare:workers';
import { as, origin, personBefore, worldBefore } from '#test/support.ts';

const us = worldBefore(beforeAll);
const ann = personBefore(beforeAll, us);

const post = (headers: Record<string, string>) =>
  exports.default.fetch(
    new Request(`${origin}/portal/settings/tokens`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: ann.cookie, ...headers },
      body: new Blob(['name=ours&access=&expires=']),
    }),
  );

const form = 'application/x-www-form-urlencoded';
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
  for (const type of [undefined, form, 'text/plain', 'application/json']) {
    const reply = await post({ ...headers, ...(type && { 'content-type': type }) });
    expect(reply.status).toBe(403);
    expect(await reply.text()).toContain('Form refused');
  }
});

it.each<Record<string, string>>([
  { origin },
  { 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'none' },
])('a form is taken when it comes with %o', async (headers) => {
  expect((await post({ ...headers, 'content-type': form })).status).toBe(200);
});

it('the API, which no browser authenticates to by itself, is not concerned', async () => {
  expect((await as(us.apiToken, foreign).get('/webhooks')).status).toBe(200);
});
