import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { through } from '../../src/platform/db/through.ts';
import { ask } from '../support/portal.ts';
import { personalPages, portalAccount } from '../support/portal-account.ts';
import { portalRoutes } from '../support/routes.ts';

const markup = `"><script>alert('1')</script>`;
let ours: Awaited<ReturnType<typeof portalAccount>>;
beforeAll(async () => {
  ours = await portalAccount(markup);
});

/** These say nothing of what anybody has called something. */
const withoutNames = [
  '/portal/connections/new',
  '/portal/events.csv',
  '/portal/accidents.csv',
  '/portal/accidents/:eventId/report',
  '/portal/search',
  '/portal/settings',
  ...[
    'people',
    'people/:id/role',
    'people/:id/remove',
    'notifications',
    'exports',
    'exports/:id/:file',
    'account',
  ].map((tab) => `/portal/settings/${tab}`),
  ...portalRoutes.map((route) => route.replace('GET ', '')).filter((path) => !personalPages.includes(path)),
  '/portal/webhooks/:id?state=retrying&by=day',
  '/portal/connections/new?provider=samsara',
];
const query = encodeURIComponent(markup);
const pages = [
  ...portalRoutes.filter((route) => route.startsWith('GET ')).map((route) => route.slice(4)),
  ...['vehicle', 'driver', 'vin', 'from', 'connection'].map((filter) => `/portal/events?${filter}=${query}`),
  ...['vehicles', 'drivers', 'search', 'webhooks/:id'].map((list) => `/portal/${list}?q=${query}%3F`),
  `/portal/events?vehicle=${query}&driver=${query}&vin=${query}&risk=2`,
  '/portal/webhooks/:id/edit?reveal=yes',
  '/portal/webhooks/:id?state=retrying&by=day',
  '/portal/connections/new?provider=samsara',
];

it.each(pages)(
  'GET %s shows markup in whatever anybody called something as text, under strict headers, asking D1 thrice at most',
  async (path) => {
    let [rounds, inFlight] = [0, 0];
    const DB = through(env.DB, async (run) => {
      if (inFlight++ === 0) rounds += 1;
      return run().finally(() => inFlight--);
    });
    const reply = await ask('GET', ours.at(path), { cookie: ours.cookie, bindings: { ...env, DB } });
    expect(rounds).toBeLessThanOrEqual(path === '/portal/accidents/:eventId' ? 4 : 3);
    if (personalPages.includes(path)) expect([200, 303]).toContain(reply.status);

    expect(reply.headers.get('x-frame-options')).toBe('DENY');
    expect(reply.headers.get('cache-control')).toContain('no-store');
    const policy = reply.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain('unsafe');

    const html = await reply.text();
    if (!/\.csv|:file/.test(path)) expect(html).not.toContain('<script>');
    if (!withoutNames.includes(path)) expect(html).toContain('&lt;script&gt;');
  },
);

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
