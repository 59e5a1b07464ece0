import { median, spread, type Table, yesOrNo } from './table.ts';

export const comparedWithBare = (rows: string[][]): Table => ({
  title: 'The service and the least code that could do the same job, by turns; medians (lowest–highest)',
  head: ['', 'bare', 'service', 'ratio', 'bar', 'met'],
  rows,
});

/** What is compared: its ratio, service divided by bare, must be at least or at most so much. */
type Measure = { what: string; unit: string } & ({ atLeast: number } | { atMost: number });

/** Runs both by turns, once to warm up and then `rounds` times. Returns the row of the table. */
export async function compare(
  measure: Measure,
  rounds: number,
  run: { bare: () => Promise<number>; service: () => Promise<number> },
): Promise<string[]> {
  const bare: number[] = [];
  const service: number[] = [];
  for (let round = -1; round < rounds; round++) {
    const figures = [await run.bare(), await run.service()] as const;
    if (round < 0) continue;
    bare.push(figures[0]);
    service.push(figures[1]);
  }
  const { what, unit } = measure;
  const ratios = service.map((figure, i) => figure / (bare[i] ?? Number.NaN));
  const [bar, met] =
    'atLeast' in measure
      ? [`≥ ${measure.atLeast.toFixed(2)}`, median(ratios) >= measure.atLeast]
      : [`≤ ${measure.atMost.toFixed(2)}`, median(ratios) <= measure.atMost];
  const digits = unit === 'ms' ? 1 : 0;
  const shown = [`${median(bare).toFixed(digits)} ${unit}`, `${spread(service, digits)} ${unit}`];
  return [what, ...shown, spread(ratios, 2), bar, yesOrNo(met)];
}
