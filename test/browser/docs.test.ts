import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Stack } from '../../src/cli/local/stack.ts';
import { guidePaths } from '../../src/docs/pages/guides.ts';
import { launchBrowser } from '../support/node/browser.ts';
import { stackFolder } from '../support/node/journey.ts';
import { expectGoodPages } from '../support/node/page-rules.ts';

const folder = stackFolder();
const guides = ['/docs', ...guidePaths.map((path) => `/docs/${path}`)];
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

it('each operation of the document shows in the reference, in light and dark', async () => {
  const document = await (await fetch(`${stack.baseUrl}/openapi.json`)).json();
  const { paths } = document as { paths: Record<string, Record<string, { summary: string }>> };
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  expect(operations.length).toBeGreaterThan(8);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await open('/docs/reference');
    for (const { summary } of operations) {
      await page.getByRole('link', { name: summary }).first().click();
      await page.getByRole('heading', { name: summary, exact: true }).first().waitFor();
    }
    expect(await page.locator('body').getAttribute('class')).toContain(`${colorScheme}-mode`);
  }
});

it('the reference links to no other host but its maker', async () => {
  const text = await page.locator('body').innerText();
  expect(text).not.toMatch(/ask ai|open api client|generate mcp|connect mcp/i);
  const links = await page
    .locator('a[href^="http"]')
    .evaluateAll((all) => all.map((a) => a.getAttribute('href')));
  expect(links.filter((href) => !href?.startsWith(stack.baseUrl))).toEqual(['https://www.scalar.com']);
});

it('each guide passes axe in light and dark, and is no wider than a phone', async () => {
  await expectGoodPages(page, guides, (path) => open(path));
});

it('every link of the guides leads somewhere', async () => {
  const links = new Set<string>();
  for (const path of guides) {
    await open(path);
    for (const href of await page
      .locator('a')
      .evaluateAll((all) => all.map((a) => (a as HTMLAnchorElement).href)))
      links.add(href);
  }
  for (const link of links) {
    const { pathname, hash } = new URL(link);
    const reply = await fetch(stack.baseUrl + pathname);
    expect(reply.status, link).toBe(200);
    if (hash) expect(await reply.text(), link).toContain(`id="${hash.slice(1)}"`);
  }
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

it('without JavaScript every language can be read', async () => {
  const plain = await browser.newContext({ javaScriptEnabled: false });
  const plainPage = await plain.newPage();
  await open('/docs/quick-start', plainPage);
  const code = plainPage.locator('figure.code');
  for (let at = 0; at < (await code.count()); at++) expect(await code.nth(at).isVisible()).toBe(true);
  await plain.close();
});

it('no other host was called, and the browser blocked nothing', () => {
  expect(outside).toEqual([]);
  expect(complaints).toEqual([]);
});

it('pages come with a strict policy, and the document may be read from any page', async () => {
  const headersOf = async (path: string) => (await fetch(stack.baseUrl + path)).headers;
  for (const path of guides) {
    const policy = (await headersOf(path)).get('content-security-policy');
    expect(policy, path).toMatch(/^default-src 'none'; /);
    expect(policy, path).not.toMatch(/unsafe|http/);
  }
  const reference = await headersOf('/docs/reference');
  expect(reference.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; /);
  expect(reference.get('x-content-type-options')).toBe('nosniff');
  expect((await headersOf('/openapi.json')).get('access-control-allow-origin')).toBe('*');
  expect((await headersOf('/docs/standalone.js')).get('cache-control')).toContain('immutable');
});
