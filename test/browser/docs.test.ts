import { gzipSync } from 'node:zlib';
import { guidePaths } from '#src/docs/pages/guides.ts';
import { openBrowser } from '#test/support/node/browser.ts';
import { journeyAccount } from '#test/support/node/index.ts';
import { expectGoodPages } from '#test/support/node/page-rules.ts';

const pages = ['/docs', ...guidePaths.map((path) => `/docs/${path}`), '/docs/reference'];
const permissions = ['clipboard-read', 'clipboard-write'];
const { stack, newContext, context, outside } = await openBrowser({ permissions });
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

const button = (name: string) => page.getByRole('button', { name, exact: true });

/** The status and body that the form of an operation shows once its fields were filled in and it was sent. */
async function tried(call: string, fields: { [label: string]: string }) {
  await button(`Try it: ${call}`).click();
  const form = page.locator('form.try').filter({ has: button('Close') });
  for (const [label, value] of Object.entries(fields)) await form.getByLabel(label).fill(value);
  await button('Send').click();
  const reply = form.getByRole('status');
  await reply.getByText(/^\d+ in \d+ ms$|It could not be sent/).waitFor();
  const shown = (await reply.innerText()).trim();
  await button('Close').click();
  await form.waitFor({ state: 'detached' });
  return shown;
}

it('an operation is tried out on this host, with a token that stays in the page', {
  tags: ['proof'],
}, async () => {
  const { token, connectionId } = await journeyAccount(stack);
  await open('/docs/reference');
  expect(await tried('GET /webhooks', { 'API token': 'fds_wrong' })).toMatch(
    /^401[\s\S]*Invalid or/,
  );
  const asked = { 'API token': token, 'Connection-Id': connectionId, limit: '0' };
  expect(await tried('GET /vehicles', asked)).toMatch(/^400[\s\S]*"field": "limit"/);
  const webhook = { connectionIds: [connectionId], url: 'https://claims.example.com/in' };
  const usual = { httpVerb: 'POST', headers: {}, notificationTypes: [1] };
  const made = await tried('POST /webhook', { Body: JSON.stringify({ ...webhook, ...usual }) });
  expect(made).toMatch(/^200/);
  // Which no header can have.
  expect(await tried('GET /connections', { 'Connection-Id': 'Ω' })).toContain('could not be sent');
  const [, id = ''] = /"id": "([^"]+)"/.exec(made) ?? [];
  expect(await tried('DELETE /webhook/{id}', { 'id (required)': id })).toMatch(/^200/);
  const kept = await page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }]),
  );
  expect(kept).not.toContain(token);
  complaints.splice(0); // the browser complains of the 401 and the 400
});

it('an open form keeps to the rules of pages', { tags: ['proof'] }, async () => {
  const openForm = async (path: string) => {
    await open(path);
    await button('Try it: PUT /webhook/{id}').click();
    await button('Send').waitFor();
  };
  await expectGoodPages(page, ['/docs/reference'], openForm, { within: 'form.try' });
});

it('each page passes axe in light and dark, and is no wider than the smallest phone', {
  tags: ['proof'],
}, async () => {
  await expectGoodPages(page, pages, open, { widths: [320] });
});

// The reference is all operations on one page.
it.each([
  ['/docs', 60],
  ['/docs/quick-start', 60],
  ['/docs/reference', 65],
])('the page %s weighs at most %i KB, compressed, with its fonts', async (path, most) => {
  const visit = await newContext();
  const fresh = await visit.newPage();
  const loaded: Promise<Buffer | undefined>[] = [];
  fresh.on('requestfinished', (request) =>
    loaded.push(request.response().then((reply) => reply?.body())),
  );
  await open(path, fresh);
  const bodies = (await Promise.all(loaded)).filter((body) => body !== undefined);
  await visit.close();
  expect(bodies.length).toBeGreaterThan(3);
  const sizes = bodies.map((body) => Math.min(body.length, gzipSync(body).length));
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(most * 1024);
});

/** What a search on the page lists: each result's title and where it is. */
async function searchFor(words: string) {
  await page.getByRole('searchbox').fill(words);
  await page
    .getByRole('status')
    .filter({ hasText: /result|Nothing/ })
    .waitFor();
  return page
    .locator('.docs-found li')
    .evaluateAll((all) =>
      all.map((row) =>
        ['strong', 'small'].map((part) => row.querySelector(part)?.textContent).join(', '),
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
  expect((await searchFor('fals alarm'))[0]).toBe('False alarms, Receiving deliveries');
  expect((await searchFor('create a webhook'))[0]).toBe('Create a webhook, API reference');
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
  await button('Python').first().click();
  expect(await shown()).toEqual(['Python', 'Python', 'Python']);
  await page.reload();
  expect(await shown()).toEqual(['Python', 'Python', 'Python']);
  await button('Copy').first().click();
  await button('Copied').waitFor();
  const copied = await page.evaluate('navigator.clipboard.readText()');
  expect(copied).toContain(`BASE_URL=${stack.baseUrl}\n`);
});

it('without JavaScript everything can be read, and the menu opens', async () => {
  const viewport = { width: 390, height: 800 };
  const plain = await newContext({ javaScriptEnabled: false, viewport });
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
  for (const [path, name, value] of [
    ['/docs/reference', 'x-content-type-options', 'nosniff'],
    ['/openapi.json', 'access-control-allow-origin', '*'],
    ['/docs/fleet-data-service.openapi.json', 'content-disposition', 'attachment'],
    ['/design/design.css', 'cache-control', 'public, max-age=300'],
    ['/design/geist.woff2', 'cache-control', 'public, max-age=2592000'],
  ] as const)
    expect((await headersOf(path)).get(name), path).toBe(value);
});
