import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { fingerprint, schemaSql } from '../../../src/operator/api/schema.ts';
import { checkService, type ProbeMessage, recordProbe } from '../../../src/operator/health/check.ts';
import { rows } from '../../support/rows.ts';
import { minute } from '../../support/service.ts';

const times = { probeMs: 300, holdMs: 200, messagesMs: 1500 };
const schema = async () => Promise.all((await rows(schemaSql)).map(({ name }) => fingerprint(String(name))));

/** What a check finds with these bindings. Its messages come one after the other, or as `receive` says. */
async function found(
  bindings: object = {},
  expected: string[] = [],
  receive = (message: ProbeMessage): unknown => recordProbe(env, message, times.holdMs),
) {
  const sent = vi.spyOn(env.DELIVERIES, 'sendBatch').mockImplementation(async (messages) => {
    for (const { body } of messages) receive(body as ProbeMessage);
    return {} as never;
  });
  const checks = await checkService(
    { ...env, ...bindings },
    expected.length > 0 ? expected : await schema(),
    times,
  );
  sent.mockRestore();
  return Object.fromEntries(checks.map(({ name, result, detail }) => [name, `${result}: ${detail}`]));
}

it('finds nothing wrong with a service that works', async () => {
  await minute();
  expect(await found()).toEqual({
    schema: expect.stringMatching(/^ok: all \d+ tables/),
    database: expect.stringMatching(/^ok: /),
    refusals: 'ok: D1 repeats their words',
    'scheduled jobs': expect.stringMatching(/^ok: ran \d s ago/),
    replicas: 'off: lists are read from the primary',
    archive: 'ok: written and read',
    queue: expect.stringMatching(/^ok: 2 of 2 messages came/),
    'background work': expect.stringMatching(/^ok: work of 0.2 s continues behind the handler/),
    KV: 'ok: written and read',
    'Analytics Engine': 'ok: bound',
    email: expect.stringMatching(/^ok: bound, from /),
  });
  expect(await rows(`select name from jobs where name like 'check/%'`)).toEqual([]);
});

it('names what a database lacks, and what is there in other words', async () => {
  const expected = [...(await schema()), await fingerprint('table loans: create table loans (id)')];
  const altered = expected.map((one) => one.replace(/^(table tokens): .*/, '$1: 0000000000000000'));
  expect((await found({}, altered)).schema).toMatch(
    /^fault: missing or different: .*table tokens.*table loans/,
  );
});

const silent = () => new Promise<never>(() => {});

it.each<[string, object, RegExp]>([
  ['KV', { TOKENS: { put: async () => {}, get: async () => null } }, /^warning: written, but not read yet/],
  ['KV', { TOKENS: { put: silent, get: silent } }, /^fault: Error: no response within 300 ms/],
  [
    'archive',
    { ARCHIVE: { put: async () => Promise.reject(new Error('10001')), get: silent } },
    /^fault: Error: 10001/,
  ],
  ['archive', { ARCHIVE: undefined }, /^off: /],
  ['Analytics Engine', { ATTEMPTS: undefined }, /^off: /],
  ['email', { EMAIL: undefined }, /^off: /],
])('says how %s fails', async (name, bindings, expected) => {
  expect((await found(bindings))[name]).toMatch(expected);
});

it.each<[string, (message: ProbeMessage) => unknown, [RegExp, RegExp]]>([
  ['no messages', () => {}, [/^fault: 0 of 2 messages came within 1.5 s/, /^fault: unknown/]],
  [
    'work that is cut off',
    (message) => void recordProbe(env, message, 60_000),
    [/^ok/, /^fault: work of 0.2 s behind the consumer's handler was cut off/],
  ],
  [
    'a message that waits for the work of the one before',
    ({ check }) =>
      setTimeout(() => recordProbe(env, { check }, 10), check.endsWith('/2') ? times.holdMs + 200 : 0),
    [/^ok/, /^warning: .* the next message came after \d{3} ms/],
  ],
])('sees %s', async (_, receive, [queue, work]) => {
  const checks = await found({}, [], receive);
  expect(checks.queue).toMatch(queue);
  expect(checks['background work']).toMatch(work);
});
