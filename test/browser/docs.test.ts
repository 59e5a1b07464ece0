import { gzipSync } from 'node:zlib';
import { parse } from 'node-html-parser';
import type { Locator } from 'playwright-core';
import { guidePaths } from '#src/docs/pages/guides.ts';
import { openBrowser } from '#test/support/node/browser.ts';
import { journeyAccount } from '#test/support/node/journey.ts';
import { expectGoodPages } from '#test/support/node/page-rules.ts';

const guides = ['/docs', ...guidePaths.map((path) => `/docs/${path}`)];
const pages = [...guides, '/docs/reference'];
const permissions = ['clipboard-read', 'clipboard-write'];
const { stack, browser, context, outside } = await openBrowser({ permissions });
const page = await context.newPage();
const complaints: string[] = [];
page.on('console', (message) => {
  if (['error', 'warning'].includes(message.type()))
    complaints.push(`${page.url()}: ${message.text()}`);
});
page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error}`));

const open = async (path: string, on = page) => {
  await on.goto(`${stack.baseUrl}${path}`);
  await on.evaluate('document.fonts.ready');
};

const operation = (name: string) => page.getByRole('heading', { name: `${name} #` });

it('each operation of the reference can be tried out, unless it is a call of ours', async () => {
  type Methods = Record<string, Record<string, { summary: string }>>;
  type Described = { paths: Methods; webhooks: Methods };
  const document: Described = await (await fetch(`${stack.baseUrl}/openapi.json`)).json();
  const offered = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `Try it: ${method.toUpperCase()} ${path}`),
  );
  expect(offered.length).toBeGreaterThan(8);
  await open('/docs/reference');
  const buttons = page.getByRole('button', { name: /^Try it/ });
  const names = await buttons.evaluateAll((all) => all.map((button) => button.ariaLabel));
  expect(names.toSorted()).toEqual(offered.toSorted());
  for (const { post } of Object.values(document.webhooks))
    await operation(post?.summary ?? '').waitFor();
});

/** What the form of an operation shows once `fill` has filled it in and it was sent. */
async function tried(call: string, fill: (form: Locator) => Promise<void>) {
  await page.getByRole('button', { name: `Try it: ${call}`, exact: true }).click();
  const form = page
    .locator('form.try')
    .filter({ has: page.getByRole('button', { name: 'Close' }) });
  await fill(form);
  await form.getByRole('button', { name: 'Send', exact: true }).click();
  const reply = form.getByRole('status');
  await reply.getByText(/^\d+ in \d+ ms$/).waitFor();
  const shown = {
    caption: (await reply.locator('figcaption').innerText()).slice(0, 3),
    body: JSON.parse(await reply.locator('code').innerText()),
  };
  await form.getByRole('button', { name: 'Close' }).click();
  await form.waitFor({ state: 'detached' });
  return shown;
}

it('an operation is tried out on this host, with a token that stays in the page', async () => {
  const { token, connectionId } = await journeyAccount(stack);
  await open('/docs/reference');
  const refused = await tried('GET /webhooks', (form) =>
    form.getByLabel('API token').fill('fds_wrong'),
  );
  expect(refused).toMatchObject({ caption: '401', body: { message: 'Invalid or expired token' } });
  const page1 = await tried('GET /vehicles', async (form) => {
    expect(await form.getByLabel('API token').inputValue()).toBe('fds_wrong');
    await form.getByLabel('API token').fill(token);
    await form.getByLabel('Connection-Id').fill(connectionId);
    await form.getByLabel('status').selectOption('active');
    await form.getByLabel('limit').fill('0');
  });
  expect(page1).toMatchObject({ caption: '400', body: { errors: [{ field: 'limit' }] } });
  const made = await tried('POST /webhook', async (form) => {
    const body = JSON.parse(await form.getByLabel('Body').inputValue());
    await form.getByLabel('Body').fill(JSON.stringify({ ...body, connectionIds: [connectionId] }));
  });
  expect(made).toMatchObject({ caption: '200', body: { data: { connectionIds: [connectionId] } } });
  await page.getByRole('button', { name: 'Try it: GET /connections', exact: true }).click();
  await page.getByLabel('Connection-Id').fill('Ω'); // which no header can have
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('It could not be sent.').waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  const gone = await tried('DELETE /webhook/{id}', (form) =>
    form.getByLabel('id (required)').fill(made.body.data.id),
  );
  expect(gone).toMatchObject({ caption: '200', body: { data: true } });
  const kept = await page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }]),
  );
  expect(kept).not.toContain(token);
  complaints.splice(0); // the browser complains of the 401 and the 400
});

it('an open form keeps to the rules of pages', async () => {
  const openForm = async (path: string) => {
    await open(path);
    await page.getByRole('button', { name: 'Try it: PUT /webhook/{id}' }).click();
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
  };
  await expectGoodPages(page, ['/docs/reference'], openForm, { within: 'form.try' });
});

it('a page of each kind passes axe in light and dark, and is no wider than the smallest phone', async () => {
  const kinds = ['/docs', '/docs/quick-start', '/docs/receiving', '/docs/reference'];
  await expectGoodPages(page, kinds, open, { widths: [320] });
});

/** How much a page weighs that is opened for the first time, with what it loads. */
async function weightOf(path: string) {
  const visit = await browser.newContext();
  const fresh = await visit.newPage();
  const loaded: Promise<Buffer>[] = [];
  fresh.on('requestfinished', (request) => {
    loaded.push(request.response().then((reply) => reply?.body() ?? Buffer.alloc(0)));
  });
  await open(path, fresh);
  const sizes = (await Promise.all(loaded)).map(sizeOf);
  await visit.close();
  expect(sizes.length, path).toBeGreaterThan(3);
  return sizes.reduce((sum, size) => sum + size, 0);
}

const sizeOf = (body: Buffer) => Math.min(body.length, gzipSync(body).length);

// The reference is all operations on one page.
it.each([
  ['/docs', 60],
  ['/docs/quick-start', 60],
  ['/docs/reference', 65],
])('the page %s weighs at most %i KB, compressed, with its fonts', async (path, most) => {
  expect(await weightOf(path)).toBeLessThanOrEqual(most * 1024);
});

it('every link leads somewhere', async () => {
  const read = async (path: string) => {
    const reply = await fetch(stack.baseUrl + path);
    expect(reply.status, path).toBe(200);
    return reply.text();
  };
  const links = new Set<string>();
  for (const path of pages)
    for (const link of parse(await read(path)).querySelectorAll('a[href]'))
      links.add(new URL(link.getAttribute('href') ?? '', stack.baseUrl + path).href);
  expect(links.size).toBeGreaterThan(pages.length);
  const ours = [...links]
    .map((link) => new URL(link))
    .filter(({ origin }) => origin === stack.baseUrl);
  for (const [path, toIt] of Map.groupBy(ours, ({ pathname }) => pathname)) {
    const text = await read(path);
    for (const { hash } of toIt) if (hash) expect(text, path).toContain(`id="${hash.slice(1)}"`);
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
  expect((await searchFor('timingSafeEqual'))[0]).toBe('The four rules, Receiving deliveries');
  expect(asked).toContain('/docs/search.json');
  expect(await searchFor('odometerKm')).toContain('Vehicle, API reference');
  expect((await searchFor('fals alarm'))[0]).toBe('False alarms, Receiving deliveries');
  expect((await searchFor('create a webhook'))[0]).toBe('Create a webhook, API reference');
  expect((await searchFor('POST /webhook'))[0]).toContain('API reference');
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
  await page.waitForURL('**/docs/reliability#replaying-deliveries');
});

it('a heading links to itself, and a long guide has its contents beside it', async () => {
  await open('/docs/receiving');
  await page.getByRole('heading', { name: 'False alarms' }).getByRole('link').click();
  expect(page.url()).toMatch(/#false-alarms$/);
  const contents = page.getByRole('navigation', { name: 'On this page' });
  expect(await contents.getByRole('link', { name: 'False alarms' }).isVisible()).toBe(true);
  await contents.getByRole('link', { name: 'The request', exact: true }).click();
  await contents.locator('a[aria-current]').filter({ hasText: 'The request' }).waitFor();
});

it('a language is chosen once for all samples, and copied code has this host in it', async () => {
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
  expect(await shown()).toEqual(['curl', 'TypeScript', 'curl']);
  await page.getByRole('button', { name: 'Python' }).first().click();
  expect(await shown()).toEqual(['Python', 'Python', 'Python']);
  await page.reload();
  expect(await shown()).toEqual(['Python', 'Python', 'Python']);
  await page.getByRole('button', { name: 'Copy' }).first().click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain(
    `BASE_URL=${stack.baseUrl}\n`,
  );
});

it('without JavaScript everything can be read, and the menu opens', async () => {
  const plain = await browser.newContext({
    javaScriptEnabled: false,
    viewport: { width: 390, height: 800 },
  });
  const plainPage = await plain.newPage();
  await open('/docs/quick-start', plainPage);
  const code = plainPage.locator('figure.code');
  for (let at = 0; at < (await code.count()); at++)
    expect(await code.nth(at).isVisible()).toBe(true);

  await plainPage.getByRole('button', { name: 'Menu' }).click();
  await plainPage.getByRole('link', { name: 'Limits', exact: true }).click();
  await plainPage.waitForURL('**/docs/limits');
  await plainPage.getByText('On this page').click();
  await plainPage.getByRole('link', { name: 'Rate limits' }).first().click();
  expect(plainPage.url()).toMatch(/#rate-limits$/);

  await open('/docs/reference', plainPage);
  expect(await plainPage.getByText('translatedIncidentTypes').first().isVisible()).toBe(true);
  expect(await plainPage.getByRole('button', { name: /^Try it/ }).count()).toBe(0);
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
  expect((await headersOf('/docs/reference')).get('x-content-type-options')).toBe('nosniff');
  expect((await headersOf('/openapi.json')).get('access-control-allow-origin')).toBe('*');
  const download = await headersOf('/docs/fleet-data-service.openapi.json');
  expect(download.get('content-disposition')).toBe('attachment');
  expect((await headersOf('/design/design.css')).get('cache-control')).toBe('public, max-age=300');
  expect((await headersOf('/design/geist.woff2')).get('cache-control')).toBe(
    'public, max-age=2592000',
  );
});
