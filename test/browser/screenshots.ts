import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startReceiver } from '../../src/cli/local/receiver.ts';
import { root } from '../../src/cli/project/paths.ts';
import { launchBrowser } from '../support/node/browser.ts';
import { api, fleet, fleetJson, journeyAccount, stackFolder, until } from '../support/node/journey.ts';

/** `npm run screenshots`: each page of the portal, light, dark and on a phone. */
const output = join(root, 'screenshots');
mkdirSync(output, { recursive: true });
const folder = stackFolder();
const [stack, browser] = await Promise.all([folder.start(), launchBrowser()]);
const us = await journeyAccount(stack);
await fleetJson(stack, 'user', 'add', 'ann@example.com', '--account', us.accountId);
let count = 0;
const receiver = await startReceiver(stack.certificates, 0, (_, response) => {
  if (++count % 5 === 0) response.writeHead(410).end('out of order');
});
const webhook = await api<{ id: string }>(stack, us.token, 'POST', '/webhook', {
  connectionIds: [us.connectionId],
  url: `${receiver.url}/claims`,
  httpVerb: 'PUT',
  headers: { 'X-Secret': 's3cret' },
  notificationTypes: [1, 2],
});
const words = [
  'Braking',
  'MobileUsage',
  'Crash',
  'FollowingDistance',
  'HarshTurn',
  'Drowsy',
  'LightSpeeding',
];
await api(stack, us.ingestKey, 'POST', '/ingest', {
  records: [
    ...[1, 2, 3].map((i) => ({ kind: 'vehicle', sourceId: `v${i}`, name: `Truck ${i}` })),
    ...Array.from({ length: 24 }, (_, i) => ({
      kind: 'safetyEvent',
      sourceId: `e${i}`,
      vehicle: `v${1 + (i % 3)}`,
      incidentTypes: [words[i % words.length]],
      startedAt: new Date(Date.now() - i * 1_700_000).toISOString(),
    })),
  ],
});
await until('all have been delivered', () => count >= 24);
await new Promise((on) => setTimeout(on, 1000));
const failed = await fleetJson<{ id: string }[]>(
  stack,
  ...['deliveries', 'list', '--webhook', webhook.data.id, '--status', 'failed'],
);
const tokens = await fleetJson<{ id: string }[]>(stack, 'token', 'list', '--account', us.accountId);
const context = await browser.newContext();
const page = await context.newPage();
await page.goto((await fleet(stack, 'sign-in-link', 'ann@example.com')).out.trim());
await page.getByRole('button', { name: 'Sign in' }).click();
await page.waitForURL(`${stack.baseUrl}/portal`);
const pages = {
  connections: '/portal',
  events: '/portal/events',
  webhooks: '/portal/webhooks',
  'webhook-new': '/portal/webhooks/new',
  webhook: `/portal/webhooks/${webhook.data.id}`,
  'webhook-edit': `/portal/webhooks/${webhook.data.id}/edit`,
  'webhook-replay': `/portal/webhooks/${webhook.data.id}/replay`,
  'webhook-delete': `/portal/webhooks/${webhook.data.id}/delete`,
  delivery: `/portal/webhooks/${webhook.data.id}/deliveries/${failed[0]?.id}`,
  tokens: '/portal/settings/tokens',
  'token-revoke': `/portal/settings/tokens/${tokens[0]?.id}/revoke`,
  people: '/portal/settings/people',
  notifications: '/portal/settings/notifications',
  'sign-in': '/portal/sign-in',
};
for (const [look, colorScheme, width] of [
  ['light', 'light', 1100],
  ['dark', 'dark', 1100],
  ['phone', 'light', 375],
] as const) {
  await page.setViewportSize({ width, height: 750 });
  await page.emulateMedia({ colorScheme });
  for (const [name, path] of Object.entries(pages)) {
    await page.goto(stack.baseUrl + path);
    await page.screenshot({ path: join(output, `${name}-${look}.png`), fullPage: look === 'phone' });
  }
}
await browser.close();
receiver.stop();
await stack.stop();
folder.remove();
console.log(`${Object.keys(pages).length * 3} screenshots in ${output}`);
