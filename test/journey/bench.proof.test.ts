// @module-tag proof
// More than 15 s: a benchmark of each kind.
import { runToEnd } from '#test/support/node/index.ts';

type Row = Record<'what' | 'reference' | 'service' | 'figure', string>;

/** Each once, at its smallest, as a person would run it; how fast it was says nothing here. */
it('benchmarks find nothing lost and nothing called twice', async () => {
  const { code, out, err } = await runToEnd('src/cli/bench.ts', ['--small', '--json']);
  expect(code, err).toBe(0);
  const rows = out
    .trim()
    .split('\n')
    .map((line): Row => JSON.parse(line));
  expect(rows.map(({ what }) => what.split(' ')[0])).toEqual([
    'GET',
    'ingest',
    'deliveries',
    'deliveries',
    'from',
    ...Array(6).fill('beside'),
    'start-up,',
  ]);
  for (const { what, service, figure } of rows) {
    expect(what).not.toContain('failed');
    expect(Number(figure), what).toBeGreaterThan(0);
    expect(service).toMatch(/\d/);
  }
});
