import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Stack } from '../../src/cli/local/stack.ts';
import { guidePaths } from '../../src/docs/pages/guides.ts';
import { launchBrowser } from '../support/node/browser.ts';
import { stackFolder } from '../support/node/journey.ts';
import { expectGoodPages } from '../support/node/page-rules.ts';

const folder = stackFolder();
const guides = ['/docs', ...guidePaths.map((path) => `/docs/${path}`)];
const pages = [...guides, '/docs/topics'];
let stack: Stack;
let browser: Browser;
let context: BrowserContext;
let page: Page;
const outside: string[] = [];
const complaints: string[] = [];

beforeAll(async () => {
  [stack, browser] = await Promise.all([folder.start(), launchBrowser()]);
  context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
  context.on('request', (request) => {
    if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(stack.baseUrl))
      outside.push(request.url());
  });
  page = await context.newPage();
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`${page.url()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error}`));
});
afterAll(async () => {
  await browser?.close();
  await stack?.stop();
  folder.remove();
});

const open = (path: string, on = page) => on.goto(`${stack.baseUrl}${path}`, { waitUntil: 'networkidle' });

type Described = { paths: Record<string, Record<string, { summary: string }>>; webhooks: Described['paths'] };
const summariesIn = (part: Described['paths']): string[] =>
  Object.values(part).flatMap((methods) => Object.values(methods).map(({ summary }) => summary));

it('each operation shows in the reference, in light and dark, and can be tried out unless we call it', async () => {
  const document: Described = await (await fetch(`${stack.baseUrl}/openapi.json`)).json();
  const operations = summariesIn(document.paths);
  const calls = summariesIn(document.webhooks);
  expect([operations.length, calls.length]).toEqual([expect.any(Number), 2]);
  expect(operations.length).toBeGreaterThan(8);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await open('/docs/reference');
    for (const summary of [...operations, ...calls]) {
      await page.getByRole('link', { name: summary }).first().click();
      await page.getByRole('heading', { name: summary, exact: true }).first().waitFor();
      const tryOut = page
        .getByRole('region', { name: summary })
        .getByRole('button', { name: 'Test Request' });
      if (operations.includes(summary)) await tryOut.waitFor();
      else expect(await tryOut.isVisible(), summary).toBe(false);
    }
    expect(await page.locator('body').getAttribute('class')).toContain(`${colorScheme}-mode`);
  }
  expect(await page.getByPlaceholder('fds_…').count()).toBe(1);
});

it('the reference links to no other host but its maker', async () => {
  const text = await page.locator('body').innerText();
  expect(text).not.toMatch(/ask ai|open api client|generate mcp|connect mcp/i);
  const links = await page
    .locator('a[href^="http"]')
    .evaluateAll((all) => all.map((a) => a.getAttribute('href')));
  expect(links.filter((href) => !href?.startsWith(stack.baseUrl))).toEqual(['https://www.scalar.com']);
});

/** Where the links of all pages lead. */
const links = new Set<string>();

it('each page passes axe in light and dark, and is no wider than the smallest phone', async () => {
  const visit = async (path: string) => {
    await open(path);
    const anchors = page.locator('a');
    for (const href of await anchors.evaluateAll((all) => all.map((a) => (a as HTMLAnchorElement).href)))
      links.add(href);
  };
  const widths = [320];
  await expectGoodPages(page, pages, visit, { widths });
  // It takes its colours when it is loaded.
  for (const scheme of ['light', 'dark'] as const)
    await expectGoodPages(page, ['/docs/reference'], (path) => open(path), { widths, schemes: [scheme] });
});

it('each guide weighs at most 60 KB, compressed, with its fonts', async () => {
  for (const path of pages) {
    const visit = await browser.newContext();
    const fresh = await visit.newPage();
    const loaded: Promise<Buffer>[] = [];
    fresh.on('requestfinished', async (request) => {
      loaded.push(request.response().then((reply) => reply?.body() ?? Buffer.alloc(0)));
    });
    await open(path, fresh);
    const sizes = (await Promise.all(loaded)).map((body) => Math.min(body.length, gzipSync(body).length));
    expect(sizes.length, path).toBeGreaterThan(4);
    expect(
      sizes.reduce((sum, size) => sum + size),
      path,
    ).toBeLessThanOrEqual(60 * 1024);
    await visit.close();
  }
});

it('every link of the guides leads somewhere', async () => {
  expect(links.size).toBeGreaterThan(pages.length);
  for (const link of links) {
    const { origin, pathname, hash } = new URL(link);
    if (origin !== stack.baseUrl || pathname === '/docs/reference') continue;
    const reply = await fetch(stack.baseUrl + pathname);
    expect(reply.status, link).toBe(200);
    if (hash) expect(await reply.text(), link).toContain(`id="${hash.slice(1)}"`);
  }
});

/** What a search on the page lists: each result's title and where it is. */
async function searchFor(words: string): Promise<string[]> {
  await page.getByRole('searchbox').fill(words);
  await page
    .getByRole('status')
    .filter({ hasText: /result|Nothing/ })
    .waitFor();
  const results = page.locator('.docs-found li');
  return results.evaluateAll((all) =>
    all.map((row) =>
      [...row.querySelectorAll('strong, small')]
        .slice(0, 2)
        .map((part) => part.textContent)
        .join(', '),
    ),
  );
}

it('one search finds sections of guides and operations of the reference', async () => {
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await open('/docs/limits');
  expect(asked).not.toContain('/docs/search.json');
  expect((await searchFor('timingSafeEqual'))[0]).toBe('The four rules, Receiving webhooks');
  expect(asked).toContain('/docs/search.json');
  expect(await searchFor('odometerKm')).toContain('List vehicles, GET /vehicles · API reference');
  expect((await searchFor('fals alarm'))[0]).toBe('False alarms, Receiving webhooks');
  expect((await searchFor('create a webhook'))[0]).toBe('Create a webhook, POST /webhook · API reference');
  expect(await searchFor('<img src=x>zebra')).toEqual([]);
  await expectGoodPages(page, ['/docs/limits'], async (path) => {
    await open(path);
    await searchFor('retry');
  });
});

it('the search works by keyboard alone', async () => {
  await open('/docs');
  await page.keyboard.press('/');
  await page.keyboard.type('replaying');
  await page.getByRole('link', { name: /^Replaying deliveries/ }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Escape');
  expect(await page.locator('.docs-found').isVisible()).toBe(false);
  expect(await page.evaluate('document.activeElement.type')).toBe('search');
  await page.keyboard.press('End');
  await page.keyboard.type(' deliveries');
  await page.getByRole('link', { name: /^Replaying deliveries/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/docs/webhooks#replaying-deliveries');
});

it('a result leads to its operation, from a guide and from the reference itself', async () => {
  for (const from of ['/docs', '/docs/reference']) {
    await open(from);
    for (const [words, heading] of [
      ['list vehicles', 'List vehicles'],
      ['a level of an accident', 'A level of an accident'],
    ] as const) {
      await searchFor(words);
      await page.locator('.docs-found a', { hasText: heading }).first().click();
      await page.waitForURL(/\/docs\/reference#tag\//);
      await page.getByRole('heading', { name: heading, exact: true }).first().waitFor();
      await page.waitForFunction(
        (name) =>
          [...document.querySelectorAll('h2, h3')].some(
            (one) => one.textContent?.trim() === name && Math.abs(one.getBoundingClientRect().top) < 400,
          ),
        heading,
      );
    }
  }
});

it('a heading links to itself, and a long guide has its contents beside it', async () => {
  await open('/docs/webhooks');
  await page.getByRole('heading', { name: 'False alarms' }).getByRole('link').click();
  expect(page.url()).toMatch(/#false-alarms$/);
  const contents = page.getByRole('navigation', { name: 'On this page' });
  expect(await contents.getByRole('link', { name: 'False alarms' }).isVisible()).toBe(true);
  await contents.getByRole('link', { name: 'Order', exact: true }).click();
  await contents.locator('a[aria-current]').filter({ hasText: 'Order' }).waitFor();
});

it('a language that is chosen once is shown everywhere, and copied code has this host in it', async () => {
  await open('/docs/quick-start');
  const shown = () =>
    page.locator('.samples').evaluateAll((groups) =>
      groups.map((group) =>
        [...group.querySelectorAll('figure')]
          .filter((figure) => figure.checkVisibility())
          .map((figure) => figure.dataset.language)
          .join(),
      ),
    );
  expect(await shown()).toEqual(['curl', 'curl', 'TypeScript', 'curl']);
  await page.getByRole('button', { name: 'Python' }).first().click();
  expect(await shown()).toEqual(['Python', 'Python', 'Python', 'Python']);
  await page.reload();
  expect(await shown()).toEqual(['Python', 'Python', 'Python', 'Python']);
  await page.getByRole('button', { name: 'Copy' }).first().click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain(`BASE_URL=${stack.baseUrl}\n`);
});

it('without JavaScript every language can be read, the menu opens, and topics are listed instead of searched', async () => {
  const plain = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 800 } });
  const plainPage = await plain.newPage();
  await open('/docs/quick-start', plainPage);
  const code = plainPage.locator('figure.code');
  for (let at = 0; at < (await code.count()); at++) expect(await code.nth(at).isVisible()).toBe(true);

  await plainPage.getByRole('button', { name: 'Menu' }).click();
  await plainPage.getByRole('link', { name: 'Limits' }).click();
  await plainPage.waitForURL('**/docs/limits');
  await plainPage.getByText('On this page').click();
  await plainPage.getByRole('link', { name: 'Rate limits' }).first().click();
  expect(plainPage.url()).toMatch(/#rate-limits$/);

  expect(await plainPage.getByRole('searchbox').count()).toBe(0);
  await plainPage.getByRole('search').getByRole('link', { name: 'All topics' }).click();
  await plainPage.getByRole('main').getByRole('link', { name: 'False alarms' }).click();
  await plainPage.waitForURL('**/docs/webhooks#false-alarms');
  await plain.close();
});

it('no other host was called, and the browser blocked nothing', () => {
  expect(outside).toEqual([]);
  expect(complaints).toEqual([]);
});

it('pages come with a strict policy, and the document may be read from any page', async () => {
  const headersOf = async (path: string) => (await fetch(stack.baseUrl + path)).headers;
  for (const path of pages) {
    const policy = (await headersOf(path)).get('content-security-policy');
    expect(policy, path).toMatch(/^default-src 'none'; /);
    expect(policy, path).not.toMatch(/unsafe|http/);
  }
  const reference = await headersOf('/docs/reference');
  expect(reference.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; /);
  expect(reference.get('x-content-type-options')).toBe('nosniff');
  expect((await headersOf('/openapi.json')).get('access-control-allow-origin')).toBe('*');
  for (const file of ['standalone.js', 'minisearch.js', 'search.json'])
    expect((await headersOf(`/docs/${file}`)).get('cache-control'), file).toBe(
      'public, max-age=31536000, immutable',
    );
  expect((await headersOf('/design/design.css')).get('cache-control')).toBe('public, max-age=300');
  expect((await headersOf('/design/geist.woff2')).get('cache-control')).toBe('public, max-age=2592000');
});
