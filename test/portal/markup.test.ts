import { beforeAll, expect, it } from 'vitest';
import { ask } from '../support/portal.ts';
import { personalPages, portalAccount } from '../support/portal-account.ts';

const markup = `"><script>alert('1')</script>`;
let ours: Awaited<ReturnType<typeof portalAccount>>;
beforeAll(async () => {
  ours = await portalAccount(markup);
});

/** These say nothing of what anybody has called something. */
const without = [
  ...[
    '/portal/connections/new',
    '/portal/events.csv',
    '/portal/accidents.csv',
    '/portal/search',
    '/portal/settings',
  ],
  ...[
    'people',
    'people/:id/role',
    'people/:id/remove',
    'notifications',
    'exports',
    'exports/:id/:file',
    'account',
  ].map((tab) => `/portal/settings/${tab}`),
];
const query = encodeURIComponent(markup);
const pages = [
  ...personalPages.filter((path) => !without.includes(path)),
  ...['vehicle', 'driver', 'vin', 'from', 'connection'].map((filter) => `/portal/events?${filter}=${query}`),
  ...['vehicles', 'drivers', 'search', 'webhooks/:id'].map((list) => `/portal/${list}?q=${query}%3F`),
  '/portal/webhooks/:id/edit?reveal=yes',
];

it.each(pages)('markup in names, addresses, headers and what receivers reply is text on %s', async (path) => {
  const html = await (await ask('GET', ours.at(path), { cookie: ours.cookie })).text();
  expect(html).toContain('&lt;script&gt;');
  expect(html).not.toContain('<script>');
});

it.each([
  ['/portal/webhooks/new', { url: markup, headerName: markup, headerValue: markup }],
  ['/portal/settings/tokens', { name: markup, expires: markup }],
  ['/portal/settings/people', { email: markup }],
  ['/portal/connections/new?provider=samsara', { credential: '', name: markup }],
] as const)('markup that is sent to %s comes back as text', async (path, fields) => {
  const reply = await ask('POST', path, { cookie: ours.cookie, fields });
  expect(reply.status).toBe(400);
  const html = await reply.text();
  expect(html).toContain('&lt;script&gt;');
  expect(html).not.toContain('<script>');
});
