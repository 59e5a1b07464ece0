import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Change, unlimited } from '../local/configurations.ts';
import { startStack } from '../local/stack.ts';
import { request } from '../operate/client.ts';
import { localDirectory, root } from '../project/paths.ts';
import { startCounter } from './counter.ts';
import type { Table } from './table.ts';

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
    ...{ ...stack, rateLimits, directory, call, closing },
    /** Measures without the log, whose local cost says nothing about Cloudflare's network. */
    async quietly<T>(measure: () => Promise<T>): Promise<T> {
      await call('/bench/log?off');
      const measured = await measure();
      await call('/bench/log');
      return measured;
    },
    /** Starts a receiver that responds after `ms`, and stops with the stack, as all in `closing`. */
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

/** The service's configuration with the benchmarks' Worker, and queues for the bare consumers. */
const withBenchWorker: Change = ({ queues: { producers, consumers }, ...toml }) => ({
  ...toml,
  main: join(root, 'src/dev/bench/worker.ts'),
  queues: {
    producers: [
      ...producers,
      ...[
        { binding: 'BARE', queue: 'bare' },
        { binding: 'BARE_SLOW', queue: 'bare-slow' },
      ],
    ],
    consumers: [
      ...consumers,
      {
        ...{ queue: 'bare', max_batch_size: 100, max_batch_timeout: 0, max_retries: 10 },
        max_concurrency: 20,
      },
      { queue: 'bare-slow', max_batch_size: 5, max_batch_timeout: 0, max_retries: 0 },
    ],
  },
});
