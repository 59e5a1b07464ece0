import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { strict } from '../../../src/dev/strict/bindings.ts';
import { connected, invoked, limits, takeExceeded } from '../../../src/dev/strict/limits.ts';

afterEach(() => vi.restoreAllMocks());

const { DB, DELIVERIES, TOKENS } = strict(env);
const one = () => DB.prepare('select 1');

/** What exceeds each limit, and how the first of it is called. */
const tooMuch: [string, () => unknown][] = [
  ['queries of an invocation: 1001', () => DB.batch(Array.from({ length: 1001 }, one))],
  ['subrequests of an invocation: 10001', () => repeated(10_001, () => connected(async () => {}))],
  ['parameters of a statement: 101', () => one().bind(...Array(101).fill(1))],
  ['bytes of a statement: 100001', () => DB.prepare('s'.repeat(100_001))],
  ['bytes of a parameter: 2000001', () => one().bind(`€${'s'.repeat(1_999_998)}`)],
  ['messages of a batch: 101', () => DELIVERIES.sendBatch(Array(101).fill({ body: {} }))],
  ['bytes of a message: 128001', () => DELIVERIES.send('s'.repeat(127_999))],
  ['bytes of a batch: 300006', () => DELIVERIES.sendBatch(Array(3).fill({ body: 's'.repeat(100_000) }))],
  ['log of an invocation: 256002', () => console.info('s'.repeat(256_001))],
];

it.each(tooMuch)('refuses %s', async (what, exceed) => {
  await expect(invoked(async () => exceed())).rejects.toThrow(`Limit of production exceeded: ${what}`);
  expect(takeExceeded()).toHaveLength(1);
});

it('counts each invocation by itself', async () => {
  for (let i = 0; i < 3; i++) await invoked(() => DB.batch(Array.from({ length: 900 }, one)));
  expect(takeExceeded()).toEqual([]);
});

it('ends what goes on for more than 30 s behind the handler', async () => {
  const { promise: later, resolve } = Promise.withResolvers<void>();
  let behind: Promise<unknown> = Promise.resolve();
  await invoked(async () => {
    behind = later.then(() => one().all());
    behind.catch(() => {});
  });
  const now = performance.now();
  vi.spyOn(performance, 'now').mockReturnValue(now + limits.behindHandlerMs + 1000);
  resolve();
  await expect(behind).rejects.toThrow('more than 30 s after the handler');
  expect(takeExceeded()).toHaveLength(1);
});

it('has a seventh connection wait for one of six', async () => {
  let [open, most] = [0, 0];
  const call = () =>
    connected(async () => {
      most = Math.max(most, ++open);
      await scheduler.wait(5);
      open--;
    });
  await invoked(() => Promise.all(Array.from({ length: 20 }, call)));
  expect(most).toBe(6);
});

it('caches for a minute that KV does not know a key, and takes one write of it in a second', async () => {
  const key = crypto.randomUUID();
  expect(await TOKENS.get(key)).toBe(null);
  await TOKENS.put(key, 'known');
  expect(await TOKENS.get(key)).toBe(null);
  await expect(TOKENS.put(key, 'changed')).rejects.toThrow('429');
  const now = performance.now();
  vi.spyOn(performance, 'now').mockReturnValue(now + limits.kvMissMs + 1);
  expect(await TOKENS.get(key)).toBe('known');
});

it('drops points beyond 250, as Analytics Engine does', async () => {
  const write = vi.fn();
  const { ATTEMPTS } = strict({ ...env, ATTEMPTS: { writeDataPoint: write } });
  await invoked(async () => repeated(300, async () => ATTEMPTS.writeDataPoint()));
  expect(write).toHaveBeenCalledTimes(250);
  ATTEMPTS.writeDataPoint();
  expect(write).toHaveBeenCalledTimes(251);
});

async function repeated(times: number, work: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < times; i++) await work();
}
