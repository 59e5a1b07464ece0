import { spread } from './report.ts';

/** One measure: the service against the least that could do the same job. */
export type Measure = {
  what: string;
  unit: string;
  bare: Spread;
  service: Spread;
  /** Service over bare, round by round. */
  ratio: Spread;
  bar: string;
  met: boolean;
};

type Spread = ReturnType<typeof spread>;

/** Runs both by turns, once to warm up and then `rounds` times, and holds the median ratio against the bar. */
export async function byTurns(
  { what, unit, bar, most }: { what: string; unit: string; bar: number; most?: boolean },
  rounds: number,
  run: { bare: () => Promise<number>; service: () => Promise<number> },
): Promise<Measure> {
  const bare: number[] = [];
  const service: number[] = [];
  for (let round = -1; round < rounds; round++) {
    const figures = { bare: await run.bare(), service: await run.service() };
    if (round < 0) continue;
    bare.push(figures.bare);
    service.push(figures.service);
  }
  const ratio = spread(service.map((figure, i) => figure / (bare[i] ?? Number.NaN)));
  return {
    what,
    unit,
    bare: spread(bare),
    service: spread(service),
    ratio,
    bar: `${most ? '≤' : '≥'} ${bar.toFixed(2)}`,
    met: most ? ratio.median <= bar : ratio.median >= bar,
  };
}
