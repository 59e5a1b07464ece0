import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { app } from '#src/app.ts';
import { newId } from '#src/core/platform/db/ids.ts';
import { attemptLog } from '#src/core/platform/log.ts';
import source from '#src/core/platform/log.ts?raw';
import notes from '#src/docs/guides/operating/runbook.md?raw';
import { attempted, deliveriesOf, settled } from '#test/support/deliveries.ts';
import { listenToLog } from '#test/support/log.ts';
import { accident, safetyEvent, vehicle } from '#test/support/records.ts';
import { story } from '#test/support/story.ts';
import { call, operator, webhookBody } from '#test/support/world.ts';

const { us, heard, send, register, happen } = story();
let log: ReturnType<typeof listenToLog>;
beforeEach(() => {
  log = listenToLog();
});

describe('the line of a request', () => {
  it('says who asked for what, and what came of it', async () => {
    const { headers } = await us.lists.get('/vehicles?vin=1FUJGLDR5CLBP8834');
    expect(log.lines('request')).toEqual([
      {
        level: 'info',
        kind: 'request',
        requestId: headers.get('x-request-id'),
        method: 'GET',
        route: '/vehicles',
        status: 200,
        ms: expect.any(Number),
        accountId: us.accountId,
        tokenId: us.tokenId,
      },
    ]);
  });

  it('counts the records of an ingest call', async () => {
    await send(vehicle(), { kind: 'nonsense' });
    await send(vehicle());
    expect(log.lines('request')).toMatchObject([
      { route: '/ingest', records: { accepted: 1, unchanged: 0, rejected: 1 } },
      { route: '/ingest', records: { accepted: 0, unchanged: 1, rejected: 0 } },
    ]);
  });

  it.each([
    ['GET', '/nothing/at/all', '/*', 404],
    ['PUT', `/webhook/${newId()}`, '/webhook/:id', 401],
    ['GET', '/health', '/health', 200],
  ])('%s %s is of route %s, %d, and of nobody', async (method, path, route, status) => {
    await call(method, path);
    expect(log.lines('request')).toMatchObject([
      { method, route, status, accountId: null, tokenId: null },
    ]);
  });

  it('of an operator names the account that it is about', async () => {
    await operator.get(`/operator/accounts/${us.accountId}/tokens`);
    await operator.patch(`/operator/connections/${us.connection.id}`, { name: 'Ours' });
    const { accountId } = us;
    expect(log.lines('request')).toMatchObject([{ accountId }, { accountId, tokenId: null }]);
  });

  it('of a request that breaks has status 500, beside a line that says why', async () => {
    const broken = { ...env, OPERATOR_KEY: 'short' };
    const reply = await app.fetch(new Request('https://api.example.com/operator/accounts'), broken);
    const requestId = reply.headers.get('x-request-id');
    expect(log.lines('request')).toMatchObject([{ requestId, status: 500 }]);
    expect(log.lines('fault')).toMatchObject([
      {
        level: 'error',
        message: 'Internal error',
        requestId,
        route: '/operator/*',
        error: expect.stringContaining('ValiError'),
        stack: expect.stringContaining('at '),
      },
    ]);
  });
});

describe('the line of an attempt', () => {
  // What another file began may still be delivered.
  const linesOf = (id: string, kind: string) =>
    log.lines(kind).filter(({ webhookId }) => webhookId === id);

  it('leads from the ingest call through the notification to the delivery', async () => {
    heard.responds(() => new Response('no', { status: 500 }));
    const hook = await register();
    const sent = await happen();
    const row = await attempted(hook.id);
    const requestId = sent.headers.get('x-request-id');
    expect(linesOf(hook.id, 'attempt')).toEqual([
      {
        level: 'info',
        kind: 'attempt',
        requestId,
        deliveryId: row.id,
        webhookId: hook.id,
        accountId: us.accountId,
        type: 2,
        attempt: 1,
        lateMs: expect.any(Number),
        result: 'status',
        status: 500,
        ms: expect.any(Number),
        retryMs: expect.any(Number),
      },
    ]);
    const shown = await operator.get<{ requestId: string }>(`/operator/deliveries/${row.id}`);
    expect(shown.data.requestId).toBe(requestId);
  });

  it('that was successful is shared with the others that were recorded with it', async () => {
    const hook = await register();
    const sent = await happen(4);
    await settled(hook.id, 4);
    const lines = linesOf(hook.id, 'delivered');
    expect(lines.length).toBeLessThan(4);
    expect(lines[0]).toMatchObject({ level: 'info', webhookId: hook.id, accountId: us.accountId });
    const ids = (await deliveriesOf(hook.id)).map(({ id }) => id);
    const deliveries = lines.flatMap((line) => line.deliveries as { deliveryId: string }[]);
    expect(deliveries.map(({ deliveryId }) => deliveryId).sort()).toEqual(ids);
    const requestId = sent.headers.get('x-request-id');
    for (const delivery of deliveries)
      expect(delivery).toMatchObject({
        requestId,
        type: 2,
        attempt: 1,
        lateMs: expect.any(Number),
        status: 200,
        ms: expect.any(Number),
      });
    expect(linesOf(hook.id, 'attempt')).toEqual([]);
  });
});

it('leaves attempts out beyond what Workers keeps, and says how many', () => {
  const attempts = attemptLog();
  const deliveries = Array.from({ length: 40 }, () => ({
    requestId: newId(),
    deliveryId: newId(),
    type: 2,
    attempt: 1,
    lateMs: 6,
    status: 204,
    ms: 12,
  }));
  const made = { level: 'info', webhookId: newId(), accountId: newId() } as const;
  const timedOut = {
    requestId: null,
    deliveryId: newId(),
    type: 2,
    attempt: 1,
    lateMs: 6,
    status: null,
    ms: 15_000,
  };
  for (let i = 0; i < 100; i++) attempts.log({ ...made, kind: 'delivered', deliveries });
  attempts.log({ ...made, kind: 'attempt', result: 'timeout', ...timedOut });
  attempts.end();
  expect(log.raw.join().length).toBeLessThan(200_000);
  const logged = log.lines('delivered').flatMap((line) => line.deliveries as object[]).length;
  expect(logged).toBeGreaterThan(800);
  expect(log.lines('attempts omitted')).toEqual([
    { level: 'info', kind: 'attempts omitted', omitted: 4001 - logged },
  ]);
});

it('has a row of the operating notes for each fault', () => {
  const faults = [...source.matchAll(/^ {2}'([^']+)': /gm)].map(([, message = '']) => message);
  expect(faults.length).toBeGreaterThan(10);
  expect(faults.filter((message) => !new RegExp(`^\\| .*\`${message}\``, 'm').test(notes))).toEqual(
    [],
  );
});

describe('the log', () => {
  it('holds nothing secret or personal, whatever is sent', async () => {
    const mark = 'MARKED';
    const link = 'c2VjcmV0LWxpbms';
    const paths = [
      '/webhooks',
      '/webhook',
      `/webhook/${mark}`,
      `/vehicles?vin=${mark}`,
      `/safety-events?from=${mark}`,
      '/ingest',
      `/${mark}/${mark}`,
      `/portal/sign-in/link?secret=${link}`,
      '/portal/sign-in',
      `/portal/webhooks/${mark}`,
      '/operator/accounts',
      `/operator/deliveries/${mark}`,
      `/operator/accounts/${us.accountId}/users`,
      `/health?${mark}`,
    ];
    const credentials = [
      {},
      { 'x-api-key': mark },
      { 'x-api-key': us.apiToken },
      { 'x-api-key': us.connection.ingestKey },
      { authorization: `Bearer ${env.OPERATOR_KEY}` },
      { authorization: `Bearer ${mark}` },
      { cookie: `__Host-session=${mark}` },
    ];
    const bodies = [
      undefined,
      mark,
      { name: mark, email: `ann@${mark}.example`, [mark]: mark },
      webhookBody(us, { url: `https://${mark}.example.com/${mark}`, headers: { [mark]: mark } }),
      {
        records: [
          vehicle({ name: mark, vin: mark }),
          safetyEvent({ recipients: [`ann@${mark}.example`] }),
        ],
      },
      { records: [{ kind: mark, sourceId: mark }, vehicle({ sourceId: mark, year: mark })] },
    ];
    const loud = {
      'user-agent': mark,
      'x-request-id': mark,
      'cf-ray': mark,
      'connection-id': mark,
    };
    const quiet = { 'connection-id': us.connection.id, origin: 'https://api.example.com' };
    const oneOf = <T>(values: T[]) => fc.constantFrom(...values);
    const request = fc.record({
      method: oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
      path: oneOf(paths),
      credential: oneOf(credentials),
      body: oneOf(bodies),
      more: oneOf<Record<string, string>>([loud, quiet, { 'content-type': mark }]),
    });
    await fc.assert(
      fc.asyncProperty(request, async ({ method, path, credential, body, more }) => {
        log.raw.length = 0;
        const headers = { 'content-type': 'application/json', ...credential, ...more };
        const init = {
          method,
          headers,
          ...(method !== 'GET' && body && { body: JSON.stringify(body) }),
        };
        await app.fetch(new Request(`https://api.example.com${path}`, init), env, background);
        expect(log.lines('request')).toHaveLength(1);
        expectNothingOf([mark, link, us.apiToken, us.connection.ingestKey, env.OPERATOR_KEY]);
      }),
      { numRuns: 300 },
    );
  });

  it('holds nothing of a receiver, of what it is sent, or of what it answers', async () => {
    const secret = 'MARKED';
    const url = `https://${secret}.example.com/${secret}?${secret}`;
    heard.responds(() => {
      return new Response(secret, {
        status: 503,
        statusText: secret,
        headers: { [secret]: secret },
      });
    });
    const hook = await register({ url, headers: { 'X-Secret': secret, [secret]: '1' } });
    await send(
      vehicle({ name: secret, vin: secret }),
      safetyEvent({ recipients: [`ann@${secret}.example`] }),
    );
    await attempted(hook.id);
    heard.responds(() => Promise.reject(new Error(`${url} refused`)));
    const other = await register({ url: `${url}2` });
    await send(accident({ vin: secret }));
    await attempted(other.id);
    expect(log.lines('attempt')).toHaveLength(3);
    expectNothingOf([secret]);
  });

  it('tells what went wrong with the database, not what was asked of it', async () => {
    const DB = {
      prepare: () => {
        throw new SyntaxError('Unexpected token, "MARKED" is not valid JSON');
      },
      batch: () => Promise.reject(new Error('D1_ERROR: no such table')),
    } as unknown as D1Database; // all that the service uses
    const headers = {
      authorization: `Bearer ${env.OPERATOR_KEY}`,
      'content-type': 'application/json',
    };
    const init = { method: 'POST', headers, body: JSON.stringify({ name: 'MARKED' }) };
    const reply = await app.fetch(
      new Request('https://api.example.com/operator/accounts', init),
      { ...env, DB },
      background,
    );
    expect(reply.status).toBe(500);
    expect(log.lines('fault')).toMatchObject([{ message: 'Internal error', error: 'SyntaxError' }]);
    expectNothingOf(['MARKED']);
  });
});

const background = {
  waitUntil() {},
  passThroughOnException() {},
  props: {},
} as unknown as ExecutionContext;

function expectNothingOf(secrets: string[]) {
  const text = log.raw.join('\n').toLowerCase();
  for (const secret of secrets) expect(text).not.toContain(secret.toLowerCase());
}
