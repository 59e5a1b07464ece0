import { env } from 'cloudflare:workers';
import { strict } from '#src/dev/strict/bindings.ts';
import { connected, invoked, takeExceeded } from '#src/dev/strict/limits.ts';

const { DB, DELIVERIES } = strict(env);
const one = () => DB.prepare('select 1');

/** What exceeds each limit, and how the first of it is called. */
const tooMuch: [string, () => unknown][] = [
  ['queries of an invocation: 1001', () => DB.batch(Array.from({ length: 1001 }, one))],
  ['subrequests of an invocation: 10001', () => repeated(10_001, () => connected(async () => {}))],
  [
    'parameters of a statement: 101',
    () =>
      one()
        .bind(...Array(101).fill(1))
        .all(),
  ],
  [
    'arguments of a function: 33',
    () => DB.prepare(`select max(${Array(33).fill("min('(', json_array(1, 2))")})`).all(),
  ],
  ['bytes of a statement: 100001', () => DB.prepare('s'.repeat(100_001)).all()],
  [
    'bytes of a parameter: 2000001',
    () =>
      one()
        .bind(`€${'s'.repeat(1_999_998)}`)
        .all(),
  ],
  ['messages of a batch: 101', () => DELIVERIES.sendBatch(Array(101).fill({ body: {} }))],
  ['bytes of a message: 128001', () => DELIVERIES.send('s'.repeat(127_999))],
  [
    'bytes of a batch: 300006',
    () => DELIVERIES.sendBatch(Array(3).fill({ body: 's'.repeat(100_000) })),
  ],
  ['log of an invocation: 256002', () => console.info('s'.repeat(256_001))],
];

it.each(tooMuch)('refuses %s', async (what, exceed) => {
  await expect(invoked(async () => exceed())).rejects.toThrow(
    `Limit of production exceeded: ${what}`,
  );
  expect(takeExceeded()).toHaveLength(1);
});

async function repeated(times: number, work: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < times; i++) await work();
}

it.each<[what: string, run: () => Promise<unknown>]>([
  ['a statement outside a transaction: select 2', () => DB.prepare('select 2').all()],
  [
    'an update or delete without where: delete from "jobs"',
    () => DB.batch([DB.prepare('delete from "jobs"')]),
  ],
  [
    'an update or delete without where: update jobs',
    () => DB.batch([DB.prepare('update jobs set holder = 1')]),
  ],
])('refuses %s', async (what, run) => {
  await expect(invoked(run)).rejects.toThrow(`Refused in local runs and tests: ${what}`);
  expect(takeExceeded()).toHaveLength(1);
});
