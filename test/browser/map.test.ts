import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
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
import { accident as crash, safetyEvent, vehicle } from '../support/records.ts';

let stack: SharedStack;
let browser: Browser;
let context: BrowserContext;
let page: Page;
/** The page of an accident, with two events before it that are close to each other. */
let accident = '';
/** What the page has asked for of MapLibre, by the file's name. */
let maplibre: string[] = [];

beforeAll(async () => {
  [stack, browser] = await Promise.all([sharedStack(), launchBrowser()]);
  const us = await journeyAccount(stack);
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const place = (longitude: number) => ({ latitude: 40.2, longitude });
  await api(stack, us.ingestKey, 'POST', '/ingest', {
    notify: false,
    records: [
      vehicle(),
      safetyEvent({ sourceId: 'a', startedAt: minutesAgo(40), location: place(-78.5) }),
      safetyEvent({ sourceId: 'b', startedAt: minutesAgo(39), location: place(-78.46) }),
      crash({ eventTime: minutesAgo(30), location: place(-77) }),
    ],
  });
  await fleetJson(stack, 'user', 'add', 'mara@example.com', '--account', us.accountId);
  context = await browser.newContext();
  const first = await context.newPage();
  await first.goto((await fleet(stack, 'sign-in-link', 'mara@example.com')).out.trim());
  await first.getByRole('button', { name: 'Sign in' }).click();
  await first.waitForURL(`${stack.baseUrl}/portal`);
  await first.goto(`${stack.baseUrl}/portal/accidents`);
  accident = (await first.locator('tbody a.cover').getAttribute('href')) ?? '';
  await first.close();
});
afterAll(async () => {
  await browser?.close();
});
beforeEach(async () => {
  await page?.close();
  page = await context.newPage();
  maplibre = [];
  page.on('request', (request) => {
    const file = /maplibre[^/]*$/.exec(request.url());
    if (file) maplibre.push(file[0]);
  });
});

async function openAccident() {
  await page.goto(stack.baseUrl + accident);
  await page.locator('.map').scrollIntoViewIfNeeded();
  await still().waitFor();
}

const still = () => page.locator('canvas.map-still');
const live = () => page.locator('.map-live canvas');
const pin = () => page.locator('.map .accident');
const cluster = () => page.getByRole('button', { name: '2 places' });
const zoomIn = () => page.getByRole('button', { name: 'Zoom in' });
const scale = () => page.locator('.map-scale').innerText();
const focused = () => page.evaluate('document.activeElement.ariaLabel');
/** Waits until MapLibre has taken over from the still picture. */
async function untilLive() {
  await live().waitFor();
  await still().waitFor({ state: 'detached' });
}
/** How often each colour is in the still picture, as CSS knows colours; the most frequent ones first. */
const colors = () =>
  page.evaluate<string[]>(`{
    const { width, height } = document.querySelector('canvas.map-still');
    const { data } = document.querySelector('canvas.map-still').getContext('2d').getImageData(0, 0, width, height);
    const counts = {};
    for (let i = 0; i < data.length; i += 4) {
      const color = 'rgb(' + data.slice(i, i + 3).join(', ') + ')';
      counts[color] = (counts[color] ?? 0) + 1;
    }
    Object.keys(counts).sort((a, b) => counts[b] - counts[a]);
  }`);

it('a map is a still picture with its pins, and MapLibre takes over in the same place once the pointer is on it', async () => {
  await openAccident();
  expect(await pin().getAttribute('aria-label')).toBe('The accident 40.20000, −77.00000');
  expect((await colors())[0]).toBe('rgb(241, 243, 246)'); // land
  await until('there are borders and names', async () => (await colors()).length > 20);
  expect(maplibre).toEqual([]);
  const before = await Promise.all([pin().boundingBox(), cluster().boundingBox(), scale()]);
  await page.locator('.map').hover({ position: { x: 20, y: 20 } });
  await untilLive();
  expect(maplibre).toContain('maplibre-gl.mjs');
  expect(await Promise.all([pin().boundingBox(), cluster().boundingBox(), scale()])).toEqual(before);
  await zoomIn().click();
  await until('the map is larger', async () => (await scale()) !== before[2]);
});

it('a cluster parts into its points by keyboard alone, one of which gets the focus', async () => {
  await openAccident();
  await cluster().focus();
  await page.keyboard.press('Enter');
  await untilLive();
  await cluster().waitFor({ state: 'detached' });
  expect(await page.locator('.map a.pin').count()).toBe(2);
  expect(await focused()).toMatch(/^[12]: /); // one of the points
});

it('where the browser has no WebGL, the picture stays, and can be zoomed', async () => {
  await page.addInitScript(`{
    const { getContext } = HTMLCanvasElement.prototype;
    HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
      return kind.startsWith('webgl') ? null : getContext.call(this, kind, ...rest);
    };
  }`);
  await openAccident();
  const before = await scale();
  await cluster().click();
  await cluster().waitFor({ state: 'detached' });
  expect(await scale()).not.toBe(before);
  expect(maplibre).toContain('maplibre-gl.mjs');
  expect(await still().isVisible()).toBe(true);
  expect(await live().count()).toBe(0);
});

it('the picture has the colours of the theme, also once that changes, and fits on a phone', async () => {
  await openAccident();
  await page.emulateMedia({ colorScheme: 'dark' });
  await until('it is dark', async () => (await colors())[0] === 'rgb(24, 28, 35)');
  await page.setViewportSize({ width: 320, height: 900 });
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
});

it('MapLibre is loaded at once for the style of a tile provider', async () => {
  const style = `${stack.baseUrl}/style.json`;
  await page.route(style, (route) => route.fulfill({ json: { version: 8, sources: {}, layers: [] } }));
  await page.route(stack.baseUrl + accident, async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace('data-map', `data-map data-style="${style}"`);
    await route.fulfill({ response, body });
  });
  await page.goto(stack.baseUrl + accident);
  await page.locator('.map').scrollIntoViewIfNeeded();
  await live().waitFor();
  expect(await still().count()).toBe(0);
});
