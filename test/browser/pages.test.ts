import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { openBrowser, signIn } from '#test/support/node/browser.ts';
import { journeyAccount } from '#test/support/node/index.ts';
import { layoutFaults } from '#test/support/node/layout-rules.ts';
import { longestAccount } from '#test/support/node/longest-account.ts';
import { expectGoodPages } from '#test/support/node/page-rules.ts';

const { stack, newContext, outside } = await openBrowser();

// Not by a literal: the Worker has other types than Node.
const routesFile = '../../src/portal/routes.ts';
const { portalRoutes } = (await import(routesFile)) as {
  portalRoutes: { routes: { method: string; path: string }[] };
};

/** Files, redirects, parts of pages, and what needs a provider of others to come from. */
const notPages =
  /\.csv$|:file$|\/(report|evidence|:evidenceId|page-version|test|names)$|\/sso\/|^\/portal\/settings$/;
const routes = [
  ...new Set(portalRoutes.routes.filter(({ method }) => method === 'GET').map(({ path }) => path)),
]
  .map((path) => `/portal${path === '/' ? '' : path}`)
  .filter((path) => !notPages.test(path));

const widths = [390, 1280, 1440];
const tablets = [768, 1024];

/** Visits the pages of all routes, those with ids as others link to them. Returns routes that no page links to. */
async function walk(page: Page, more: string[], visit: (path: string) => Promise<unknown>) {
  const paths = new Set([...routes.filter((route) => !route.includes(':')), ...more]);
  const known = new Map<string, number>();
  for (const path of paths) {
    await visit(path);
    const links = await page
      .locator('a[href^="/portal"]')
      .evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''));
    for (const link of links) {
      const route = routes.find((one) =>
        new RegExp(`^${one.replaceAll(/:\w+/g, '[^/]{20,}')}$`).test(link.split('?')[0] ?? ''),
      );
      if (!route?.includes(':') || paths.has(link)) continue;
      const count = known.get(route) ?? 0;
      known.set(route, count + 1);
      if (count < 2) paths.add(link);
    }
  }
  return routes.filter((route) => route.includes(':') && !known.has(route));
}

async function expectGoodLayout(page: Page, path: string) {
  const found = [];
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    for (const fault of await layoutFaults(page)) found.push(`${path} at ${width}: ${fault}`);
  }
  return found;
}

it('pages with the longest data stay within their edges, and are accessible and light', {
  tags: ['proof'],
}, async () => {
  const longest = await longestAccount(stack);
  afterAll(longest.stop);
  const page = await signIn(await newContext(), longest.accountId);
  const found: string[] = [];
  const more = [
    ...longest.paths,
    ...['?provider=samsara', '?provider=geotab', '?provider=other'].map(
      (query) => `/portal/connections/new${query}`,
    ),
    '/portal/search?q=nothing',
    '/portal/nowhere',
    '/portal/sign-in',
    '/portal/events?risk=4&from=2026-02-02&to=2026-02-01',
  ];
  const unlinked = await walk(page, more, async (path) => {
    const visit = async () => {
      const reply = await page.goto(stack.baseUrl + path);
      expect(gzipSync((await reply?.body()) ?? '').length, path).toBeLessThan(30_000);
    };
    await expectGoodPages(page, [path], visit, { widths: tablets });
    found.push(...(await expectGoodLayout(page, path)));
  });
  expect(unlinked).toEqual([]);
  expect(found).toEqual([]);
  expect(outside).toEqual([]);
});

it('pages of a new account stay within their edges', async () => {
  const { accountId } = await journeyAccount(stack);
  const page = await signIn(await newContext(), accountId);
  const found: string[] = [];
  await walk(page, [], async (path) => {
    await page.goto(stack.baseUrl + path);
    found.push(...(await expectGoodLayout(page, path)));
  });
  expect(found).toEqual([]);
});
