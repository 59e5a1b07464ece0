import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Received, startReceiver } from '../../src/cli/local/receiver.ts';
import { fakeSamsara, samsaraEvent, samsaraVehicle } from '../../src/dev/fakes/samsara.ts';
import { launchBrowser } from '../support/node/browser.ts';
import {
  api,
  fleet,
  fleetJson,
  journeyAccount,
  type SharedStack,
  sharedStack,
  until,
} from '../support/node/journey.ts';
import { expectGoodPages } from '../support/node/page-rules.ts';
import { startProvider } from '../support/node/provider.ts';

let stack: SharedStack;
let us: Awaited<ReturnType<typeof journeyAccount>>;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let receiver: { url: string; stop: () => void };
const got: Received[] = [];
let works = true;
const outside: string[] = [];
/** Where the page of a connection is that pulls. */
let pulled = '';

beforeAll(async () => {
  [stack, browser] = await Promise.all([sharedStack(), launchBrowser()]);
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
const press = (name: string, on: Page | Locator = page) =>
  follow(on.getByRole('button', { name, exact: true }));

const steps: (() => Promise<void>)[] = [];

/** A test of the story that this file tells. Run alone, with `-t`, it first does what the tests before it do. */
function it(name: string, act: () => Promise<void>): void {
  const before = steps.slice();
  let acted: Promise<void> | undefined;
  const step = () => {
    acted ??= act();
    return acted;
  };
  steps.push(step);
  test(name, async () => {
    for (const earlier of before) await earlier().catch(() => undefined); // its own test says what is wrong
    await step();
  });
}

it('somebody who is not signed in is redirected to the sign-in page, and gets the same reply for any address', async () => {
  await open('/portal/settings/tokens');
  expect(page.url()).toBe(`${stack.baseUrl}/portal/sign-in`);
  const answers = [];
  for (const email of ['ann@example.com', 'nobody@example.com']) {
    await open('/portal/sign-in');
    await page.getByLabel('Email address').fill(email);
    await press('Email me a link');
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
  await page.waitForURL(/\/portal(\/connections)?$/);
  expect(await page.locator('nav.nav').innerText()).toContain('Journey');
  const cookie = (await context.cookies()).find(({ name }) => name === 'session');
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax' });

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
  await page.getByLabel('Expires').selectOption('In one year');
  await press('Generate Token');
  const token = await page.locator('#token').innerText();
  expect(token).toMatch(/^fds_/);
  await page.getByText('Try it with curl').click();
  expect(await page.locator('#curl').innerText()).toContain(`x-api-key: ${token}`);
  expect((await api(stack, token, 'GET', '/webhooks')).status).toBe(200);
  await open('/portal/settings/tokens');
  expect(await page.content()).not.toContain(token);
  const row = page.getByRole('row', { name: 'Claims <b>system</b>' });
  expect(await row.innerText()).toContain(`…${token.slice(-4)}`);
  await follow(row.getByRole('link'));
  expect(await heading()).toBe('Revoke “Claims <b>system</b>”?');
  await press('Revoke “Claims <b>system</b>”');
  expect((await api(stack, token, 'GET', '/webhooks')).status).toBe(401);
  const said = 'Revoked “Claims <b>system</b>”: the API refuses it from now on.';
  expect(await page.getByRole('status').innerText()).toBe(said);
  await page.reload();
  expect(await page.getByRole('status').innerText()).toBe(said);
  expect(await page.getByRole('table').innerText()).not.toContain('Claims');
});

/** The name that a webhook without one has. */
const host = () => new URL(receiver.url).host;
/** What an action led to. */
const said = () => page.getByRole('status').innerText();
const deliveries = () => page.locator('form tbody tr');

it('a webhook is created, after a test of it, with what is wrong under its field', async () => {
  await open('/portal/webhooks');
  await follow(page.getByRole('link', { name: 'Add a webhook' }).first());
  await page.getByLabel('URL', { exact: true }).fill('http://example.com/');
  await page.getByLabel('Header 1 name').fill('X-Secret');
  await page.getByLabel('Header 1 value').fill('s3cret');
  await press('Add webhook');
  expect(await page.getByRole('alert').allInnerTexts()).toEqual([
    expect.stringContaining('start with https://'),
  ]);
  expect(await page.getByLabel('Header 1 value').inputValue()).toBe('s3cret');
  await page.getByLabel('URL', { exact: true }).fill(`${receiver.url}/portal`);
  await page.getByLabel('Method').selectOption('PUT');
  await press('Send a test');
  expect(await said()).toMatch(/Your receiver returned 204 in \d+ ms\./);
  expect(got.splice(0)).toMatchObject([
    { method: 'PUT', path: '/portal', headers: { 'x-secret': 's3cret' } },
  ]);
  expect((await api<object[]>(stack, us.token, 'GET', '/webhooks')).data).toEqual([]);
  await press('Add webhook');
  expect(await heading()).toBe(host());
  expect(await said()).toBe(`Webhook "${host()}" was added.`);
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
  await follow(page.getByRole('link', { name: 'Edit' }).first());
  expect(await page.content()).not.toContain('s3cret');
  await press('Save changes');
  expect(await heading()).toBe(host());
  await follow(page.getByRole('link', { name: 'Edit' }).first());
  await follow(page.getByRole('link', { name: 'Show header values' }));
  expect(await page.getByLabel('Header 1 value').inputValue()).toBe('s3cret');
  await follow(page.getByRole('link', { name: 'Cancel' }));
});

it('a simulated accident arrives by its three levels, and the page shows it without a reload', async () => {
  await page.getByRole('button', { name: 'More actions' }).click();
  await press('Simulate an accident');
  expect(await said()).toMatch(/^Level 1 of a test accident sent\. Your receiver returned 204 in \d+ ms\./);
  await until('three levels arrive', () => got.length === 3);
  expect(got.map(({ body }) => body.data.notificationLevel).sort()).toEqual([1, 2, 3]);
  expect(got[0]).toMatchObject({ method: 'PUT', headers: { 'x-secret': 's3cret' } });
  expect(got[0]?.body.data).toMatchObject({ tSP: 'TEST', vin: expect.stringContaining('TEST') });
  await deliveries().locator('.state.ok').nth(2).waitFor();
  expect(await page.locator('form tbody').innerText()).toMatch(/Accident, level 3/);
  const type = page.getByRole('navigation', { name: 'Type' });
  await follow(type.getByRole('link', { name: 'Events' }));
  expect(await page.locator('main').innerText()).toContain('Nothing matches these filters');
  await follow(type.getByRole('link', { name: 'Accidents' }));
  expect(await deliveries().count()).toBe(3);
  await follow(page.getByRole('link', { name: 'Last 30 days' }));
  expect(await page.locator('#rate-chart-title').textContent()).toContain('3 delivered, 0 failed attempts');
  await follow(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Webhooks' }));
  expect(await page.locator('tbody').innerText()).toMatch(/Healthy[\s\S]*3 \(100%\)/);
});

it('the list of webhooks shows without a reload that more was delivered', async () => {
  const other = await context.newPage();
  await other.goto(stack.baseUrl + (await page.getByRole('link', { name: host() }).getAttribute('href')));
  await press('Send a test event', other);
  await other.close();
  await page.locator('tbody').getByText('4 (100%)').waitFor();
  await follow(page.getByRole('link', { name: host() }));
});

it('a failing receiver’s attempts are shown, and replayed once it works again', async () => {
  works = false;
  await press('Send a test event');
  expect(await said()).toMatch(/^Test event sent\. Your receiver returned 410 Gone in \d+ ms\.$/);
  await follow(page.getByRole('link', { name: 'Harsh Braking', exact: true }).first());
  await page.getByText('out of order').waitFor();
  expect(await page.locator('.attempts').innerText()).toMatch(/410 Gone\s+in \d+ ms/);
  expect(await page.locator('main').innerText()).toContain('TEST vehicle (made up)');
  works = true;
  await press('Replay');
  expect(await said()).toMatch(
    /^Replayed: Harsh Braking, TEST vehicle \(made up\)\. Your receiver returned 204/,
  );
  await page.reload();
  expect(await said()).toContain('Replayed: ');
  expect(await page.locator('.attempts li').count()).toBe(2);
});

it('an integrator sees in two clicks why a webhook fails', async () => {
  works = false;
  await follow(page.getByRole('link', { name: host() }));
  await press('Send a test event');
  works = true;
  await open('/portal');
  await follow(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Webhooks' }));
  expect(await page.locator('tbody').innerText()).toContain('Last attempt failed');
  await follow(page.getByRole('link', { name: host() }));
  expect(await deliveries().first().innerText()).toMatch(/Failed\s+410 Gone/);
});

it('what was missed is counted, and then sent again', async () => {
  await follow(page.getByRole('link', { name: 'Replay 1 failed' }));
  expect(await heading()).toBe('Replay deliveries');
  expect(await page.locator('main').innerText()).toContain('1 delivery can be replayed.');
  await page.getByLabel('Deliveries').selectOption('all');
  await page.getByLabel('Since').fill('2026-01-01T00:00');
  await press('Count');
  expect(await page.getByLabel('Since').inputValue()).toBe('2026-01-01T00:00');
  expect(await page.locator('main').innerText()).toContain('6 deliveries can be replayed.');
  await follow(page.getByRole('link', { name: host() }));
  await follow(page.getByRole('link', { name: 'Replay 1 failed' }));
  const before = got.length;
  await press('Replay 1 delivery');
  expect(await said()).toBe('1 delivery queued again.');
  await until('it arrives', () => got.length === before + 1);
  await deliveries().locator('.state.bad').waitFor({ state: 'detached' });
});

it('some deliveries are selected and replayed, and one is found by its id', async () => {
  const before = got.length;
  for (const place of [0, 1]) await page.getByRole('checkbox').nth(place).check();
  await press('Replay selected');
  expect(await said()).toBe('2 deliveries queued again.');
  await until('they arrive', () => got.length === before + 2);
  await press('Replay selected');
  expect(await said()).toContain('Nothing to replay');
  await page.getByLabel('Delivery-Id, event ID or VIN').fill(String(got[0]?.headers['delivery-id']));
  await press('Search');
  expect(await deliveries().count()).toBe(1);
  expect(await deliveries().innerText()).toContain('Accident, level');
});

it('safety events are filtered as the filters change, and each has a page of its own', async () => {
  const event = { kind: 'safetyEvent', vehicle: 'v', startedAt: new Date().toISOString() };
  await api(stack, us.ingestKey, 'POST', '/ingest', {
    records: [
      { kind: 'vehicle', sourceId: 'v', name: '<script>alert(1)</script>' },
      { ...event, sourceId: 'a', incidentTypes: ['Braking'] },
      { ...event, sourceId: 'b', incidentTypes: ['Crash'] },
    ],
  });
  await open('/portal/connections');
  expect(await page.locator('tbody').innerText()).toMatch(/Vans[\s\S]*Healthy/);
  await follow(page.getByRole('link', { name: 'Vans' }));
  expect(await heading()).toBe('Vans');
  expect(await page.getByRole('row', { name: 'Safety events' }).innerText()).toContain('2');
  await open('/portal/events');
  const rows = page.locator('tbody a.cover');
  expect(await rows.count()).toBe(2);
  expect(await page.locator('table').innerText()).toContain('<script>alert(1)</script>');
  await page.getByLabel('Risk').selectOption('4');
  await page.getByRole('link', { name: 'Risk 4 and 5' }).waitFor();
  expect(page.url()).toContain('risk=4');
  expect(await rows.count()).toBe(1);
  expect(await page.locator('tbody .risk').innerText()).toContain('5 Critical');
  await page.getByLabel('Vehicle', { exact: true }).fill('nowhere');
  await page.getByText('Nothing matches these filters').waitFor();
  await follow(page.getByRole('link', { name: 'Vehicle nowhere' }));
  await follow(rows);
  expect(await heading()).toBe('Crash, <script>alert(1)</script>');
  expect(await page.locator('.timeline').innerText()).toContain('Harsh Braking');
});

it('a provider is connected: its credential tested first, its history shown as it comes, paused and removed', async () => {
  const data = {
    organisation: 'Acme Trucking',
    token: 'samsara_api_made_up',
    vehicles: [samsaraVehicle(1), samsaraVehicle(2)],
    drivers: [],
    trips: [],
    events: [samsaraEvent(samsaraVehicle(1), 'Braking', Date.now() - 86_400_000)],
  };
  const provider = await startProvider(fakeSamsara(data));
  await open('/portal/connections');
  await follow(page.getByRole('link', { name: 'Add a connection' }));
  await follow(page.getByRole('link', { name: 'Samsara' }));
  const guide = await page.getByRole('link', { name: 'What is pulled' }).getAttribute('href');
  expect((await fetch(stack.baseUrl + guide)).status).toBe(200);
  await page.getByText('Another address of the API').click();
  await page.getByLabel('Address').fill(provider.url);
  await page.getByLabel('API token').fill('samsara_api_wrong');
  await press('Test the connection');
  expect(await page.getByRole('alert').allInnerTexts()).toEqual([
    expect.stringContaining('Samsara refuses the API token'),
  ]);
  expect(await page.getByLabel('API token').inputValue()).toBe('');
  expect(await page.getByLabel('Address').inputValue()).toBe(provider.url);
  await page.getByLabel('API token').fill(data.token);
  await press('Test the connection');
  expect(await said()).toContain('It works. Samsara says that it belongs to “Acme Trucking”.');
  expect(await page.content()).not.toContain(data.token);
  await expectGoodPages(page, ['the page of a tested credential'], async () => undefined);
  await page.getByRole('textbox', { name: 'Name' }).fill('Harbor');
  await page.getByRole('radio', { name: '30 days' }).check();
  await press('Add connection');
  expect(await heading()).toBe('Harbor');
  expect(await said()).toContain('Its last 30 days are being loaded');
  await page.locator('#feeds-now').getByText('All 30 days, 1 record').waitFor();
  await page.locator('#state-now').getByText('Healthy').waitFor();
  pulled = page.url().slice(stack.baseUrl.length);
  await press('Pause');
  expect(await said()).toContain('“Harbor” is paused.');
  await press('Resume');
  await page.getByRole('button', { name: 'More actions' }).click();
  await follow(page.getByRole('link', { name: 'Remove' }));
  await page.getByLabel('Its name, to confirm').fill('Harbour');
  await press('Remove connection');
  expect(await page.getByRole('alert').innerText()).toContain('The name does not match');
  await follow(page.getByRole('link', { name: 'Keep it' }));
  expect(outside).toEqual([]);
  provider.stop();
});

it('the overview shows an accident without a reload, and where it leads', async () => {
  await open('/portal');
  expect(await heading()).toBe('Overview');
  expect(await page.locator('#open-now').innerText()).not.toContain('VIN NEW');
  await api(stack, us.ingestKey, 'POST', '/ingest', {
    notify: false,
    records: [
      {
        ...{ kind: 'accident', sourceId: 'new', vin: 'NEW', eventTime: new Date().toISOString() },
        ...{ location: { latitude: 1, longitude: 2 }, notificationLevel: 1 },
      },
    ],
  });
  await page.locator('#open-now').getByText('VIN NEW').waitFor();
  await page.locator('nav#nav').getByText('1 open').waitFor({ state: 'attached' });
  await follow(page.getByRole('link', { name: '90 days' }));
  expect(await page.locator('#trend-now').innerText()).toContain('in the last 90 days');
});

it('accidents are shown by state, each with a page of its own, with links to their reports', async () => {
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
  await open('/portal/accidents');
  expect(await page.getByRole('row').filter({ hasText: 'VIN1' }).innerText()).toContain('False alarm');
  await follow(page.getByRole('link', { name: 'Report ready', exact: true }));
  expect(await page.locator('tbody tr').count()).toBe(1);
  expect(await page.getByRole('link', { name: 'Open report' }).getAttribute('href')).toBe(reportUrl);
  await follow(page.locator('tbody a.cover'));
  expect(await heading()).toBe('Accident, VIN2');
  expect(await page.getByRole('link', { name: 'Open the report' }).getAttribute('href')).toBe(reportUrl);
  expect(await page.locator('.levels .done').count()).toBe(3);
});

it('a claims handler finds the state of an accident in two clicks', async () => {
  await open('/portal');
  await follow(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Accidents' }));
  await follow(page.getByRole('row', { name: 'VIN1' }).locator('a.cover'));
  expect(await page.locator('.title-row').innerText()).toMatch(/VIN1\s+False alarm/);
  await open('/portal');
  await follow(page.locator('#open-now').getByRole('link', { name: 'VIN NEW' }));
  expect(await page.locator('.title-row').innerText()).toMatch(/NEW\s+Open/);
  expect(await page.locator('.levels .now').innerText()).toContain('Verified');
});

it('a slash goes to the search, which finds a vehicle by its name, and shows a trip on a map', async () => {
  const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const place = (longitude: number) => ({ latitude: 40.2, longitude });
  const event = {
    kind: 'safetyEvent',
    vehicle: 'truck',
    driver: 'd',
    trip: 't',
    incidentTypes: ['Speeding'],
  };
  await api(stack, us.ingestKey, 'POST', '/ingest', {
    notify: false,
    records: [
      { kind: 'vehicle', sourceId: 'truck', name: 'Hauler 9', licensePlate: 'ZK 1' },
      { kind: 'driver', sourceId: 'd', name: 'Joss' },
      {
        ...{ kind: 'trip', sourceId: 't', vehicle: 'truck', driver: 'd', startedAt: at(90), endedAt: at(10) },
        ...{ startLocation: place(-78), endLocation: place(-77) },
      },
      { ...event, sourceId: 'm1', startedAt: at(60), location: place(-77.5) },
      { ...event, sourceId: 'm2', startedAt: at(59), location: place(-77.5) },
    ],
  });
  await open('/portal/webhooks');
  await page.keyboard.press('/');
  await page.keyboard.type('hauler');
  await Promise.all([page.waitForURL(/\/portal\/vehicles\//), page.keyboard.press('Enter')]);
  expect(await heading()).toBe('Hauler 9');
  await follow(page.locator('section[aria-labelledby=trips] tbody a').first());
  expect(await heading()).toBe('Trip of Hauler 9');
  expect(await page.locator('section[aria-labelledby=events] tbody tr').count()).toBe(2);
  const map = page.locator('.map');
  await map.getByLabel('2 places').click();
  expect(await map.locator('.map-list a').count()).toBe(2);
  expect(await map.getByRole('img', { name: 'A: Start' }).innerText()).toBe('A');
  await follow(map.locator('.map-list a').first());
  expect(await heading()).toContain('Speeding');
  expect(outside).toEqual([]);
});

it('people are invited and removed', async () => {
  await follow(page.getByRole('link', { name: 'Settings', exact: true }));
  expect(await page.title()).toContain('API Tokens');
  await follow(page.getByRole('link', { name: 'People', exact: true }));
  await page.getByLabel('Email address').fill('bob@example.com');
  await page.getByLabel('Role').selectOption('Viewer');
  await press('Invite');
  expect(await page.getByRole('status').innerText()).toContain('Invited bob@example.com as a viewer.');
  await follow(page.getByRole('link', { name: 'Change role of bob@example.com' }));
  await page.getByRole('radio', { name: 'Member' }).check();
  await press('Save');
  expect(await page.getByRole('row', { name: 'bob@example.com' }).innerText()).toContain('Member');
  await follow(page.getByRole('link', { name: 'Remove bob@example.com' }));
  await press('Remove bob@example.com');
  expect(await page.getByRole('table').innerText()).not.toContain('bob@example.com');
});

it('a viewer sees everything, without the buttons, and is told whom to ask', async () => {
  await fleetJson(stack, 'user', 'add', 'vera@example.com', '--account', us.accountId, '--role', 'viewer');
  const link = (await fleet(stack, 'sign-in-link', 'vera@example.com')).out.trim();
  const other = await browser.newContext();
  const vera = await other.newPage();
  await vera.goto(link);
  await press('Sign in', vera);
  await vera.goto(`${stack.baseUrl}/portal/settings/people`);
  expect(await vera.locator('main').innerText()).toContain('Ask an admin to invite people or change roles.');
  expect(await vera.getByRole('button', { name: 'Invite' }).count()).toBe(0);
  await vera.goto(`${stack.baseUrl}/portal/webhooks/new`);
  expect(await vera.locator('h1').innerText()).toBe('Ask an admin or a member');
  await other.close();
});

it('a time zone that is chosen wins over the browser’s', async () => {
  await open('/portal/connections');
  await follow(page.getByRole('link', { name: 'Change the time zone' }));
  await page.getByLabel('Show times in').selectOption('Berlin');
  await follow(page.locator('form').filter({ hasText: 'Show times in' }).getByRole('button'));
  expect(await page.locator('.foot').innerText()).toContain('(Berlin)');
  await page.getByLabel('Show times in').selectOption({ index: 0 });
  await follow(page.locator('form').filter({ hasText: 'Show times in' }).getByRole('button'));
  expect(await page.locator('.foot').innerText()).not.toContain('(Berlin)');
});

it('emails about webhooks are turned off and on again, by keyboard too', async () => {
  await follow(page.getByRole('link', { name: 'Notifications', exact: true }));
  expect(await page.title()).toContain('Notifications');
  const box = page.getByRole('checkbox', { name: /^Email me when a webhook is paused/ });
  expect(await box.isChecked()).toBe(true);
  await box.focus();
  await page.keyboard.press('Space');
  await press('Save', page.getByRole('region', { name: 'Emails about webhooks' }));
  expect(await box.isChecked()).toBe(false);
  expect(await page.locator('main').innerText()).toContain('We do not email ann@example.com');
  await box.check();
  await press('Save', page.getByRole('region', { name: 'Emails about webhooks' }));
  expect(await box.isChecked()).toBe(true);
});

it('no page breaks a rule of accessibility, is wider than a phone, is heavy, or calls another host', async () => {
  const webhook = (await api<{ id: string }[]>(stack, us.token, 'GET', '/webhooks')).data[0]?.id;
  const [delivery] = await fleetJson<{ id: string }[]>(stack, 'delivery', 'list', '--webhook', webhook ?? '');
  const token = await fleetJson<{ id: string }[]>(stack, 'token', 'list', '--account', us.accountId);
  const hook = `/portal/webhooks/${webhook}`;
  const settings = '/portal/settings';
  const people = await fleetJson<{ id: string; email: string }[]>(
    stack,
    'user',
    'list',
    '--account',
    us.accountId,
  );
  const other = people.find(({ email }) => email === 'vera@example.com')?.id;
  /** The page of the first of a list. */
  const first = async (list: string) => {
    await open(list);
    return (await page.locator('tbody a.cover').first().getAttribute('href')) ?? '';
  };
  const paths = [
    ...['/portal/connections', `/portal/connections/${us.connectionId}`],
    ...['', '?provider=geotab', '?provider=terminal', '?provider=other'].map(
      (query) => `/portal/connections/new${query}`,
    ),
    ...[pulled, `${pulled}/credential`, `${pulled}/remove`],
    ...['/portal/vehicles', '/portal/drivers', '/portal/trips', '/portal/search', '/portal/search?q=nothing'],
    ...[await first('/portal/vehicles'), await first('/portal/drivers'), await first('/portal/trips')],
    ...[
      await first('/portal/events'),
      '/portal/events?risk=4',
      '/portal/events?from=2026-02-02&to=2026-02-01',
    ],
    ...[await first('/portal/accidents'), '/portal/accidents?state=open'],
    ...[
      '/portal',
      '/portal?days=90',
      '/portal/events',
      '/portal/accidents',
      '/portal/sign-in',
      '/portal/nowhere',
    ],
    ...['/portal/webhooks', '/portal/webhooks/new', hook, `${hook}/edit`, `${hook}/replay`, `${hook}/delete`],
    ...[`${hook}?state=failed&by=day`, `${hook}?q=nothing`],
    `${hook}/deliveries/${delivery?.id}`,
    ...[`${settings}/tokens`, `${settings}/tokens/${token[0]?.id}/revoke`],
    ...[`${settings}/people`, `${settings}/people/${other}/role`, `${settings}/people/${other}/remove`],
    ...[`${settings}/notifications`, `${settings}/audit`, `${settings}/account`],
  ];
  await expectGoodPages(page, paths, async (path) => {
    const reply = await open(path);
    expect(gzipSync((await reply?.body()) ?? '').length, path).toBeLessThan(30_000);
  });
  expect(outside).toEqual([]);
});

/** The same person in a browser that runs no script. */
async function withoutScript(): Promise<Page> {
  const plain = await browser.newContext({ javaScriptEnabled: false });
  await plain.addCookies(await context.cookies());
  return plain.newPage();
}

it('without script the settings work', async () => {
  const plainPage = await withoutScript();
  const at = (tab: string) => plainPage.goto(`${stack.baseUrl}/portal/settings/${tab}`);
  await at('tokens');
  await plainPage.getByLabel('Token name').fill('Plain');
  await press('Generate Token', plainPage);
  expect(await plainPage.locator('#token').innerText()).toMatch(/^fds_/);
  await follow(plainPage.getByRole('row', { name: 'Plain' }).getByRole('link'));
  await press('Revoke “Plain”', plainPage);
  expect(await plainPage.getByRole('status').innerText()).toContain('Revoked “Plain”');
  await at('people');
  await plainPage.getByLabel('Email address').fill('carl@example.com');
  await press('Invite', plainPage);
  await follow(plainPage.getByRole('link', { name: 'Change role of carl@example.com' }));
  await plainPage.getByRole('radio', { name: 'Viewer' }).check();
  await press('Save', plainPage);
  expect(await plainPage.getByRole('row', { name: 'carl@example.com' }).innerText()).toContain('Viewer');
  await follow(plainPage.getByRole('link', { name: 'Remove carl@example.com' }));
  await press('Remove carl@example.com', plainPage);
  await at('audit');
  expect(await plainPage.locator('tbody').innerText()).toMatch(
    /Deleted carl@example\.com[\s\S]*Invited carl@example\.com/,
  );
  await at('notifications');
  const box = plainPage.getByRole('checkbox', { name: /^Email me when a webhook is paused/ });
  for (const wanted of [false, true]) {
    await box.setChecked(wanted);
    await press('Save', plainPage.getByRole('region', { name: 'Emails about webhooks' }));
    expect(await box.isChecked()).toBe(wanted);
  }
  await at('account');
  await plainPage.getByLabel('Show times in').selectOption('Berlin');
  await press('Save', plainPage);
  expect(await plainPage.locator('.foot').innerText()).toContain('(Berlin)');
  await plainPage.getByLabel('Show times in').selectOption({ index: 0 });
  await press('Save', plainPage);
  await plainPage.context().close();
});

it('without script everything still works', async () => {
  const plainPage = await withoutScript();
  await plainPage.goto(`${stack.baseUrl}/portal/search?q=hauler`);
  await follow(plainPage.locator('section[aria-labelledby=trips] tbody a').first());
  expect(await plainPage.locator('.map-places').innerText()).toContain('Start 40.20000, −78.00000');
  expect(await plainPage.locator('.map').isVisible()).toBe(false);
  await plainPage.goto(`${stack.baseUrl}/portal/events`);
  await plainPage.getByLabel('Risk').selectOption('4');
  await press('Apply', plainPage);
  expect(await plainPage.locator('tbody a.cover').count()).toBe(1);
  await plainPage.goto(`${stack.baseUrl}/portal/webhooks/new`);
  await press('Generate a secret', plainPage);
  expect(await plainPage.getByLabel('Header 1 name').inputValue()).toBe('X-Webhook-Secret');
  expect(await plainPage.getByLabel('Header 1 value').inputValue()).toMatch(/^[\w-]{32}$/);
  await press('Remove header 1', plainPage);
  expect(await plainPage.getByLabel('Header 1 name').inputValue()).toBe('');
  await plainPage.goto(`${stack.baseUrl}/portal/webhooks`);
  await follow(plainPage.getByRole('link', { name: host() }));
  await plainPage.getByRole('checkbox').first().check();
  await press('Replay selected', plainPage);
  expect(await plainPage.getByRole('status').innerText()).toBe('1 delivery queued again.');
  await plainPage.getByRole('button', { name: 'More actions' }).click();
  await follow(plainPage.getByRole('link', { name: 'Delete' }));
  await press('Delete webhook', plainPage);
  expect(await plainPage.getByRole('status').innerText()).toContain('was deleted');
  expect(await plainPage.locator('main').innerText()).toContain('No webhooks yet');
  await plainPage.context().close();
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
  expect(await otherPage.locator('h1').innerText()).toBe('Overview');
  await open('/portal/settings/account');
  await press('Sign out everywhere');
  expect(await heading()).toBe('Sign in to Fleet Data Service');
  expect(await page.getByRole('status').innerText()).toBe('All of your sessions have ended.');
  await otherPage.reload();
  expect(await otherPage.locator('h1').innerText()).toBe('Sign in to Fleet Data Service');
  await other.close();
});
