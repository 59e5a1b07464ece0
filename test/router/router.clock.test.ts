import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { generateToken } from '#src/core/accounts/tokens/format.ts';
import { mainCell } from '#src/core/platform/cells.ts';
import { encodeByProvider } from '#src/people/by-provider.ts';
import { router } from '#src/router/index.ts';
import { listenToLog } from '#test/support.ts';

/** What a cell responds; undefined if it fails. */
type Cell = (request: Request) => Response | Promise<Response> | undefined;
type Called = { cell: string; method: string; path: string; body: string; headers: Headers };

/** A router in front of cells that respond as told, and what these were asked. */
function inFront(cells: { [name: string]: Cell }, readsBody = true) {
  const called: Called[] = [];
  const bindings = Object.entries(cells).map(([cell, reply]) => {
    const fetch = async (request: Request) => {
      const { pathname, search } = new URL(request.url);
      const { method, headers } = request;
      called.push({
        cell,
        method,
        path: pathname + search,
        headers,
        body: readsBody ? await request.text() : '',
      });
      const response = await reply(request);
      if (!response) throw new Error('The script was not found');
      return response;
    };
    return [`CELL_${cell.toUpperCase()}`, { fetch }];
  });
  const ask = async (path: string, init: RequestInit = {}) => {
    const context = createExecutionContext();
    const request = new Request(`https://api.example.com${path}`, { redirect: 'manual', ...init });
    const response = await router.fetch(request, Object.fromEntries(bindings), context);
    await waitOnExecutionContext(context);
    return response;
  };
  return { ask, called, asked: () => called.splice(0).map(({ cell }) => cell) };
}

const says = (status: number, own: HeadersInit = {}, message = '') => {
  const headers = { 'x-request-id': `of ${status}`, ...own };
  return Response.json({ status, message }, { status, headers });
};
const ok: Cell = () => says(200);
const movedTo =
  (...names: string[]): Cell =>
  () =>
    says(421, { 'fleet-cell': names.join(', ') });

const keys = [{ id: 'k', bytes: new Uint8Array(32) }];
const tokenOf = async (cell = mainCell) => ({
  'x-api-key': await generateToken('api', keys, cell),
});

it('passes a request on as it is, and the response with its id, which both logs have', async () => {
  const { lines } = listenToLog();
  const { ask, called } = inFront({ main: ok, eu: () => says(200, { 'x-own': 'as it is' }) });
  const headers = { ...(await tokenOf('eu')), 'content-type': 'text/x', 'x-request-id': 'forged' };
  const response = await ask('/ingest?a=b%2Fc', { method: 'POST', body: 'the body', headers });
  expect(called).toMatchObject([
    { cell: 'eu', method: 'POST', path: '/ingest?a=b%2Fc', body: 'the body' },
  ]);
  expect(Object.fromEntries(called[0]?.headers ?? [])).toEqual(headers);
  expect(Object.fromEntries(response.headers)).toEqual({
    'content-type': 'application/json',
    'x-own': 'as it is',
    'x-request-id': 'of 200',
  });
  expect(lines('request')).toMatchObject([
    { requestId: 'of 200', status: 200, cell: 'eu', accountId: null },
  ]);
});

it('reads no more of a body than the cell does', async () => {
  const cancelled = vi.fn();
  const body = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024)),
    cancel: cancelled,
  });
  const refuses = async (request: Request) => {
    await request.body?.cancel();
    return says(413);
  };
  const { ask } = inFront({ main: refuses }, false);
  const init = { method: 'POST', body, headers: await tokenOf() };
  expect((await ask('/ingest', init)).status).toBe(413);
  await vi.waitUntil(() => cancelled.mock.calls.length > 0);
});

it('refuses a credential that is none, or of no cell of its own, asking none', async () => {
  const { ask, asked } = inFront({ main: ok, eu: ok });
  for (const headers of [{ 'x-api-key': 'fds_junk' }, { 'x-api-key': '' }, await tokenOf('us')]) {
    const response = await ask('/webhooks', { headers });
    expect(response.headers.get('www-authenticate')).toBe('ApiKey realm="Fleet Data Service"');
    const requestId = response.headers.get('x-request-id');
    const message = 'Invalid or expired token';
    expect(await response.json()).toEqual({ status: 401, message, requestId });
  }
  expect(asked()).toEqual([]);
});

it('follows an account that has moved, and remembers where for a minute', async () => {
  const { ask, called, asked } = inFront({ main: movedTo('eu'), eu: ok });
  const init = { method: 'POST', body: 'x'.repeat(300_000), headers: await tokenOf() };
  expect((await ask('/ingest', init)).status).toBe(200);
  expect(called.map(({ body }) => body)).toEqual([init.body, init.body]);
  expect(asked()).toEqual(['main', 'eu']);
  await ask('/webhooks', { headers: init.headers });
  expect(asked()).toEqual(['eu']);
  await ask('/webhooks', { headers: await tokenOf() });
  expect(asked()).toEqual(['main', 'eu']);
  const now = Date.now();
  vi.spyOn(Date, 'now').mockReturnValue(now + 61_000);
  await ask('/webhooks', init);
  expect(asked()).toEqual(['main', 'eu']);
});

const signedOut = () => says(303, { location: '/portal/sign-in' });
const session = () => ({ cookie: `__Host-session=secret-${crypto.randomUUID()}` });
const secretAt = (path: string) => async () => ({ path: `${path}secret-${crypto.randomUUID()}` });
type Named = { path: string; headers?: HeadersInit };
const kinds: [what: string, named: () => Promise<Named>, refused: () => Response][] = [
  ['a token', async () => ({ path: '/webhooks', headers: await tokenOf() }), () => says(401)],
  ["a provider's webhook", secretAt('/providers/'), () => says(401)],
  ['a session', async () => ({ path: '/portal/events', headers: session() }), signedOut],
  ['a sign-in link', secretAt('/portal/sign-in/link?secret='), () => says(400)],
  ['a connect link', secretAt('/portal/connect?secret='), () => says(404)],
];

it.each(kinds)(
  'asks every cell in turn in which %s may be, also past one that is down',
  async (_, named, refused) => {
    const cells = { main: movedTo('eu', 'us', 'ap'), eu: refused, us: () => undefined };
    const { ask, asked } = inFront({ ...cells, ap: ok });
    const { path, ...init } = await named();
    expect((await ask(path, init)).status).toBe(200);
    expect(asked()).toEqual(['main', 'eu', 'us', 'ap']);
  },
);

it.each(kinds)(
  'returns the refusal of the last cell where %s is in none',
  async (_, named, refused) => {
    const { ask, asked } = inFront({ main: movedTo('eu', 'us'), eu: movedTo('main'), us: refused });
    const { path, ...init } = await named();
    const response = await ask(path, { method: 'POST', ...init });
    const { status } = refused();
    expect(response.status).toBe(status);
    expect(response.headers.get('x-request-id')).toBe(`of ${status}`);
    expect(asked()).toEqual(['main', 'eu', 'us']);
  },
);

it.each(kinds)(
  'ends where cells say of %s that it is in one another',
  async (_, named, refused) => {
    const { path, ...init } = await named();
    const isPage = path.startsWith('/portal');
    const names = (request: Request) =>
      /secret(?!=-)/.test(request.url + request.headers.get('cookie'));
    const circle =
      (to: string): Cell =>
      (request) =>
        isPage && !names(request) ? refused() : movedTo(to)(request);
    const { ask, asked, called } = inFront({ main: circle('eu'), eu: circle('main') });
    const response = await ask(path, { method: 'POST', body: 'form', ...init });
    expect(response.status).toBe(refused().status);
    expect(called.every(({ body }) => body === 'form')).toBe(true);
    expect(asked()).toEqual(isPage ? ['main', 'eu', 'main'] : ['main', 'eu']);
  },
);

it('a session that ends by its form in a cell where it has moved is signed out there', async () => {
  const headers = { location: '/portal/sign-in', 'set-cookie': 'flash=1' };
  const eu = () => says(303, headers);
  const { ask, asked } = inFront({ main: movedTo('eu', 'us'), eu, us: signedOut });
  const response = await ask('/portal/sign-out', { method: 'POST', headers: session() });
  expect(response.headers.get('set-cookie')).toBe('flash=1');
  expect(asked()).toEqual(['main', 'eu']);
});

it.each<[string, Cell, timesOut?: true]>([
  ['fails', () => undefined],
  ['is not there', () => new Response('error code: 1101', { status: 500 })],
  ['does not respond in time', () => new Promise(() => {}), true],
])('a cell that %s is 503 with Retry-After, for those in it alone', async (_, eu, timesOut) => {
  const { lines } = listenToLog();
  const wait = vi
    .spyOn(scheduler, 'wait')
    .mockReturnValue(timesOut ? Promise.resolve() : new Promise(() => {}));
  const { ask } = inFront({ main: async () => says(200), eu });
  const response = await ask('/webhooks', { headers: await tokenOf('eu') });
  expect(response.headers.get('retry-after')).toBe('10');
  expect(await response.json()).toEqual({
    status: 503,
    message: 'Temporarily unavailable, try again',
    retryAfter: 10,
    requestId: response.headers.get('x-request-id'),
  });
  expect(lines('fault')).toMatchObject([{ message: 'A cell does not respond', cell: 'eu' }]);
  expect(wait.mock.calls.map(([ms]) => ms)).toEqual([12_000]);
  await ask('/portal/events', { headers: { cookie: '__Host-session=eu.secret' } });
  expect(wait.mock.calls.at(-1)?.[0]).toBe(120_000);
});

it('a browser is shown a page that says that a cell is down, with the id', async () => {
  listenToLog();
  const { ask } = inFront({ main: ok, eu: () => undefined });
  const headers = { cookie: '__Host-session=eu.secret', accept: 'text/html,*/*;q=0.8' };
  for (const method of ['GET', 'POST']) {
    const response = await ask('/portal/events', { method, headers });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '10']);
    expect(response.headers.get('content-type')).toBe('text/html; charset=UTF-8');
    const page = await response.text();
    expect(page).toContain('does not respond at the moment');
    expect(page).toContain(response.headers.get('x-request-id'));
  }
});

it('pages that name no cell come from the first that responds', async () => {
  const { ask, asked } = inFront({ eu: ok, main: () => undefined });
  for (const path of ['/', '/portal', '/portal/sign-in', '/nothing'])
    expect((await ask(path)).status).toBe(200);
  expect(asked()).toEqual(Array(4).fill(['main', 'eu']).flat());
  const down = inFront({ main: () => undefined, eu: () => undefined });
  expect((await down.ask('/portal')).status).toBe(503);
});

it.each([200, 503])(
  'somebody whose cell has their provider sees its page, also with %d',
  async (status) => {
    const byProvider = () =>
      says(status, { 'fleet-provider': encodeByProvider({ account: 'Größe' }) });
    const { ask } = inFront({ main: ok, eu: byProvider, us: () => undefined });
    const response = await ask('/portal/sign-in', { method: 'POST', body: 'email=a@b.example' });
    expect([response.status, response.headers.has('fleet-provider')]).toEqual([status, true]);
  },
);

it('somebody chooses among accounts where several cells have the domain, each of which has begun', async () => {
  const byProvider = (cell: string, account: string, to?: string) => () =>
    says(to ? 200 : 503, {
      'fleet-provider': encodeByProvider({ account, ...(to && { to }) }),
      'set-cookie': `__Host-sso-${cell}=${cell}.secret`,
      refresh: '0; url=https://elsewhere.example.com',
    });
  const { ask } = inFront({
    main: ok,
    eu: byProvider('eu', 'A <b> & Co', 'https://login.example.com/?a=1&b=2'),
    us: byProvider('us', 'Second', 'https://other.example.com/'),
    ap: byProvider('ap', 'Third'),
    za: () => undefined,
  });
  const response = await ask('/portal/sign-in', { method: 'POST', body: 'email=a@b.example' });
  const page = await response.text();
  expect(page).toContain(
    '<a href="https://login.example.com/?a=1&amp;b=2">A &lt;b&gt; &amp; Co</a>',
  );
  expect(page).toContain('<a href="https://other.example.com/">Second</a>');
  expect(page).toContain('Third: its sign-in is not available');
  expect(response.headers.getSetCookie()).toEqual(
    ['eu', 'us', 'ap'].map((one) => `__Host-sso-${one}=${one}.secret`),
  );
  expect(response.headers.has('refresh')).toBe(false);
  expect(response.headers.get('cache-control')).toBe('no-store');
});

it('asking for a sign-in link reaches every cell, also past one that is down', async () => {
  const form = { method: 'POST', body: 'email=ann%40example.com' };
  const cells = { main: () => undefined, eu: () => says(429), us: ok };
  const { ask, called } = inFront(cells);
  expect((await ask('/portal/sign-in', form)).status).toBe(200);
  expect(new Map(called.map(({ cell, body }) => [cell, body]))).toEqual(
    new Map(['main', 'eu', 'us'].map((cell) => [cell, form.body])),
  );
  expect((await inFront({ main: () => undefined }).ask('/portal/sign-in', form)).status).toBe(503);
});

it('operators name the cell that they mean', async () => {
  const { ask, asked } = inFront({ main: ok, eu: movedTo('main') });
  for (const cell of ['', 'us', 'EU', 'main, eu']) {
    const response = await ask('/operator/accounts', { headers: { 'fleet-cell': cell } });
    const message = 'Fleet-Cell header is required: main or eu';
    expect(await response.json()).toMatchObject({ status: 400, message });
    expect(response.headers.get('fleet-cell')).toBe('main, eu');
  }
  expect(asked()).toEqual([]);
  // Their key is that cell's, so that nothing is followed.
  expect((await ask('/operator/accounts', { headers: { 'fleet-cell': 'eu' } })).status).toBe(421);
  expect(asked()).toEqual(['eu']);
});

const unavailable = expect.objectContaining({ database: 'unavailable' });
it.each<[string, Cell, status: number, message: string, data?: unknown]>([
  ['well', () => says(200, {}, 'Healthy'), 200, 'Healthy'],
  ['nearly full', () => says(200, {}, '85 % full'), 200, 'eu: 85 % full'],
  ['ill', () => says(503, {}, 'Deliveries are late'), 503, 'eu: Deliveries are late'],
  ['down', () => undefined, 503, 'eu: Does not respond', unavailable],
])('the health of all cells says which is %s', async (_, eu, status, message, data) => {
  const { ask } = inFront({ main: () => says(200, {}, 'Healthy'), eu });
  const response = await ask('/health');
  expect(await response.json()).toMatchObject({ status, message, ...(data ? { data } : {}) });
  expect(response.headers.get('fleet-cell')).toBe('main, eu');
  expect((await ask('/health', { method: 'HEAD' })).status).toBe(status);
});

it('an address that asks for the health too often is told to wait, and not that a cell is ill', async () => {
  const limited = () =>
    Response.json(
      { status: 429, message: 'Rate limit exceeded', retryAfter: 7 },
      { status: 429, headers: { 'retry-after': '7' } },
    );
  const { ask } = inFront({ main: () => says(200, {}, 'Healthy'), eu: limited });
  const response = await ask('/health');
  expect(response.headers.get('retry-after')).toBe('7');
  expect(await response.json()).toEqual({
    status: 429,
    message: 'Rate limit exceeded',
    retryAfter: 7,
    requestId: response.headers.get('x-request-id'),
  });
  const ill = inFront({ main: () => says(503, {}, 'Deliveries are late'), eu: limited });
  expect((await ill.ask('/health')).status).toBe(503);
});
