import { rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import Table from 'cli-table3';
import { localDirectory } from '../local/directory.ts';
import { type Stack, startStack } from '../local/stack.ts';

/** A service for measuring: fresh data, no rate limit, and the bare Worker beside it. */
export async function benchStack(name: string): Promise<{ stack: Stack; directory: string }> {
  const directory = join(localDirectory, `bench-${name}`);
  rmSync(directory, { recursive: true, force: true });
  const stack = await startStack({ directory, port: 0, config: benchConfig });
  return { stack, directory };
}

/** The service's own configuration with another entry, a queue for the bare consumer, and limits never met. */
const benchConfig = (toml: string): string =>
  `${toml
    .replace('main = "src/index.ts"', 'main = "src/bench/worker.ts"')
    .replaceAll(/limit = \d+/g, 'limit = 1000000000')}
[[queues.producers]]
binding = "BARE"
queue = "bare"

[[queues.consumers]]
queue = "bare"
max_batch_size = 100
max_batch_timeout = 0
max_retries = 10
max_concurrency = 20
`;

/** Prints a table, with the machine it was measured on. */
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

/** The machine, in a few words. */
export const machine = (): string =>
  `${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}, Node ${process.version}`;

/** The middle of some numbers, and the lowest and highest. */
export function spread(values: number[]): { median: number; low: number; high: number } {
  const sorted = [...values].sort((a, b) => a - b);
  return {
    median: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN,
    low: sorted[0] ?? Number.NaN,
    high: sorted.at(-1) ?? Number.NaN,
  };
}

/** The smallest number below which such a share of them lies. */
export const percentile = (values: number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN;
