// More than 15 s: an accident is simulated, whose levels come seconds apart.
import { dirname } from 'node:path';
import type { Locator, Page, Response, Route } from 'playwright-core';
import { openBrowser } from '#test/support/node/browser.ts';
import {
  ago,
  fleetJson,
  journeyAccount,
  mailedLinks,
  minuteMs,
  type Received,
  safetyEvent,
  startReceiver,
  trip,
  until,
  vehicle,
} from '#test/support/node/index.ts';

const { stack, context, outside } = await openBrowser();
const us = await journeyAccount(stack);
const page = await context.newPage();
const got: Received[] = [];
const receiver = await startReceiver(stack.certificates, 0, (received) => got.push(received));
afterAll(() => receiver.stop());

const open = (path: string) => page.goto(`${stack.baseUrl}${path}`);
const heading = () => page.locator('h1').innerText();
/** Clicks what leads to another page, and waits until that is there. */
const follow = (target: Locator) =>
  Promise.all([target.page().waitForEvent('domcontentloaded'), target.click()]);
const press = (name: string, on: Page | Locator = page) =>
  follow(on.getByRole('button', { name, exact: true }));

// One story: each test goes on where the one before ended.
it('a mailed link signs in by its button alone, and by keyboard', async () => {
  await fleetJson(stack, 'user add Ann@Example.com --account', us.accountId);
  await open('/portal/settings/tokens'); // which leads to the sign-in page
  await page.getByLabel('Email address').fill('ann@example.com');
  await press('Email me a link');
  expect(await page.locator('main').innerText()).toContain('a link is on its way');
  const links = () => mailedLinks(dirname(stack.certificates.caFile), 'ann@example\\.com');
  await until('the mail is there', () => links().length > 0);
  const [link = ''] = links();
  await page.goto(link);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/portal(\/connections)?$/);
  expect(await page.locator('nav.nav').innerText()).toContain('Journey');
  const cookie = (await context.cookies()).find(({ name }) => name === 'session');
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax' });
});

it('a button pressed twice makes one token, is off meanwhile, and on again when one goes back', async () => {
  await open('/portal/settings/tokens');
  const button = page.getByRole('button', { name: 'Generate Token' });
  await page.getByLabel('Token name').fill('Pressed twice');
  await button.dblclick();
  expect(await page.locator('#token').innerText()).toMatch(/^fds_/);
  await follow(page.getByRole('link', { name: 'Continue' }));
  expect(await page.locator('tbody tr', { hasText: 'Pressed twice' }).count()).toBe(1);
  await page.goBack();
  expect(await button.isEnabled()).toBe(true);
  const waits = (one: HTMLElement) => {
    one.click();
    return new Promise((resolve) => setTimeout(() => resolve(one.matches(':disabled'))));
  };
  const sent = page.waitForEvent('domcontentloaded');
  expect(await button.evaluate(waits)).toBe(true);
  await sent;
});

it('a simulated accident arrives by its levels, and the page shows it by itself', async () => {
  const { data: hook } = await us.call<{ id: string }>('POST', '/webhook', {
    connectionIds: [us.connectionId],
    url: `${receiver.url}/portal`,
    httpVerb: 'PUT',
    notificationTypes: [1, 2],
  });
  await open(`/portal/webhooks/${hook.id}`);
  await page.getByRole('button', { name: 'More actions' }).click();
  await press('Simulate an accident');
  expect(await page.getByRole('status').innerText()).toMatch(
    /^Level 1 of a test accident sent, .* (Your receiver returned 204 in \d+ ms|It is on its way)\./,
  );
  await until('three levels arrive', () => got.length === 3);
  expect(got.map(({ body }) => body.data.notificationLevel).sort()).toEqual([1, 2, 3]);
  await page.locator('section[aria-labelledby=deliveries] tbody tr .state.ok').nth(2).waitFor();
});

it('a slash goes to the search, which finds a vehicle; a trip is on a map', async () => {
  const place = (longitude: number) => ({ latitude: 40.2, longitude });
  const speeding = (sourceId: string, startedAt: string) =>
    safetyEvent({
      sourceId,
      startedAt,
      trip: 'trip-1',
      incidentTypes: ['Speeding'],
      location: place(-77.5),
    });
  const ends = { startLocation: place(-78), endLocation: place(-77) };
  await us.send(
    [
      vehicle({ name: 'Hauler 9' }),
      vehicle({ sourceId: 'other', vin: null }),
      trip({ ...ends, startedAt: ago(90 * minuteMs), endedAt: ago(10 * minuteMs) }),
      speeding('m1', ago(60 * minuteMs)),
      speeding('m2', ago(59 * minuteMs)),
    ],
    false,
  );
  await open('/portal/webhooks');
  await page.keyboard.press('/');
  await page.keyboard.type('hau');
  const found = page.locator('#found-any');
  await found.getByRole('link', { name: 'Hauler 9' }).waitFor();
  await page.keyboard.type('x');
  await found.getByText('No matches').waitFor();
  await page.keyboard.press('Backspace');
  await found.getByRole('link', { name: 'Hauler 9' }).waitFor();
  await Promise.all([page.waitForURL(/\/portal\/vehicles\//), page.keyboard.press('Enter')]);
  expect(await heading()).toBe('Hauler 9');
  await follow(page.locator('section[aria-labelledby=latest-trips] tbody a').first());
  expect(await heading()).toBe('Trip of Hauler 9');
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

it('a list takes a day that is typed once all of it is there, and counts the filters that are set', async () => {
  await open('/portal/accidents');
  const asked: (string | null)[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).searchParams.get('from')));
  await page.getByLabel('From').focus();
  await page.keyboard.type('11202026');
  await expect.poll(() => page.url()).toContain('from=2026-11-20');
  expect([...new Set(asked)]).toEqual(['2026-11-20']);
  expect(await page.locator('.filter-box summary').textContent()).toBe('Filters1 set');
});

it('many choices are narrowed while somebody types, and the Enter key sends nothing', async () => {
  const webhook = (await us.get<{ id: string }[]>('/webhooks'))[0]?.id;
  await open(`/portal/webhooks/${webhook}/edit`);
  await page.getByText('Filters', { exact: true }).click();
  await page.getByLabel('Find in Only these incident types').fill('harsh brak');
  await page.keyboard.press('Enter');
  const group = page.getByRole('group', { name: 'Only these incident types' });
  expect(await group.locator('.choice:visible').allInnerTexts()).toEqual(['Harsh Braking']);
});

it('a page is printed on all of its paper, not beside room for the menu', async () => {
  await page.emulateMedia({ media: 'print' });
  const { width = 0 } = (await page.locator('main').boundingBox()) ?? {};
  expect(width).toBeGreaterThan(1000);
  await page.emulateMedia({ media: null });
});

it('a page shows what has changed, also if it was not read at first, but not what no filter asks for', async () => {
  await page.clock.install();
  await open('/portal/events');
  const rows = page.locator('tbody a.cover');
  const address = `${stack.baseUrl}/portal/events`;
  const happens = (sourceId: string) =>
    us.send([safetyEvent({ sourceId, startedAt: ago(minuteMs) })], false);
  const looksAfter = (ms: number, answered: (response: Response) => boolean) =>
    Promise.all([page.waitForResponse(answered), page.clock.runFor(ms)]);
  await page.route(address, (route) => route.fulfill({ status: 503 }), { times: 1 });
  await happens('m3');
  await looksAfter(4000, (response) => response.status() === 503);
  await looksAfter(8000, (response) => response.url() === address);
  await expect.poll(() => rows.count()).toBe(3);

  const { promise, resolve } = Promise.withResolvers<void>();
  const answer = async (route: Route) => {
    await promise;
    await route.continue();
  };
  await page.route(address, answer, { times: 1 });
  await happens('m4');
  await Promise.all([page.waitForRequest(address), page.clock.runFor(8000)]);
  await page.getByLabel('Risk').selectOption('5');
  await expect.poll(() => rows.count()).toBe(0);
  await Promise.all([page.waitForResponse(address), resolve()]);
  const isLook = (response: Response) => response.url().includes('/page-version');
  await looksAfter(8000, isLook); // the next one: the last has ended
  expect(await rows.count()).toBe(0);
});
