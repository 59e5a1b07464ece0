import { cpus } from 'node:os';
import { tableOf } from '../operate/print.ts';

/** A benchmark's results: rows of the same columns. `met` says whether a row is within its bars. */
export type Table = { title: string; rows: TableRow[] };
export type TableRow = { [column: string]: string | number | boolean };

/** Prints a benchmark's table under its title; with `json`, as one line of JSON. */
export function print(benchmark: string, { title, rows }: Table, json: boolean): void {
  if (json) return void console.log(JSON.stringify({ benchmark, title, rows }));
  const head = Object.keys(rows[0] ?? {});
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}, Node ${process.version}`;
  const cells = rows.map((row) => head.map((column) => row[column]));
  console.log(`\n${title}; ${machine}\n${tableOf(cells, head)}`);
}

/** Returns the smallest value that at least `share` (0 to 1) of the values do not exceed. */
export const percentile = (values: number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN;

export const median = (values: number[]): number => percentile(values, 0.5);

/** The median of some numbers with the lowest and the highest, as text. */
export function spread(values: number[], digits = 0): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const range = low === high ? '' : ` (${low.toFixed(digits)}–${high.toFixed(digits)})`;
  return median(values).toFixed(digits) + range;
}

export const comparedWithBare = (rows: TableRow[]): Table => ({
  title: 'The service and the least code that could do the same job, alternately; medians (lowest–highest)',
  rows,
});

/** A comparison: its ratio, service divided by bare, must be at least or at most so much. */
type Measure = { what: string; unit: string; atLeast?: number; atMost?: number };

/** Runs both alternately, once to warm up and then `rounds` times; without rounds, just once. */
export async function compare(
  { what, unit, atLeast = 0, atMost = Number.POSITIVE_INFINITY }: Measure,
  rounds: number,
  run: { bare: () => Promise<number>; service: () => Promise<number> },
): Promise<TableRow> {
  const figures: { bare: number; service: number }[] = [];
  for (let round = 0; round <= rounds; round++)
    figures.push({ bare: await run.bare(), service: await run.service() });
  const counted = figures.slice(Math.min(1, rounds));
  const of = (kind: 'bare' | 'service') => counted.map((one) => one[kind]);
  const ratios = counted.map(({ bare, service }) => service / bare);
  const digits = unit === 'ms' ? 1 : 0;
  return {
    '': what,
    bare: `${median(of('bare')).toFixed(digits)} ${unit}`,
    service: `${spread(of('service'), digits)} ${unit}`,
    ratio: spread(ratios, 2),
    bar: atLeast > 0 ? `≥ ${atLeast.toFixed(2)}` : `≤ ${atMost.toFixed(2)}`,
    met: median(ratios) >= atLeast && median(ratios) <= atMost,
  };
}
