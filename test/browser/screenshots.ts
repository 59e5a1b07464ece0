import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../src/cli/project/paths.ts';
import { api, fleetJson } from '../support/node/journey.ts';
import { startShowcase } from '../support/node/showcase.ts';

/** `npm run screenshots [-- NAME …]`: pages of the portal, on a desk and on a phone, light and dark. */
const output = join(root, 'screenshots');
mkdirSync(output, { recursive: true });
const { page, stack, us, webhookId, failingId, stop } = await startShowcase();
const [failed] = await fleetJson<{ id: string }[]>(stack, 'deliveries', 'list', '--webhook', failingId);
const [token] = await fleetJson<{ id: string }[]>(stack, 'token', 'list', '--account', us.accountId);
/** The path of the newest one of a list. */
const newest = async (path: string, query = '') => {
  const { data } = await api<{ id: string; eventId: string }[]>(stack, us.token, 'GET', `/${path}${query}`);
  return data.at(-1);
};
const accident = await newest('accidents');
const reported = await newest('accidents', '?minLevel=3');
await page.goto(`${stack.baseUrl}/portal/events`);
const event = await page.locator('tbody a.cover').first().getAttribute('href');
const people = await fleetJson<{ id: string }[]>(stack, 'user', 'list', '--account', us.accountId);
const person = people.at(-1)?.id;
/** Where the first row of a list leads. */
const firstOf = async (path: string) => {
  await page.goto(stack.baseUrl + path);
  return (await page.locator('tbody a.cover').first().getAttribute('href')) ?? '';
};
const pages: { [name: string]: string } = {
  home: '/portal',
  connections: '/portal/connections',
  connection: `/portal/connections/${us.connectionId}`,
  events: '/portal/events',
  accidents: '/portal/accidents',
  event: event ?? '',
  'events-filtered': '/portal/events?risk=4&vehicle=Truck&driver=imke',
  'events-nothing': '/portal/events?type=Smoking',
  'accidents-open': '/portal/accidents?state=open',
  vehicles: '/portal/vehicles',
  'vehicles-found': '/portal/vehicles?q=truck%201',
  'vehicles-nothing': '/portal/vehicles?q=zzz',
  vehicle: await firstOf('/portal/vehicles'),
  drivers: '/portal/drivers',
  driver: await firstOf('/portal/drivers'),
  trips: '/portal/trips',
  trip: await firstOf('/portal/trips'),
  search: '/portal/search?q=t',
  'search-nothing': '/portal/search?q=zzz',
  accident: `/portal/accidents/${reported?.eventId}`,
  'accident-level-1': `/portal/accidents/${accident?.eventId}`,
  webhooks: '/portal/webhooks',
  'webhook-new': '/portal/webhooks/new',
  webhook: `/portal/webhooks/${webhookId}`,
  'webhook-failing': `/portal/webhooks/${failingId}`,
  'webhook-retrying': `/portal/webhooks/${failingId}?state=retrying&by=day`,
  'webhook-edit': `/portal/webhooks/${webhookId}/edit`,
  'webhook-replay': `/portal/webhooks/${webhookId}/replay`,
  'webhook-delete': `/portal/webhooks/${webhookId}/delete`,
  delivery: `/portal/webhooks/${failingId}/deliveries/${failed?.id}`,
  tokens: '/portal/settings/tokens',
  'token-revoke': `/portal/settings/tokens/${token?.id}/revoke`,
  people: '/portal/settings/people',
  'person-role': `/portal/settings/people/${person}/role`,
  'person-remove': `/portal/settings/people/${person}/remove`,
  account: '/portal/settings/account',
  notifications: '/portal/settings/notifications',
  audit: '/portal/settings/audit',
  missing: '/portal/nowhere',
  'sign-in': '/portal/sign-in',
  docs: '/docs',
  'docs-guide': '/docs/webhooks',
  'docs-topics': '/docs/topics',
  'docs-reference': '/docs/reference',
};
const wanted = process.argv.slice(2);
const shown = Object.entries(pages).filter(([name]) => wanted.length === 0 || wanted.includes(name));
for (const width of [1280, 390])
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    for (const [name, path] of shown) {
      await page.goto(stack.baseUrl + path);
      if ((await page.locator('[data-map]').count()) > 0) {
        await page.locator('[data-map]').first().scrollIntoViewIfNeeded();
        await page.locator('.maplibregl-ctrl-scale').waitFor();
        await page.waitForTimeout(2000); // a map says of no frame that it is the last
        await page.evaluate('scrollTo(0, 0)');
      }
      await page.screenshot({ path: join(output, `${name}-${width}-${colorScheme}.png`), fullPage: true });
    }
  }
await stop();
console.log(`${4 * shown.length} screenshots in ${output}`);
