import { spread } from './report.ts';

/** One measure: the service against the least code that could do the same job. */
export type Measure = {
  what: string;
  unit: string;
  bare: Spread;
  service: Spread;
  /** Service divided by bare, round by round. */
  ratio: Spread;
  target: string;
  met: boolean;
};

type Spread = ReturnType<typeof spread>;

/** Runs both in turns, once to warm up and then `rounds` times, and compares the median ratio with the target. */
export async function byTurns(
  {
    what,
    unit,
    target,
    lowerIsBetter,
  }: { what: string; unit: string; target: number; lowerIsBetter?: boolean },
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
    target: `${lowerIsBetter ? '≤' : '≥'} ${target.toFixed(2)}`,
    met: lowerIsBetter ? ratio.median <= target : ratio.median >= target,
  };
}
