import { env } from 'cloudflare:workers';
import { fingerprint, schemaSql } from '#src/operator/api/schema.ts';
import type { ServiceCheck } from '#src/operator/api/service.ts';
import { checkService, type ProbeMessage, recordProbe } from '#src/operator/health/check.ts';
import { keepEmails, minute, rows } from '#test/support.ts';

const times = { probeMs: 2000, holdMs: 200, messagesMs: 1500 };
const schema = async () =>
  Promise.all((await rows(schemaSql)).map(({ name }) => fingerprint(String(name))));

/** What a check finds with these bindings. Its messages come one after the other, or as `receive` says. */
async function found({
  bindings = {},
  receive = (message: ProbeMessage): unknown => recordProbe(env, message, times.holdMs),
  ...asked
}: {
  bindings?: object;
  receive?: (message: ProbeMessage) => unknown;
} & Partial<ServiceCheck> = {}) {
  const sent = vi.spyOn(env.DELIVERIES, 'sendBatch').mockImplementation(async (messages) => {
    for (const { body } of messages) receive(body as ProbeMessage);
    return {} as never;
  });
  const expected = { schema: await schema(), ...asked };
  const checks = await checkService({ ...env, ...bindings }, expected, times);
  sent.mockRestore();
  return Object.fromEntries(
    checks.map(({ name, result, detail }) => [name, `${result}: ${detail}`]),
  );
}

// A journey runs the check of a whole service: test/journey/main-job.test.ts.
it('finds nothing wrong with a service that works, and leaves nothing behind', async () => {
  await minute();
  const checks = Object.values(await found());
  expect(checks.filter((one) => !/^(ok|off): |: connection$/.test(one))).toEqual([]);
  expect(checks).toHaveLength(15);
  expect(await rows(`select name from jobs where name like 'check/%'`)).toEqual([]);
});

it('names what a database lacks, and what is there in other words', async () => {
  const expected = [...(await schema()), await fingerprint('table loans: create table loans (id)')];
  const altered = expected.map((one) => one.replace(/^(table tokens): .*/, '$1: 0000000000000000'));
  expect((await found({ schema: altered })).schema).toMatch(
    /^fault: missing or different: .*table tokens.*table loans/,
  );
});

/** The database, which does as if it had run the probes' queries, or fails with so many as Cloudflare does. */
const failing = (refuses: (queries: number) => boolean) => {
  const select = async (queries: number) => {
    if (refuses(queries)) throw new Error('Too many API requests by single worker invocation.');
    return [];
  };
  const prepare = (text: string) =>
    text === 'select 1' ? { run: () => select(1) } : env.DB.prepare(text);
  const batch = (all: D1PreparedStatement[]) =>
    all.length > 1000 ? select(all.length) : env.DB.batch(all);
  return { prepare, batch };
};

const silent = () => new Promise<never>(() => {});
const email = 'ops@example.com';
const send = async () =>
  Promise.reject(Object.assign(new Error(`${email} is not verified`), { code: 'E_NOT_VERIFIED' }));
const put = async () => Promise.reject(new Error('10001'));
const written = { put: async () => {}, get: async () => null };
const paid = { ALLOW_LOOPBACK_RECEIVERS: 'false' };

it.each<[string, object, RegExp]>([
  ['KV', { TOKENS: written }, /^warning: written, but not read yet/],
  ['KV', { TOKENS: { put: silent, get: silent } }, /^fault: Error: no response within 2000 ms/],
  ['archive', { ARCHIVE: { put, get: silent } }, /^fault: Error: 10001/],
  ['archive', { ARCHIVE: undefined }, /^off: /],
  ['Analytics Engine', { ATTEMPTS: undefined }, /^off: /],
  ['email', { EMAIL: undefined }, /^off: /],
  ['email', { EMAIL: { send } }, /^fault: .* refused an email: E_NOT_VERIFIED$/],
  [
    'plan',
    { DB: failing((queries) => queries === 1) },
    /^fault: Error: Too many API requests by single worker/,
  ],
  [
    'queries of a batch',
    { ...paid, DB: failing((queries) => queries > 1000) },
    /^ok: each counts as one of 1,000: Error: Too many/,
  ],
  ['queries of a batch', { ...paid, DB: failing(() => false) }, /^ok: 1,001 may be in one/],
])('says how %s fails', async (name, bindings, expected) => {
  expect((await found({ bindings, email }))[name]).toMatch(expected);
});

let received = 0;
it.each<[string, (message: ProbeMessage) => unknown, [RegExp, RegExp]]>([
  [
    'no messages',
    () => {},
    [/^fault: 0 of 2 messages came within 1.5 s, tried twice/, /^fault: unknown/],
  ],
  [
    'work that is cut off',
    (message) => void recordProbe(env, message, 60_000),
    [/^ok/, /^fault: work of 0.2 s behind the consumer's handler was cut off/],
  ],
  [
    'a message that waits for the work of the one before',
    ({ check }) =>
      setTimeout(
        () => recordProbe(env, { check }, 10),
        check.endsWith('/2') ? times.holdMs + 200 : 0,
      ),
    [/^ok/, /^warning: .* the next message came after \d{3} ms/],
  ],
  [
    'that the first messages are lost, and tries again',
    (message) => ++received > 2 && recordProbe(env, message, times.holdMs),
    [/^ok: 2 of 2 messages came/, /^ok/],
  ],
])('sees %s', async (_, receive, [queue, work]) => {
  const checks = await found({ receive });
  expect(checks.queue).toMatch(queue);
  expect(checks['background work']).toMatch(work);
});

it('measures ingest in an account that it deletes, and sends an email, if asked to', async () => {
  const { sent } = keepEmails();
  const checks = await found({ writes: true, email });
  expect(checks.ingest).toMatch(/^ok: D1 works \d+ ms on one event, and \d+ ms on fifty/);
  expect(checks.email).toMatch(/^ok: accepted from /);
  expect(sent()).toMatchObject([{ to: email, subject: 'Fleet Data Service: a test' }]);
  expect(await rows('select kind from deletions')).toEqual([{ kind: 'account' }]);
  expect(await rows('select count(*) as n from safety_events')).toEqual([{ n: 51 }]);
});

it.each([
  ['ok: to a host that does not exist: dns', 530, 'error code: 1016'],
  ['warning: to a host that does not exist: status', 404, 'error code: lost'],
])('is %s if a call to no host returns %d: %s', async (said, status, body) => {
  vi.spyOn(globalThis, 'fetch').mockResolvedValueOnce(new Response(body, { status }));
  expect((await found())['outgoing calls']).toBe(said);
});
