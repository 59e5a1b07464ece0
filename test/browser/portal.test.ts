import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Received, startReceiver } from '../../src/cli/local/receiver.ts';
import type { Stack } from '../../src/cli/local/stack.ts';
import { launchBrowser } from '../support/node/browser.ts';
import { api, fleet, fleetJson, journeyAccount, stackFolder, until } from '../support/node/journey.ts';
import { expectGoodPages } from '../support/node/page-rules.ts';

const folder = stackFolder();
let stack: Stack;
let us: Awaited<ReturnType<typeof journeyAccount>>;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let receiver: { url: string; stop: () => void };
const got: Received[] = [];
let works = true;
const outside: string[] = [];

beforeAll(async () => {
  [stack, browser] = await Promise.all([folder.start(), launchBrowser()]);
  us = await journeyAccount(stack);
  await fleetJson(stack, 'user', 'add', 'Ann@Example.com', '--account', us.accountId);
  receiver = await startReceiver(stack.certificates, 0, (received, response) => {
    got.push(received);
    if (!works) response.writeHead(410).end('out of order');
  });
  context = await browser.newContext();
  context.on('request', (request) => {
    if (!request.url().startsWith(stack.baseUrl) && !request.url().startsWith('data:'))
      outside.push(request.url());
  });
  page = await context.newPage();
});
afterAll(async () => {
  await browser?.close();
  receiver?.stop();
  await stack?.stop();
  folder.remove();
});

/** The link of the mail that the local email service has kept; its log says where. */
async function mailedLink(): Promise<string> {
  const log = join(dirname(stack.certificates.caFile), 'wrangler.log');
  const kept = () => /^To: ann@example\.com$[\s\S]*?^Text: (.+)$/m.exec(readFileSync(log, 'utf8'))?.[1];
  await until('the mail is there', () => kept() !== undefined);
  return /https?:\S+/.exec(readFileSync(kept() ?? '', 'utf8'))?.[0] ?? '';
}

const open = (path: string) => page.goto(`${stack.baseUrl}${path}`);
const heading = () => page.locator('h1').innerText();
/** Clicks what leads to another page, and waits until that is there. */
const follow = (target: Locator) =>
  Promise.all([target.page().waitForEvent('domcontentloaded'), target.click()]);
const press = (name: string, on = page) => follow(on.getByRole('button', { name, exact: true }));

it('somebody who is not signed in is redirected to the sign-in page, and gets the same reply for any address', async () => {
  await open('/portal/settings/tokens');
  expect(page.url()).toBe(`${stack.baseUrl}/portal/sign-in`);
  const answers = [];
  for (const email of ['ann@example.com', 'nobody@example.com']) {
    await open('/portal/sign-in');
    await page.getByLabel('Email address').fill(email);
    await press('Send link');
    answers.push(await page.locator('main').innerText());
  }
  expect(answers[0]).toContain('a link is on its way');
  expect(answers[0]).toBe(answers[1]);
});

it('a mailed link signs in once, by its button, and by keyboard alone', async () => {
  const link = await mailedLink();
  await page.goto(link);
  await page.goto(link); // opening it, as scanners do, uses nothing up
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${stack.baseUrl}/portal`);
  expect(await page.locator('header').innerText()).toContain('Journey');
  const [cookie] = await context.cookies();
  expect(cookie).toMatchObject({ name: 'session', httpOnly: true, sameSite: 'Lax' });

  const other = await browser.newContext();
  const again = await other.newPage();
  await again.goto(link);
  await press('Sign in', again);
  expect(await again.locator('main').innerText()).toContain('This link has expired or was already used');
  await other.close();
});

it('a token is generated, shown once, works, and is refused once revoked', async () => {
  await open('/portal/settings/tokens');
  await page.getByLabel('Token name').fill('Claims <b>system</b>');
  await press('Generate Token');
  const token = await page.locator('#token').innerText();
  expect(token).toMatch(/^fds_/);
  expect(await page.locator('#curl').innerText()).toContain(`x-api-key: ${token}`);
  expect((await api(stack, token, 'GET', '/webhooks')).status).toBe(200);
  await open('/portal/settings/tokens');
  expect(await page.content()).not.toContain(token);
  const row = page.getByRole('row', { name: 'Claims <b>system</b>' });
  expect(await row.innerText()).toContain(`…${token.slice(-4)}`);
  await follow(row.getByRole('link'));
  expect(await heading()).toBe('Revoke Claims <b>system</b>?');
  await press('Revoke');
  expect((await api(stack, token, 'GET', '/webhooks')).status).toBe(401);
  expect(await page.locator('main').innerText()).not.toContain('Claims');
});

it('a webhook is created, with the messages of the API for what is wrong', async () => {
  await open('/portal/webhooks');
  await follow(page.getByRole('link', { name: 'Add a webhook' }));
  await page.getByLabel('URL').fill('http://example.com/');
  await page.getByLabel('Header 1 name').fill('X-Secret');
  await page.getByLabel('Header 1 value').fill('s3cret');
  await press('Save');
  expect(await page.getByRole('alert').first().innerText()).toBe("Invalid URL, must use 'https'");
  expect(await page.getByLabel('Header 1 value').inputValue()).toBe('s3cret');
  await page.getByLabel('URL').fill(`${receiver.url}/portal`);
  await page.getByLabel('HTTP method').selectOption('PUT');
  await press('Save');
  expect(await heading()).toBe('Webhook');
  const [created] = (
    await api<{ id: string; url: string; headers: object }[]>(stack, us.token, 'GET', '/webhooks')
  ).data;
  expect(created).toMatchObject({
    url: `${receiver.url}/portal`,
    httpVerb: 'PUT',
    headers: { 'X-Secret': 's3cret' },
  });
  expect(await page.content()).not.toContain('s3cret');
});

it('an edited webhook keeps header values, which are shown only on request', async () => {
  await follow(page.getByRole('link', { name: 'Edit' }));
  expect(await page.content()).not.toContain('s3cret');
  await press('Save');
  expect(await heading()).toBe('Webhook');
  await follow(page.getByRole('link', { name: 'Edit' }));
  await follow(page.getByRole('link', { name: 'Show header values' }));
  expect(await page.getByLabel('Header 1 value').inputValue()).toBe('s3cret');
  await follow(page.getByRole('link', { name: 'Cancel' }));
});

it('a simulated accident arrives by its three levels, and the page shows it without a reload', async () => {
  await press('Simulate an accident');
  await until('three levels arrive', () => got.length === 3);
  expect(got.map(({ body }) => body.data.notificationLevel).sort()).toEqual([1, 2, 3]);
  expect(got[0]).toMatchObject({ method: 'PUT', headers: { 'x-secret': 's3cret' } });
  expect(got[0]?.body.data).toMatchObject({ tSP: 'TEST', vin: expect.stringContaining('TEST') });
  await page.locator('tbody .good').nth(2).waitFor();
  expect(await page.locator('tbody').innerText()).toMatch(/accident, level 3/);
  await follow(page.getByRole('link', { name: 'events', exact: true }));
  expect(await page.locator('main').innerText()).toContain('No deliveries.');
  await follow(page.getByRole('link', { name: 'accidents', exact: true }));
  expect(await page.locator('tbody tr').count()).toBe(3);
  await follow(page.getByRole('link', { name: 'Webhooks', exact: true }));
  expect(await page.locator('figcaption').innerText()).toContain('3 delivered, 0 failed');
  await follow(page.getByRole('rowheader').getByRole('link'));
});

it('a failing receiver’s attempts are shown, and replayed once it works again', async () => {
  works = false;
  await press('Send a test event');
  await page.locator('tbody .bad').first().waitFor();
  await follow(page.getByRole('link', { name: 'event', exact: true }).first());
  await page.getByText('out of order').waitFor();
  expect(await page.locator('.timeline').innerText()).toMatch(/status 410 in \d+ ms/);
  expect(await page.locator('main').innerText()).toContain('TEST vehicle (made up)');
  works = true;
  await press('Replay');
  await page.locator('main .tag.good').waitFor();
  expect(await page.locator('.timeline li').count()).toBe(2);
});

it('what was missed is counted, and then sent again', async () => {
  works = false;
  await follow(page.getByRole('link', { name: 'Back to the webhook' }));
  await press('Send a test event');
  await page.locator('tbody .bad').first().waitFor();
  works = true;
  await follow(page.getByRole('link', { name: 'Send what I missed' }));
  expect(await heading()).toBe('Replay deliveries');
  expect(await page.locator('main').innerText()).toContain('1 delivery can be replayed.');
  await page.getByLabel('Deliveries').selectOption('all');
  await page.getByLabel('Since (UTC)').fill('2026-01-01T00:00');
  await press('Count');
  expect(await page.getByLabel('Since (UTC)').inputValue()).toBe('2026-01-01T00:00');
  expect(await page.locator('main').innerText()).toContain('5 deliveries can be replayed.');
  await follow(page.getByRole('link', { name: 'Back to the webhook' }));
  await follow(page.getByRole('link', { name: 'Send what I missed' }));
  const before = got.length;
  await press('Replay 1 delivery');
  expect(await page.getByRole('status').innerText()).toBe('1 delivery is on the way again.');
  await until('it arrives', () => got.length === before + 1);
  await follow(page.getByRole('link', { name: 'Back to the webhook' }));
  await page.locator('tbody .bad').waitFor({ state: 'detached' });
});

it('connections and safety events are shown, and risks of 4 and 5 stand out', async () => {
  const event = { kind: 'safetyEvent', vehicle: 'v', startedAt: new Date().toISOString() };
  await api(stack, us.ingestKey, 'POST', '/ingest', {
    records: [
      { kind: 'vehicle', sourceId: 'v', name: '<script>alert(1)</script>' },
      { ...event, sourceId: 'a', incidentTypes: ['Braking'] },
      { ...event, sourceId: 'b', incidentTypes: ['Crash'] },
    ],
  });
  await open('/portal');
  expect(await page.locator('tbody').innerText()).toContain('Vans');
  await follow(page.getByRole('link', { name: 'Events of Vans' }));
  expect(await page.locator('tbody tr').count()).toBe(2);
  expect(await page.locator('tbody').innerText()).toContain('<script>alert(1)</script>');
  await page.getByLabel('Risk').selectOption('4');
  await press('Show');
  expect(await page.locator('tbody tr').count()).toBe(1);
  expect(await page.locator('tbody strong').innerText()).toBe('risk 5');
});

it('accidents are shown by level, false alarms as such, with links to their reports', async () => {
  const accident = {
    kind: 'accident',
    eventTime: new Date().toISOString(),
    location: { latitude: 1, longitude: 2 },
  };
  const reportUrl = 'https://reports.example.com/crash';
  await api(stack, us.ingestKey, 'POST', '/ingest', {
    notify: false,
    records: [
      { ...accident, sourceId: 'false', vin: 'VIN1', notificationLevel: 1, dismissed: true },
      { ...accident, sourceId: 'true', vin: 'VIN2', notificationLevel: 3, reportUrl },
    ],
  });
  await follow(page.getByRole('link', { name: 'Accidents', exact: true }));
  expect(await page.getByRole('row').filter({ hasText: 'VIN1' }).innerText()).toContain('false alarm');
  await page.getByLabel('Level').selectOption('3');
  await press('Show');
  expect(await page.locator('tbody tr').count()).toBe(1);
  expect(await page.getByRole('link', { name: 'open report' }).getAttribute('href')).toBe(reportUrl);
});

it('people are invited and removed', async () => {
  await follow(page.getByRole('link', { name: 'Settings', exact: true }));
  expect(await heading()).toBe('API Tokens');
  await follow(page.getByRole('link', { name: 'People', exact: true }));
  await page.getByLabel('Email address').fill('bob@example.com');
  await press('Invite');
  await follow(page.getByRole('link', { name: 'Remove bob@example.com' }));
  await press('Remove');
  expect(await page.locator('tbody').innerText()).not.toContain('bob@example.com');
});

it('emails about webhooks are turned off and on again, by keyboard too', async () => {
  await follow(page.getByRole('link', { name: 'Notifications', exact: true }));
  expect(await heading()).toBe('Notifications');
  const box = page.getByRole('checkbox', { name: /^Email me when a webhook is paused/ });
  expect(await box.isChecked()).toBe(true);
  await box.focus();
  await page.keyboard.press('Space');
  await press('Save');
  expect(await box.isChecked()).toBe(false);
  expect(await page.locator('main').innerText()).toContain('We do not email ann@example.com');
  await box.check();
  await press('Save');
  expect(await box.isChecked()).toBe(true);
});

it('no page breaks a rule of accessibility, is wider than a phone, is heavy, or calls another host', async () => {
  const webhook = (await api<{ id: string }[]>(stack, us.token, 'GET', '/webhooks')).data[0]?.id;
  const [delivery] = await fleetJson<{ id: string }[]>(
    stack,
    'deliveries',
    'list',
    '--webhook',
    webhook ?? '',
  );
  const token = await fleetJson<{ id: string }[]>(stack, 'token', 'list', '--account', us.accountId);
  const hook = `/portal/webhooks/${webhook}`;
  const settings = '/portal/settings';
  const paths = [
    ...['/portal', '/portal/events', '/portal/accidents', '/portal/sign-in', '/portal/nowhere'],
    ...['/portal/webhooks', '/portal/webhooks/new', hook, `${hook}/edit`, `${hook}/replay`, `${hook}/delete`],
    `${hook}/deliveries/${delivery?.id}`,
    ...[`${settings}/tokens`, `${settings}/tokens/${token[0]?.id}/revoke`],
    ...[`${settings}/people`, `${settings}/notifications`],
  ];
  await expectGoodPages(page, paths, async (path) => {
    const reply = await open(path);
    expect(gzipSync((await reply?.body()) ?? '').length, path).toBeLessThan(30_000);
  });
  expect(outside).toEqual([]);
});

it('without script everything still works', async () => {
  const plain = await browser.newContext({ javaScriptEnabled: false });
  await plain.addCookies(await context.cookies());
  const plainPage = await plain.newPage();
  await plainPage.goto(`${stack.baseUrl}/portal/webhooks`);
  await follow(plainPage.getByRole('rowheader').getByRole('link').first());
  await follow(plainPage.getByRole('link', { name: 'Delete' }));
  await press('Delete', plainPage);
  expect(await plainPage.locator('main').innerText()).toContain('There are no webhooks yet');
  await plain.close();
});

it('the documentation is one click away', async () => {
  await open('/portal/settings/tokens');
  await follow(page.getByRole('link', { name: 'API documentation' }));
  await page.waitForURL(/\/docs\/?$/);
});

it('signing out everywhere ends all sessions', async () => {
  const link = (await fleet(stack, 'sign-in-link', 'ann@example.com')).out.trim();
  const other = await browser.newContext();
  const otherPage = await other.newPage();
  await otherPage.goto(link);
  await press('Sign in', otherPage);
  expect(await otherPage.locator('h1').innerText()).toBe('Connections');
  await open('/portal');
  await press('Sign out everywhere');
  expect(await heading()).toBe('Sign in');
  await otherPage.reload();
  expect(await otherPage.locator('h1').innerText()).toBe('Sign in');
  await other.close();
});
