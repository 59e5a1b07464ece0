import { cpus } from 'node:os';
import { stripVTControlCharacters } from 'node:util';
import CliTable from 'cli-table3';

/** What a benchmark has measured. A last column `met` says whether a row is within its bars. */
export type Table = { title: string; head: string[]; rows: (string | number)[][] };

/** Prints a benchmark's table under its title; with `json`, as one line of JSON. */
export function print(benchmark: string, { title, head, rows }: Table, json: boolean): void {
  if (json) {
    const named = rows.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i]])));
    console.log(JSON.stringify({ benchmark, title, rows: named }));
    return;
  }
  const table = new CliTable({ head, style: { head: [], border: [] } });
  table.push(...rows);
  console.log(`\n${title}; ${machine()}\n${stripVTControlCharacters(table.toString())}`);
}

/** Whether every row is within its bars. */
export const allMet = ({ head, rows }: Table): boolean =>
  head.at(-1) !== 'met' || rows.every((row) => row.at(-1) === 'yes');

export const yesOrNo = (met: boolean): string => (met ? 'yes' : 'no');

const machine = (): string =>
  `${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}, Node ${process.version}`;

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
