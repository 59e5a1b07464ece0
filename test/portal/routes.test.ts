import { env } from 'cloudflare:workers';
import { rowsOf } from '#test/support/account-rows.ts';
import {
  personalPages,
  personalRoutes,
  portalAccountBefore,
} from '#test/support/portal-account.ts';
import { portalRoutes, unlimited } from '#test/support/routes.ts';
import { ask, contentOf, signIn, through, world } from '#test/support.ts';

const markup = `"><script>alert('1')</script>`;
const ours = portalAccountBefore(beforeAll, markup);
const theirs = portalAccountBefore(beforeAll, 'their-secret');

/** These say nothing of what anybody has called something. */
const withoutNames = [
  ...['/connections/new', '/connections/new?provider=samsara', '/connections/own'],
  ...['', '/:evidenceId'].map((one) => `/accidents/:eventId/evidence${one}`),
  ...['vehicles', 'drivers', 'trips', 'events', 'accidents'].map((list) => `/${list}.csv`),
  ...['/webhooks/:id?state=retrying&by=day', '/accidents/:eventId/report'],
  ...['/search', '/summary/off', '/settings', '/settings/account', '/settings/people'],
  ...['/settings/people/:id/role', '/settings/people/:id/remove', '/settings/notifications'],
  ...['/settings/exports', '/settings/exports/:id/:file', '/settings/sign-in/test'],
].map((path) => `/portal${path}`);
const query = encodeURIComponent(markup);
const gets = portalRoutes
  .filter((route) => route.startsWith('GET '))
  .map((route) => route.slice(4));
const pages = [
  ...gets,
  ...['vehicle', 'driver', 'vin', 'from', 'connection'].map(
    (filter) => `/portal/events?${filter}=${query}`,
  ),
  ...['vehicles', 'drivers', 'search', 'webhooks/:id'].map(
    (list) => `/portal/${list}?q=${query}%3F`,
  ),
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
    const reply = await ours.get(ours.at(path), { bindings: { ...env, DB } });
    expect(rounds).toBeLessThanOrEqual(path === '/portal/accidents/:eventId' ? 4 : 3);
    const isPersonal = personalPages.includes(path);
    if (isPersonal) expect([200, 303]).toContain(reply.status);

    expect(reply.headers.get('x-frame-options')).toBe('DENY');
    expect(reply.headers.get('cache-control')).toContain('no-store');
    const policy = reply.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    const isStoredFile = path.endsWith('/:evidenceId');
    expect(policy).toContain(isStoredFile ? 'sandbox' : "script-src 'self'");
    expect(policy).not.toContain('unsafe');

    const html = await contentOf(reply);
    if (!/\.csv|:file|evidence$/.test(path)) expect(html).not.toContain('<script>');
    if ((isPersonal || path.includes('?')) && !withoutNames.includes(path))
      expect(html).toContain('&lt;script&gt;');
  },
);

it.each([
  ['/portal/webhooks/new', { url: markup, headerName: markup, headerValue: markup }],
  ['/portal/settings/tokens', { name: markup, expires: markup }],
  ['/portal/settings/people', { email: markup }],
  ['/portal/connections/new?provider=samsara', { credential: '', name: markup }],
  ['/portal/connections/own', { provider: '', name: markup }],
] as const)('markup that is sent to %s comes back as text', async (path, fields) => {
  const reply = await ours.post(path, fields);
  expect(reply.status).toBe(400);
  const html = await reply.text();
  expect(html).toContain('&lt;script&gt;');
  expect(html).not.toContain('<script>');
});

/** Sends a route's request with ids of the other account. */
const aimAtThem = (route: string, sent: Parameters<typeof ask>[2]) => {
  const [method = '', pattern = ''] = route.split(' ');
  return ask(method, theirs.at(pattern), sent);
};

/** What actions change, of the other account. */
const changeable = async () => {
  const all = await rowsOf(theirs.us.accountId);
  return [
    'accounts',
    'connections',
    'pulls',
    'webhooks',
    'deliveries',
    'tokens',
    'portal_users',
  ].map((table) => all[table]);
};

it.each(personalRoutes)(
  '%s redirects people who are not signed in to the sign-in page',
  async (route) => {
    for (const cookie of [
      '',
      '__Host-session=x',
      'session=x',
      `__Host-session=${ours.us.apiToken}`,
    ]) {
      const reply = await aimAtThem(route, { cookie });
      expect([reply.status, reply.headers.get('location')]).toEqual([303, '/portal/sign-in']);
    }
  },
);

// Mail programs turn a summary off, by a link that only its person has.
const fromAnywhere = 'POST /portal/summary/off';
it.each(portalRoutes.filter((route) => route.startsWith('POST') && route !== fromAnywhere))(
  '%s refuses a form from another site',
  async (route) => {
    const sent = { cookie: ours.cookie, origin: 'https://evil.example' };
    expect((await aimAtThem(route, sent)).status).toBe(403);
  },
);

it('shows and changes nothing of another account, by any route', async () => {
  const before = await changeable();
  for (const route of personalRoutes.filter((one) => !one.includes('sign-out'))) {
    const reply = await aimAtThem(route, { cookie: ours.cookie, bindings: unlimited() });
    if (/:(id|eventId)/.test(route)) expect(reply.status, route).toBe(404);
    const text = await reply.text();
    for (const secret of ['their-secret', theirs.us.connection.id])
      expect(text, route).not.toContain(secret);
  }
  expect(await changeable()).toEqual(before);
});

it('works for an account that has nothing yet', async () => {
  const { get } = await signIn(await world());
  for (const path of personalPages.filter((one) => !one.includes(':')))
    expect([200, 303], path).toContain((await get(path)).status);
});
