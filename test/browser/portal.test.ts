import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { type Received, startReceiver } from '#src/cli/local/receiver.ts';
import { operatorOf } from '#src/cli/operate/client.ts';
import { fakeSamsara, samsaraEvent, samsaraVehicle } from '#src/dev/fakes/samsara.ts';
import { openBrowser } from '#test/support/node/browser.ts';
import { api, fleetJson, journeyAccount, until } from '#test/support/node/journey.ts';
import { startProvider } from '#test/support/node/provider.ts';
import { accident, driver, safetyEvent, trip, vehicle } from '#test/support/records.ts';

const { stack, browser, context, outside } = await openBrowser();
const us = await journeyAccount(stack);
const page = await context.newPage();
const got: Received[] = [];
const receiver = await startReceiver(stack.certificates, 0, (received) => got.push(received));
afterAll(() => receiver.stop());

const addUser = (email: string) =>
  fleetJson<{ id: string }>(stack, 'user', 'add', email, '--account', us.accountId);

/** The link of the mail that the local email service has kept; its log says where. */
async function mailedLink(): Promise<string> {
  const log = join(dirname(stack.certificates.caFile), 'wrangler.log');
  const kept = () =>
    /^To: ann@example\.com$[\s\S]*?^Text: (.+)$/m.exec(readFileSync(log, 'utf8'))?.[1];
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

// One story: each test goes on where the one before ended.
it('a mailed link signs in by its button alone, and by keyboard', async () => {
  await addUser('Ann@Example.com');
  await open('/portal/settings/tokens'); // which leads to the sign-in page
  await page.getByLabel('Email address').fill('ann@example.com');
  await press('Email me a link');
  expect(await page.locator('main').innerText()).toContain('a link is on its way');
  const link = await mailedLink();
  await page.goto(link);
  await page.goto(link); // opening it, as scanners do, uses nothing up
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/portal(\/connections)?$/);
  expect(await page.locator('nav.nav').innerText()).toContain('Journey');
  const cookie = (await context.cookies()).find(({ name }) => name === 'session');
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax' });
});

const said = () => page.getByRole('status').innerText();

it.each([true, false])(
  'a button pressed twice makes one token, and shows it if scripts run (scripts: %s)',
  async (javaScriptEnabled) => {
    const again = await browser.newContext({
      javaScriptEnabled,
      storageState: await context.storageState(),
    });
    const tab = await again.newPage();
    const name = `Pressed twice ${javaScriptEnabled}`;
    await tab.goto(`${stack.baseUrl}/portal/settings/tokens`);
    await tab.getByLabel('Token name').fill(name);
    const button = tab.getByRole('button', { name: 'Generate Token' });
    await button.dblclick();
    if (javaScriptEnabled) {
      await tab.locator('#token').waitFor();
      expect(await tab.locator('#token').innerText()).toMatch(/^fds_/);
      expect(await tab.locator('h1').innerText()).toBe(`Generated “${name}”`);
      await tab.getByRole('link', { name: 'Continue' }).click();
    } else {
      // Whether the second press is sent as well depends on how soon the first has its response.
      await tab.getByText(/Copy the token now|This form was sent already/).waitFor();
      await tab.goto(`${stack.baseUrl}/portal/settings/tokens`);
    }
    await tab.locator('tbody tr', { hasText: name }).waitFor();
    expect(await tab.locator('tbody tr', { hasText: name }).count()).toBe(1);
    if (javaScriptEnabled) {
      await tab.goBack();
      expect(await button.isEnabled()).toBe(true);
      const waits = (one: HTMLElement) => {
        one.click();
        return new Promise((resolve) => setTimeout(() => resolve(one.matches(':disabled'))));
      };
      expect(await button.evaluate(waits)).toBe(true);
    }
    await again.close();
  },
);

it('a simulated accident arrives by its levels, and the page shows it by itself', async () => {
  const { data: hook } = await api<{ id: string }>(stack, us.token, 'POST', '/webhook', {
    ...{ connectionIds: [us.connectionId], url: `${receiver.url}/portal`, httpVerb: 'PUT' },
    ...{ headers: { 'X-Secret': 's3cret' }, notificationTypes: [1, 2] },
  });
  await open(`/portal/webhooks/${hook.id}`);
  await page.getByRole('button', { name: 'More actions' }).click();
  await press('Simulate an accident');
  expect(await said()).toMatch(
    /^Level 1 of a test accident sent, .* (Your receiver returned 204 in \d+ ms|It is on its way)\./,
  );
  await until('three levels arrive', () => got.length === 3);
  expect(got.map(({ body }) => body.data.notificationLevel).sort()).toEqual([1, 2, 3]);
  expect(got[0]).toMatchObject({ method: 'PUT', headers: { 'x-secret': 's3cret' } });
  expect(got[0]?.body.data).toMatchObject({ tSP: 'TEST', vin: expect.stringContaining('TEST') });
  await page.locator('section[aria-labelledby=deliveries] tbody tr .state.ok').nth(2).waitFor();
});

it('safety events are filtered as the filters change, and each has a page of its own', async () => {
  const startedAt = new Date().toISOString();
  const event = (type: string) => safetyEvent({ sourceId: type, startedAt, incidentTypes: [type] });
  const records = [
    vehicle({ name: '<script>alert(1)</script>' }),
    event('Braking'),
    event('Crash'),
  ];
  await api(stack, us.ingestKey, 'POST', '/ingest', { records });
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
});

it('the history of a connection is shown as it comes', async () => {
  const vehicles = [samsaraVehicle(1), samsaraVehicle(2)];
  const events = [samsaraEvent(samsaraVehicle(1), 'Braking', Date.now() - 86_400_000)];
  const fleet = { organisation: 'Acme Trucking', token: 'samsara_api_made_up', vehicles, events };
  const provider = await startProvider(fakeSamsara({ ...fleet, drivers: [], trips: [] }));
  // Only operators may name a server that is not the provider's own.
  const named = {
    provider: 'samsara',
    credential: fleet.token,
    baseUrl: provider.url,
    historyDays: 30,
  };
  const body = { ...named, name: 'Harbor' };
  const { id } = await operatorOf(stack).call('POST /accounts/:id/connections', {
    id: us.accountId,
    body,
  });
  await open(`/portal/connections/${id}`);
  expect(await heading()).toBe('Harbor');
  await page.locator('#data-pulled-now').getByText('All 30 days, 1 record').waitFor();
  await page.locator('#state-now').getByText('Healthy').waitFor();
  provider.stop();
});

it('a slash goes to the search, which finds a vehicle; a trip is on a map', async () => {
  const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const place = (longitude: number) => ({ latitude: 40.2, longitude });
  const there = { vehicle: 'truck', driver: 'd' };
  const speeding = (sourceId: string, startedAt: string) =>
    safetyEvent({
      ...{ ...there, trip: 't', sourceId, startedAt },
      ...{ incidentTypes: ['Speeding'], location: place(-77.5) },
    });
  const ends = { startLocation: place(-78), endLocation: place(-77) };
  await api(stack, us.ingestKey, 'POST', '/ingest', {
    notify: false,
    records: [
      vehicle({ sourceId: 'truck', name: 'Hauler 9', vin: null }),
      driver({ sourceId: 'd' }),
      trip({ ...there, ...ends, sourceId: 't', startedAt: at(90), endedAt: at(10) }),
      speeding('m1', at(60)),
      speeding('m2', at(59)),
      accident(),
    ],
  });
  await open('/portal/webhooks');
  await page.keyboard.press('/');
  await page.keyboard.type('hau');
  const found = page.locator('#found-any');
  await found.getByRole('link', { name: 'Hauler 9' }).waitFor();
  await page.keyboard.type('lx');
  await found.getByText('No matches').waitFor();
  await page.keyboard.press('Backspace');
  await page.keyboard.type('er');
  await found.getByRole('link', { name: 'Hauler 9' }).waitFor();
  await Promise.all([page.waitForURL(/\/portal\/vehicles\//), page.keyboard.press('Enter')]);
  expect(await heading()).toBe('Hauler 9');
  await follow(page.locator('section[aria-labelledby=latest-trips] tbody a').first());
  expect(await heading()).toBe('Trip of Hauler 9');
  expect(
    await page.locator('section[aria-labelledby=safety-events-on-this-trip] tbody tr').count(),
  ).toBe(2);
  const map = page.locator('.map');
  await map.getByLabel('2 places').click();
  expect(await map.locator('.map-list a').count()).toBe(2);
  expect(await map.getByRole('img', { name: 'A: Start' }).innerText()).toBe('A');
  await follow(map.locator('.map-list a').first());
  expect(await heading()).toContain('Speeding');
  expect(outside).toEqual([]);
});

it('lists of vehicles and drivers show results while somebody types, and the address keeps them', async () => {
  await open('/portal/vehicles');
  const names = page.locator('tbody a.cover');
  await expect.poll(() => names.count()).toBeGreaterThan(1);
  await page.getByLabel('Name, plate or VIN').fill('haul');
  await expect.poll(() => names.allInnerTexts()).toEqual(['Hauler 9']);
  expect(page.url()).toContain('q=haul');
  await page.reload();
  expect(await names.allInnerTexts()).toEqual(['Hauler 9']);
});

it('many choices are narrowed while somebody types, and the Enter key sends nothing', async () => {
  const webhook = (await api<{ id: string }[]>(stack, us.token, 'GET', '/webhooks')).data[0]?.id;
  await open(`/portal/webhooks/${webhook}/edit`);
  await page.getByText('Filters', { exact: true }).click();
  await page.getByLabel('Find in Only these incident types').fill('harsh brak');
  await page.keyboard.press('Enter');
  const group = page.getByRole('group', { name: 'Only these incident types' });
  expect(await group.locator('.choice:visible').allInnerTexts()).toEqual(['Harsh Braking']);
});
