import { readFileSync, rmSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { type Change, unlimited } from '../local/configurations.ts';
import { startStack } from '../local/stack.ts';
import { inText } from '../operate/print.ts';
import { localDirectory, root } from '../project/paths.ts';
import { startCounter } from './counter.ts';

/** A benchmark yields the rows of its table. */
export type Benchmark = (harness: Harness) => AsyncGenerator<Row>;

export type Harness = {
  /** Whether to measure little, only to show that everything works. */
  small: boolean;
  /** Starts a service without data. Small benchmarks share one. */
  stack: (options?: { rateLimits: boolean }) => Promise<BenchStack>;
};

/** What was measured, beside a reference of the same run. The bar is for the figure, which is mostly their ratio. */
export type Row = { what: string; reference: string; service: string; figure: string; bar: string };

/** Measures a reference and the service alternately, once to warm up and then `rounds` times. The figure is the ratio. */
export async function compare(
  { what, unit, bar, rounds = 0 }: { what: string; unit: string; bar: string; rounds?: number },
  reference: () => Promise<number>,
  service: () => Promise<number>,
): Promise<Row> {
  const rates: [number, number][] = [];
  for (let round = 0; round <= rounds; round++) rates.push([await reference(), await service()]);
  const counted = rates.slice(Math.min(1, rounds));
  const shown = (of: 0 | 1) => `${median(counted.map((one) => one[of])).toPrecision(3)} ${unit}`;
  const figure = median(counted.map(([before, after]) => after / before)).toFixed(2);
  return { what, reference: shown(0), service: shown(1), figure, bar };
}

/** Returns the smallest value that at least `share` (0 to 1) of the values do not exceed. */
export const percentile = (values: number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ??
  Number.NaN;

export const median = (values: number[]): number => percentile(values, 0.5);

export type BenchStack = Awaited<ReturnType<typeof startBenchStack>>;

/** Starts the service inside the benchmarks' Worker. */
export async function startBenchStack({ rateLimits } = { rateLimits: false }) {
  const directory = join(localDirectory, 'bench');
  rmSync(directory, { recursive: true, force: true });
  const change: Change = (toml) => withBenchWorker(rateLimits ? toml : unlimited(toml));
  const stack = await startStack({ directory, port: 0, change });
  const closing: { stop: () => void }[] = [];
  return {
    ...{ ...stack, closing },
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

/** The service's configuration with the benchmarks' Worker, and a queue for the bare consumer. */
const withBenchWorker: Change = ({ queues: { producers, consumers }, ...toml }) => ({
  ...toml,
  main: join(root, 'src/dev/bench/worker.ts'),
  queues: {
    producers: [...producers, { binding: 'BARE', queue: 'bare' }],
    consumers: [
      ...consumers,
      { queue: 'bare', max_batch_size: 5, max_batch_timeout: 0, max_retries: 0 },
    ],
  },
});

/** Prints all rows as one table, or as lines of JSON. */
export function print(rows: Row[], json: boolean): void {
  if (json) for (const row of rows) console.log(JSON.stringify(row));
  else {
    const load = loadavg()[0]?.toFixed(1);
    console.log(`${cpus().length} × ${cpus()[0]?.model}, load ${load}, Node ${process.version}\n`);
    console.log(inText(rows));
  }
}
