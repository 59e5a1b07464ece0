import { cpus } from 'node:os';
import { stripVTControlCharacters } from 'node:util';
import Table from 'cli-table3';

/** Prints a table under its title; with `json`, as one line of JSON. */
export function report(title: string, head: string[], rows: (string | number)[][], json: boolean): void {
  if (json) {
    const named = rows.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i]])));
    console.log(JSON.stringify({ title, rows: named }));
    return;
  }
  const table = new Table({ head, style: { head: [], border: [] } });
  table.push(...rows);
  console.log(`\n${title}\n${stripVTControlCharacters(table.toString())}`);
}

/** The machine's CPU and Node version, for the title of a table. */
export const machine = (): string =>
  `${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}, Node ${process.version}`;

/** Returns the median of some numbers with the lowest and highest. */
export function spread(values: number[]): { median: number; low: number; high: number } {
  const sorted = [...values].sort((a, b) => a - b);
  return {
    median: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN,
    low: sorted[0] ?? Number.NaN,
    high: sorted.at(-1) ?? Number.NaN,
  };
}

/** Returns the smallest value that at least `share` (0 to 1) of the values do not exceed. */
export const percentile = (values: number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN;
