import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { root } from '../../src/cli/project/paths.ts';
import { api, fleet, fleetJson } from '../support/node/journey.ts';
import { startShowcase } from '../support/node/showcase.ts';

/** `npm run screenshots [-- NAME …]`: pages of the portal, on a desk and on a phone, light and dark. */
const output = join(root, 'screenshots');
mkdirSync(output, { recursive: true });
const showcase = await startShowcase();
const { page, browser, stack, us, webhookId, failingId, pulledId, refusedId, testCredential, stop } =
  showcase;
const deliveries = await fleetJson<{ id: string; status: string }[]>(
  stack,
  ...['delivery', 'list', '--webhook', failingId],
);
const failed = deliveries.find(({ status }) => status === 'failed');
const waiting = deliveries.find(({ status }) => status === 'pending');
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
/** Where a row of a list leads. */
const rowOf = async (path: string, row = 0) => {
  await page.goto(stack.baseUrl + path);
  return (await page.locator('tbody a.cover').nth(row).getAttribute('href')) ?? '';
};
const pages: { [name: string]: string } = {
  home: '/portal',
  connections: '/portal/connections',
  connection: `/portal/connections/${us.connectionId}`,
  'connection-pulled': `/portal/connections/${pulledId}`,
  'connection-refused': `/portal/connections/${refusedId}`,
  'connection-credential': `/portal/connections/${refusedId}/credential`,
  'connection-remove': `/portal/connections/${pulledId}/remove`,
  'connect-links': '/portal/connections/links',
  'connection-new': '/portal/connections/new',
  'connection-new-samsara': '/portal/connections/new?provider=samsara',
  'connection-new-other': '/portal/connections/new?provider=other',
  events: '/portal/events',
  accidents: '/portal/accidents',
  event: event ?? '',
  'events-filtered': '/portal/events?risk=4&vehicle=Truck&driver=imke',
  'events-nothing': '/portal/events?type=Smoking',
  'accidents-open': '/portal/accidents?state=open',
  vehicles: '/portal/vehicles',
  'vehicles-found': '/portal/vehicles?q=truck%201',
  'vehicles-nothing': '/portal/vehicles?q=zzz',
  vehicle: await rowOf('/portal/vehicles'),
  drivers: '/portal/drivers',
  driver: await rowOf('/portal/drivers'),
  trips: '/portal/trips',
  trip: await rowOf('/portal/trips', 1),
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
  'webhook-signing': `/portal/webhooks/${webhookId}/signing`,
  'webhook-oauth': `/portal/webhooks/${webhookId}/oauth`,
  'webhook-filters': `/portal/webhooks/${webhookId}/filters`,
  'webhook-delete': `/portal/webhooks/${webhookId}/delete`,
  delivery: `/portal/webhooks/${failingId}/deliveries/${failed?.id}`,
  'delivery-waiting': `/portal/webhooks/${failingId}/deliveries/${waiting?.id}`,
  tokens: '/portal/settings/tokens',
  'token-revoke': `/portal/settings/tokens/${token?.id}/revoke`,
  people: '/portal/settings/people',
  'person-role': `/portal/settings/people/${person}/role`,
  'person-remove': `/portal/settings/people/${person}/remove`,
  account: '/portal/settings/account',
  notifications: '/portal/settings/notifications',
  'channel-new': '/portal/settings/notifications/channels/new',
  audit: '/portal/settings/audit',
  missing: '/portal/nowhere',
  'sign-in': '/portal/sign-in',
  docs: '/docs',
  'docs-guide': '/docs/receiving',
  'docs-events': '/docs/events',
  'docs-topics': '/docs/topics',
  'docs-reference': '/docs/reference',
};
const other = await fleetJson<{ id: string }>(stack, 'account', 'create', 'New Freight');
await fleetJson(stack, 'user', 'add', 'new@example.com', '--account', other.id);
/** Somebody else's page, by their address. */
const pageOf = async (email: string) => {
  const own = await (await browser.newContext({ timezoneId: 'America/New_York' })).newPage();
  await own.goto((await fleet(stack, 'sign-in-link', email)).out.trim());
  await own.getByRole('button', { name: 'Sign in' }).click();
  await own.waitForURL(`${stack.baseUrl}/portal`);
  return own;
};
const [newcomer, viewer] = [await pageOf('new@example.com'), await pageOf('lene@quillmoor.example')];
type Shot = { path: string; on?: Page; act?: (on: Page) => Promise<unknown> };
const press = (name: string) => (on: Page) => on.getByRole('button', { name, exact: true }).first().click();
/** Pages as they are after something was done, or as others see them. */
const scenes: { [name: string]: Shot } = {
  'home-new': { path: '/portal', on: newcomer },
  'home-viewer': { path: '/portal', on: viewer },
  'accidents-none': { path: '/portal/accidents', on: newcomer },
  'webhooks-none': { path: '/portal/webhooks', on: newcomer },
  'webhook-viewer': { path: `/portal/webhooks/${webhookId}`, on: viewer },
  'not-allowed': { path: '/portal/webhooks/new', on: viewer },
  'webhook-invalid': {
    path: '/portal/webhooks/new',
    act: async (on) => {
      await on.getByLabel('URL', { exact: true }).fill('http://claims.example.com/');
      await press('Add webhook')(on);
      await on.getByRole('alert').waitFor();
    },
  },
  'webhook-tested': {
    path: `/portal/webhooks/${webhookId}`,
    act: async (on) => {
      await press('Send a test event')(on);
      await on.getByRole('status').waitFor();
    },
  },
  'connection-new-tested': {
    path: '/portal/connections/new',
    act: () => testCredential('samsara_api_made_up_3'),
  },
  'connection-new-refused': {
    path: '/portal/connections/new',
    act: () => testCredential('samsara_api_wrong'),
  },
  'webhook-more': { path: `/portal/webhooks/${webhookId}`, act: press('More actions') },
  'webhook-replay-missed': { path: `/portal/webhooks/${failingId}/replay` },
  'token-new': {
    path: '/portal/settings/tokens',
    act: async (on) => {
      await on.getByLabel('Token name').fill('Claims sync');
      await press('Generate Token')(on);
      await on.locator('#token').waitFor();
    },
  },
  'channel-tested': {
    path: '/portal/settings/notifications/channels/new',
    act: async (on) => {
      await on.getByLabel('Name', { exact: true }).fill('#fleet-alerts');
      await on.getByLabel('URL', { exact: true }).fill('https://127.0.0.1:9/services/made-up');
      await press('Add channel')(on);
      await press('Send a test message')(on);
      await on.getByText('cannot be reached').first().waitFor();
    },
  },
  channels: { path: '/portal/settings/notifications' },
  'connect-outside': {
    path: '/portal/connections/links',
    act: async (on) => {
      await on.getByLabel('For', { exact: true }).fill('Harbor Freight');
      await press('Create link')(on);
      await on.goto((await on.locator('#link').innerText()).trim());
      await on.getByRole('link', { name: /Samsara/ }).click();
    },
  },
};
const menu: Shot = { path: '/portal/events', act: press('Menu') };

const all: { [name: string]: Shot } = {
  ...Object.fromEntries(Object.entries(pages).map(([name, path]) => [name, { path }])),
  ...scenes,
};
const wanted = process.argv.slice(2);
const shown = Object.entries(all).filter(([name]) => wanted.length === 0 || wanted.includes(name));
for (const width of [1280, 390])
  for (const colorScheme of ['light', 'dark'] as const) {
    const shots = width < 1024 && wanted.length === 0 ? [...shown, ['menu', menu] as const] : shown;
    for (const [name, { path, on = page, act }] of shots) {
      await on.setViewportSize({ width, height: 800 });
      await on.emulateMedia({ colorScheme });
      await on.goto(stack.baseUrl + path);
      await act?.(on);
      if ((await on.locator('[data-map]').count()) > 0) {
        await on.locator('[data-map]').first().scrollIntoViewIfNeeded();
        await on.locator('canvas.map-still').waitFor();
        await on.waitForTimeout(1500); // a picture says of no file that it is the last
        await on.evaluate('scrollTo(0, 0)');
      }
      await on.screenshot({
        path: join(output, `${name}-${width}-${colorScheme}.png`),
        fullPage: !act || width > 1024,
      });
    }
  }
await stop();
console.log(`${output} has them`);
