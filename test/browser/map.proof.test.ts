// @module-tag proof
// More than 15 s: a map is drawn again and again, without a graphics card.
import type { Page } from 'playwright-core';
import { openBrowser, signIn } from '#test/support/node/browser.ts';
import {
  ago,
  accident as crash,
  journeyAccount,
  minuteMs,
  safetyEvent,
  until,
  vehicle,
} from '#test/support/node/index.ts';

const { stack, context } = await openBrowser();
let page: Page;
/** The page of an accident, with two events before it that are close to each other. */
let accident: string;
/** That of another one, in the middle of a country that has no counties here. */
let abroad: string;

beforeAll(async () => {
  const us = await journeyAccount(stack);
  const place = (longitude: number) => ({ latitude: 40.2, longitude });
  await us.send(
    [
      vehicle(),
      safetyEvent({ sourceId: 'a', startedAt: ago(40 * minuteMs), location: place(-78.5) }),
      safetyEvent({ sourceId: 'b', startedAt: ago(39 * minuteMs), location: place(-78.46) }),
      crash({ eventTime: ago(30 * minuteMs), location: place(-77) }),
      crash({
        sourceId: 'abroad',
        eventTime: ago(90 * minuteMs),
        location: { latitude: 51.3, longitude: 9.5 },
      }),
    ],
    false,
  );
  type Accident = { eventId: string; location: { longitude: number } };
  const found = await us.get<Accident[]>('/accidents');
  const pageAt = (longitude: number) =>
    `/portal/accidents/${found.find(({ location }) => location.longitude === longitude)?.eventId}`;
  [accident, abroad] = [pageAt(-77), pageAt(9.5)];
  await (await signIn(context, us.accountId)).close();
});
beforeEach(async () => {
  await page?.close();
  page = await context.newPage();
});

async function openAccident() {
  await page.goto(stack.baseUrl + accident);
  await page.locator('.map').scrollIntoViewIfNeeded();
  await pin().waitFor();
}

const canvas = () => page.locator('.map canvas');
const pin = () => page.locator('.map .accident');
const cluster = () => page.getByRole('button', { name: '2 places' });
const zoomIn = () => page.getByRole('button', { name: 'Zoom in' });
const scale = () => page.locator('.maplibregl-ctrl-scale').innerText();
const focused = () => page.evaluate('document.activeElement.ariaLabel');
/** How often each colour is on the map, as CSS knows colours; the most frequent ones first. */
async function colors() {
  const picture = await page.locator('.map').screenshot();
  return page.evaluate<string[]>(`(async () => {
    const image = new Image();
    image.src = 'data:image/png;base64,${picture.toString('base64')}';
    await image.decode();
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    const counts = {};
    for (let i = 0; i < data.length; i += 4) {
      const color = 'rgb(' + data.slice(i, i + 3).join(', ') + ')';
      counts[color] = (counts[color] ?? 0) + 1;
    }
    return Object.keys(counts).sort((a, b) => counts[b] - counts[a]);
  })()`);
}

it('a map shows its pins on outlines with borders, and can be zoomed', async () => {
  await openAccident();
  expect(await pin().getAttribute('aria-label')).toBe('The accident 40.20000, −77.00000');
  const [land, border] = ['rgb(241, 243, 246)', 'rgb(207, 213, 222)'];
  await until('there are borders', async () => {
    const [most, ...others] = await colors();
    return most === land && others.includes(border);
  });
  const before = await scale();
  await zoomIn().click();
  await until('the map is larger', async () => (await scale()) !== before);
});

it('where no county is known, the map goes out until something on it is named', async () => {
  await page.goto(stack.baseUrl + abroad);
  await page.locator('.map').scrollIntoViewIfNeeded();
  await pin().waitFor();
  const border = 'rgb(133, 141, 155)'; // of countries, of which none is near
  await until('a country is there to see', async () => (await colors()).includes(border));
});

it('a place leads to the maps that people have, and its coordinates can be copied', async () => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(stack.baseUrl + accident);
  const maps = page.getByRole('list', { name: 'Open in' }).getByRole('link');
  expect(await maps.evaluateAll((all) => all.map((one) => one.getAttribute('href')))).toEqual([
    'https://www.google.com/maps/search/?api=1&query=40.2,-77',
    'https://maps.apple.com/?ll=40.2,-77&q=40.2,-77',
    'https://www.openstreetmap.org/?mlat=40.2&mlon=-77#map=16/40.2/-77',
  ]);
  await page.getByRole('button', { name: 'Copy' }).click();
  await page.getByText('Copied').waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe('40.2, -77');
});

it('a cluster parts into its points by keyboard alone, one of which gets the focus', async () => {
  await openAccident();
  await cluster().focus();
  await page.keyboard.press('Enter');
  await cluster().waitFor({ state: 'detached' });
  expect(await page.locator('.map a.pin').count()).toBe(2);
  expect(await focused()).toMatch(/^[23]: /); // one of the points
});

it('stays where somebody has zoomed to before its outlines came', async () => {
  let send = () => {};
  const sent = new Promise<void>((done) => {
    send = done;
  });
  await page.route('**/countries.json', async (route) => {
    await sent;
    await route.continue();
  });
  await openAccident();
  await cluster().click();
  await cluster().waitFor({ state: 'detached' });
  send();
  const land = 'rgb(241, 243, 246)';
  await until('there is land', async () => (await colors())[0] === land);
  await colors(); // a moment more, in which it would go out
  expect(await cluster().count()).toBe(0);
});

it('without WebGL or outlines there is the list of places', async () => {
  /** The map itself may be gone by the time that the page has loaded. */
  const seePlaces = async () => {
    await page.goto(stack.baseUrl + accident);
    await page.locator('.map-places').scrollIntoViewIfNeeded();
    await page.locator('.map-failed .map-places').getByText('The accident').waitFor();
  };
  await page.route('**/countries.json', (route) => route.abort());
  await seePlaces();
  await page.addInitScript(`{
    const { getContext } = HTMLCanvasElement.prototype;
    HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
      return kind.startsWith('webgl') ? null : getContext.call(this, kind, ...rest);
    };
  }`);
  await seePlaces();
  expect(await canvas().isVisible()).toBe(false);
});

it('the map has the colours of the theme, also a changed one, and fits on a phone', async () => {
  await openAccident();
  await page.emulateMedia({ colorScheme: 'dark' });
  await until('it is dark', async () => (await colors())[0] === 'rgb(24, 28, 35)');
  await page.setViewportSize({ width: 320, height: 900 });
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
});

it.each([200, 404])(
  'a tile provider whose style is %s draws the map, or our outlines do',
  async (status) => {
    const style = `${stack.baseUrl}/style.json`;
    const json = { version: 8, sources: {}, layers: [{ id: 'b', type: 'background', paint }] };
    await page.route(style, (route) => route.fulfill({ status, json }));
    await page.route(stack.baseUrl + accident, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace('data-map', `data-map data-style="${style}"`);
      await route.fulfill({ response, body });
    });
    await openAccident();
    const land = status === 200 ? 'rgb(255, 0, 0)' : 'rgb(241, 243, 246)';
    await until('it is drawn', async () => (await colors())[0] === land);
  },
);

const paint = { 'background-color': '#ff0000' };
