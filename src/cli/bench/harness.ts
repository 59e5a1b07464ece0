import { readFileSync, rmSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { type Change, unlimited } from '../local/configurations.ts';
import { startStack } from '../local/stack.ts';
import { request } from '../operate/client.ts';
import { tableOf } from '../operate/print.ts';
import { localDirectory, root } from '../project/paths.ts';
import { startCounter } from './counter.ts';

/** A benchmark: a description and its measurement. */
export type Benchmark = { about: string; run: (harness: Harness) => Promise<Table[]> };

export type Harness = {
  /** Whether to measure little, only to show that everything works. */
  small: boolean;
  /** Starts a service without data. A small benchmark reuses one with the same options. */
  stack: (options?: StackOptions) => Promise<BenchStack>;
};

/** Whether there are rate limits; and cells, which run beside the service without any. */
type StackOptions = { rateLimits?: boolean; cells?: string[] };

export type BenchStack = Awaited<ReturnType<typeof startBenchStack>>;

/** Starts the service inside the benchmarks' Worker, with its commands. */
export async function startBenchStack(folder: string, rateLimits: boolean, cells: string[]) {
  const directory = join(localDirectory, folder);
  rmSync(directory, { recursive: true, force: true });
  const change: Change = (toml) => withBenchWorker(rateLimits ? toml : unlimited(toml));
  const stack = await startStack({ directory, port: 0, change, cells });
  const call = (path: string, body: object = {}) =>
    request<object>(stack.baseUrl + path, { method: 'POST', body: JSON.stringify(body) });
  const closing: { stop: () => void }[] = [];
  return {
    ...{ ...stack, call, closing },
    /** Measures without limiter and log, whose local cost says nothing about production. */
    async quietly<T>(measure: () => Promise<T>): Promise<T> {
      await call('/bench/quiet?on');
      const measured = await measure();
      await call('/bench/quiet');
      return measured;
    },
    /** Starts a receiver that responds after `ms`, and stops with the stack, as all `closing`. */
    async receiver(ms = 0) {
      const counter = await startCounter(stack.certificates, ms);
      closing.push(counter);
      return counter;
    },
    async stop() {
      for (const one of closing) one.stop();
      await stack.stop();
      const log = readFileSync(join(directory, 'wrangler.log'), 'utf8');
      const exceeded = /Limit of production exceeded: .*/.exec(log)?.[0];
      if (exceeded) throw new Error(exceeded);
    },
  };
}

const bare = {
  BARE: { queue: 'bare', max_batch_size: 100, max_concurrency: 20, max_retries: 10 },
  BARE_SLOW: { queue: 'bare-slow', max_batch_size: 5, max_retries: 0 },
};

/** The service's configuration with the benchmarks' Worker, and queues for the bare consumers. */
const withBenchWorker: Change = ({ queues: { producers, consumers }, ...toml }) => ({
  ...toml,
  main: join(root, 'src/dev/bench/worker.ts'),
  queues: {
    producers: [...producers, ...Object.entries(bare).map(([binding, { queue }]) => ({ binding, queue }))],
    consumers: [...consumers, ...Object.values(bare).map((one) => ({ ...one, max_batch_timeout: 0 }))],
  },
});

/** A benchmark's results: rows of the same columns. `met` says whether a row is within its bars, if that is decided. */
export type Table = { title: string; rows: TableRow[] };
export type TableRow = { [column: string]: string | number | boolean };

/** What else ran on this machine before: processes that wanted a core, on average over a minute. */
const load = loadavg()[0]?.toFixed(1);

/** Prints a benchmark's table under its title; with `json`, as one line of JSON. */
export function print(benchmark: string, { title, rows }: Table, json: boolean): void {
  if (json) return void console.log(JSON.stringify({ benchmark, title, rows }));
  const head = Object.keys(rows[0] ?? {});
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}, load ${load} before, Node ${process.version}`;
  const cells = rows.map((row) => head.map((column) => row[column]));
  console.log(`\n${title}; ${machine}\n${tableOf(cells, head)}`);
}

/** Returns the smallest value that at least `share` (0 to 1) of the values do not exceed. */
export const percentile = (values: number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN;

export const median = (values: number[]): number => percentile(values, 0.5);

const quartiles = (values: number[]) => [percentile(values, 0.25), percentile(values, 0.75)] as const;

/** The median of some numbers with their quartiles, as text. */
export function spread(values: number[], digits = 0): string {
  const [low, high] = quartiles(values);
  const range = low === high ? '' : ` (${low.toFixed(digits)}–${high.toFixed(digits)})`;
  return median(values).toFixed(digits) + range;
}

export const comparedWithBare = (rows: TableRow[]): Table => ({
  title: 'The service and the least code that could do the same job, alternately; medians (quartiles)',
  rows,
});

/** A comparison: its ratio, service divided by bare, must be at least or at most so much. */
type Measure = { what: string; unit: string; atLeast?: number; atMost?: number };

/**
 * Runs both alternately, once to warm up and then `rounds` times; without rounds, just once. A row whose ratios
 * are farther apart, by their quartiles, than from the bar is not decided.
 */
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
  const ratio = median(ratios);
  const [low, high] = quartiles(ratios);
  const isDecided = high - low <= Math.min(Math.abs(ratio - atLeast), Math.abs(ratio - atMost));
  return {
    '': what,
    bare: `${median(of('bare')).toFixed(digits)} ${unit}`,
    service: `${spread(of('service'), digits)} ${unit}`,
    ratio: spread(ratios, 2),
    bar: atLeast > 0 ? `≥ ${atLeast.toFixed(2)}` : `≤ ${atMost.toFixed(2)}`,
    met: isDecided ? ratio >= atLeast && ratio <= atMost : 'not decided',
  };
}
