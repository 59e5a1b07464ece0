import { env, exports } from 'cloudflare:workers';
import fc from 'fast-check';
import { attemptLog } from '#src/core/platform/log.ts';
import source from '#src/core/platform/log.ts?raw';
import notes from '#src/docs/guides/operating/runbook.md?raw';
import {
  accident,
  attempted,
  call,
  changeConnection,
  deliveriesOf,
  listenToLog,
  newId,
  operator,
  safetyEvent,
  settled,
  story,
  times,
  vehicle,
  webhookBody,
} from '#test/support.ts';

const { us, heard, send, register, happen } = story();
let log: ReturnType<typeof listenToLog>;
beforeEach(() => {
  log = listenToLog();
});

describe('the line of a request', () => {
  it('says who asked for what, what came of it, and which account it is about', async () => {
    const { accountId, tokenId } = us;
    const { headers } = await us.lists.get('/vehicles?vin=1FUJGLDR5CLBP8834');
    await send(vehicle(), { kind: 'nonsense' });
    await send(vehicle());
    await operator.get(`/operator/accounts/${accountId}/tokens`);
    await changeConnection(us.connection.id, { name: 'Ours' });
    const [first, ...others] = log.lines('request');
    expect(first).toEqual({
      level: 'info',
      kind: 'request',
      requestId: headers.get('x-request-id'),
      method: 'GET',
      route: '/vehicles',
      status: 200,
      ms: expect.any(Number),
      accountId,
      tokenId,
    });
    expect(others).toMatchObject([
      { route: '/ingest', records: { accepted: 1, unchanged: 0, rejected: 1 } },
      { route: '/ingest', records: { accepted: 0, unchanged: 1, rejected: 0 } },
      { accountId },
      { accountId, tokenId: null },
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
});

describe('the line of an attempt', () => {
  // What another file began may still be delivered.
  const linesOf = (id: string, kind: string) =>
    log.lines(kind).filter(({ webhookId }) => webhookId === id);

  it('leads from the ingest call to the delivery', async () => {
    heard.responds(() => new Response('no', { status: 500 }));
    const hook = await register();
    const sent = await happen();
    const row = await attempted(hook.id);
    const [ms, requestId] = [expect.any(Number), sent.headers.get('x-request-id')];
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
        result: 'status',
        status: 500,
        lateMs: ms,
        ms,
        retryMs: ms,
      },
    ]);
  });

  it('that was successful is shared with the others that were recorded with it', async () => {
    const hook = await register();
    const sent = await happen(4);
    await settled(hook.id, 4);
    const lines = linesOf(hook.id, 'delivered');
    expect(lines.length).toBeLessThan(4);
    expect(lines[0]).toMatchObject({ level: 'info', webhookId: hook.id, accountId: us.accountId });
    const deliveries = lines.flatMap((line) => line.deliveries);
    const [ms, requestId] = [expect.any(Number), sent.headers.get('x-request-id')];
    const made = { requestId, type: 2, attempt: 1, status: 200, lateMs: ms, ms };
    const expected = (await deliveriesOf(hook.id)).map(({ id }) => ({ ...made, deliveryId: id }));
    expect(deliveries).toHaveLength(4);
    expect(deliveries).toEqual(expect.arrayContaining(expected));
    expect(linesOf(hook.id, 'attempt')).toEqual([]);
  });
});

it('leaves attempts out beyond what Workers keeps, and says how many', () => {
  const attempts = attemptLog();
  const made = () => ({ deliveryId: newId(), type: 2, attempt: 1, lateMs: 6, ms: 12 });
  const deliveries = times(40, () => ({ ...made(), requestId: newId(), status: 204 }));
  const of = { level: 'info', webhookId: newId(), accountId: newId() } as const;
  for (let i = 0; i < 100; i++) attempts.log({ ...of, kind: 'delivered', deliveries });
  const timeout = { result: 'timeout', requestId: null, status: null } as const;
  attempts.log({ ...of, kind: 'attempt', ...made(), ...timeout });
  attempts.end();
  expect(log.raw.join().length).toBeLessThan(200_000);
  const logged = log.lines('delivered').flatMap((line) => line.deliveries as object[]).length;
  expect(logged).toBeGreaterThan(800);
  expect(log.lines('attempts omitted')).toMatchObject([{ level: 'info', omitted: 4001 - logged }]);
});

it('has a row of the operating notes for each fault', () => {
  const faults = [...source.matchAll(/^ {2}'([^']+)': /gm)].map(([, message = '']) => message);
  expect(faults.length).toBeGreaterThan(10);
  const unknown = faults.filter((message) => !new RegExp(`^\\| .*\`${message}\``, 'm').test(notes));
  expect(unknown).toEqual([]);
});

function expectNothingOf(secrets: string[]) {
  const text = log.raw.join('\n').toLowerCase();
  for (const secret of secrets) expect(text).not.toContain(secret.toLowerCase());
}

const mark = 'MARKED';

describe('the log', () => {
  it('holds nothing secret or personal, whatever is sent', async () => {
    const link = 'c2VjcmV0LWxpbms';
    const paths = [
      ...['/webhook', `/webhook/${mark}`, '/ingest', `/${mark}/${mark}`, `/vehicles?vin=${mark}`],
      ...[`/portal/sign-in/link?secret=${link}`, '/portal/sign-in', `/portal/webhooks/${mark}`],
      ...[`/operator/deliveries/${mark}`, `/operator/accounts/${us.accountId}/users`],
    ];
    const secrets = [mark, us.apiToken, us.connection.ingestKey, env.OPERATOR_KEY];
    const credentials = [
      ...[{}, { cookie: `__Host-session=${mark}` }],
      ...secrets.flatMap((secret) => [
        { 'x-api-key': secret },
        { authorization: `Bearer ${secret}` },
      ]),
    ];
    const email = `ann@${mark}.example`;
    const marked = vehicle({ name: mark, vin: mark, year: mark });
    const bodies = [
      ...[undefined, mark, { name: mark, email, [mark]: mark }],
      webhookBody(us, { url: `https://${mark}.example.com/${mark}`, headers: { [mark]: mark } }),
      { records: [marked, safetyEvent({ recipients: [email] }), { kind: mark, sourceId: mark }] },
    ];
    const loud = ['user-agent', 'x-request-id', 'cf-ray', 'connection-id'];
    const quiet = { 'connection-id': us.connection.id, origin: 'https://api.example.com' };
    const oneOf = <T>(values: T[]) => fc.constantFrom(...values);
    const request = fc.record({
      method: oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
      path: oneOf(paths),
      credential: oneOf<object>(credentials),
      body: oneOf<unknown>(bodies),
      more: oneOf<object>([
        Object.fromEntries(loud.map((name) => [name, mark])),
        ...[quiet, { 'content-type': mark }],
      ]),
    });
    await fc.assert(
      fc.asyncProperty(request, async ({ method, path, credential, body, more }) => {
        log.raw.length = 0;
        const headers = { 'content-type': 'application/json', ...credential, ...more };
        const sent = method !== 'GET' && body !== undefined && { body: JSON.stringify(body) };
        const asked = new Request(`https://api.example.com${path}`, {
          method,
          headers,
          redirect: 'manual',
          ...sent,
        });
        await exports.default.fetch(asked);
        expect(log.lines('request')).toHaveLength(1);
        expectNothingOf([...secrets, link]);
      }),
      { numRuns: 300 },
    );
  });

  it('holds nothing of a receiver, of what it is sent, or of what it answers', async () => {
    const url = `https://${mark}.example.com/${mark}?${mark}`;
    const said = { status: 503, statusText: mark, headers: { [mark]: mark } };
    heard.responds(() => new Response(mark, said));
    const hook = await register({ url, headers: { 'X-Secret': mark, [mark]: '1' } });
    await send(
      vehicle({ name: mark, vin: mark }),
      safetyEvent({ recipients: [`ann@${mark}.example`] }),
    );
    await attempted(hook.id);
    heard.responds(() => Promise.reject(new Error(`${url} refused`)));
    const other = await register({ url: `${url}2` });
    await send(accident({ vin: mark }));
    await attempted(other.id);
    expect(log.lines('attempt')).toHaveLength(3);
    expectNothingOf([mark]);
  });

  it('says why a request breaks, and not what was asked', async () => {
    const DB = {
      prepare: () => {
        throw new SyntaxError(`Unexpected token, "${mark}" is not valid JSON`);
      },
    } as unknown as D1Database; // all that the service uses
    const authorization = `Bearer ${env.OPERATOR_KEY}`;
    const sent = { headers: { authorization }, body: { name: mark }, bindings: { ...env, DB } };
    const { requestId } = await call('POST', '/operator/accounts', sent);
    expect(log.lines('request')).toMatchObject([{ requestId, status: 500 }]);
    const fault = { level: 'error', message: 'Internal error', error: 'SyntaxError' };
    const where = { requestId, route: '/operator/accounts', stack: expect.stringContaining('at ') };
    expect(log.lines('fault')).toMatchObject([{ ...fault, ...where }]);
    expectNothingOf([mark]);
  });
});
