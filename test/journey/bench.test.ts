import { runToEnd } from '../support/node/child.ts';

type Table = { benchmark: string; rows: Record<string, string | number | boolean>[] };

/** Each once, at its smallest, as a person would run it; how fast it was says nothing here. */
it('benchmarks find nothing lost, nothing called twice, and a small bundle', async () => {
  const names = ['requests', 'ingest', 'deliveries', 'startup', 'receivers', 'neighbours', 'router'];
  const { code, out, err } = await runToEnd('src/cli/bench.ts', ['--small', '--json', ...names]);
  expect(code, err).toBe(0);
  const tables = out
    .trim()
    .split('\n')
    .map((line): Table => JSON.parse(line));
  const rowsOf = (name: string) => tables.find(({ benchmark }) => benchmark === name)?.rows ?? [];

  const compared = ['requests', 'ingest', 'deliveries', 'router'].flatMap((name) => rowsOf(name));
  expect(compared).toHaveLength(12);
  for (const { ratio } of compared) expect(Number.parseFloat(String(ratio))).not.toBeNaN();
  expect(rowsOf('startup')[1]).toMatchObject({ met: true }); // the size of the bundle

  expect(rowsOf('receivers')).not.toEqual([]);
  for (const row of rowsOf('receivers')) {
    expect(row.repeats).toBe(0);
    expect(Number(row['most in flight'])).toBeGreaterThan(1);
    expect(Number(row['most in flight'])).toBeLessThanOrEqual(50);
  }

  const attacks = rowsOf('neighbours');
  expect(attacks).toHaveLength(10);
  for (const { lists, ingest, deliveries, lost, did } of attacks) {
    for (const ratio of [lists, ingest, deliveries]) expect(Number(ratio)).toBeGreaterThan(0);
    expect([lost, did]).toEqual([0, expect.stringMatching(/\d/)]);
  }
  for (const { did } of attacks.slice(-2)) expect(did).toMatch(/^\d+ × 200$/);
});
