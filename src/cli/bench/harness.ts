import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startStack } from '../local/stack.ts';
import { request } from '../operate/client.ts';
import { localDirectory } from '../project/paths.ts';
import { startCounter } from './counter.ts';
import { print, type Table } from './table.ts';

/** A benchmark: a description and its measurement. */
export type Benchmark = { about: string; run: (harness: Harness) => Promise<Table[]> };

type Harness = {
  /** Whether to measure little, only to show that everything works. */
  small: boolean;
  /** Starts a service without data. A small benchmark reuses a running one with the same options. */
  stack: (options?: StackOptions) => Promise<BenchStack>;
};

type StackOptions = {
  /** Whether rate limits are those of the service instead of out of reach. */
  rateLimits?: boolean;
  /** Cells behind a router, which run beside the service without one. */
  cells?: string[];
};

export type BenchStack = Awaited<ReturnType<typeof startBenchStack>>;

/** Runs benchmarks one after the other and prints their tables. */
export async function runBenchmarks(
  benchmarks: { [name: string]: Benchmark },
  { json, small }: { json: boolean; small: boolean },
): Promise<void> {
  let running: { rateLimits: boolean; stack: BenchStack } | undefined;
  const routed: BenchStack[] = [];
  const stack: Harness['stack'] = async ({ rateLimits = false, cells = [] } = {}) => {
    if (cells.length > 0) {
      const started = await startBenchStack(rateLimits, cells);
      routed.push(started);
      return started;
    }
    if (small && running?.rateLimits === rateLimits) return running.stack;
    await running?.stack.stop();
    running = { rateLimits, stack: await startBenchStack(rateLimits) };
    return running.stack;
  };
  try {
    for (const [name, { run }] of Object.entries(benchmarks))
      for (const table of await run({ small, stack })) print(name, table, json);
  } finally {
    for (const one of [running?.stack, ...routed]) await one?.stop();
  }
}

/** Starts the service inside the benchmarks' Worker, with its commands. */
async function startBenchStack(rateLimits: boolean, cells: string[] = []) {
  const directory = join(localDirectory, cells.length > 0 ? 'bench-cells' : 'bench');
  rmSync(directory, { recursive: true, force: true });
  const config = (toml: string) => withBenchWorker(rateLimits ? toml : withoutRateLimits(toml));
  const stack = await startStack({ directory, port: 0, config, cells });
  const call = <T>(path: string, body: object = {}) =>
    request<T>(stack.baseUrl + path, { method: 'POST', body: JSON.stringify(body) });
  /** Measures without the log, whose local cost says nothing about Cloudflare's network. */
  const quietly = async <T>(measure: () => Promise<T>) => {
    await call('/bench/log?off');
    const measured = await measure();
    await call('/bench/log');
    return measured;
  };
  const closing: { stop: () => void }[] = [];
  /** Starts a receiver that responds after `ms`. It stops with the stack, as do all in `closing`. */
  const receiver = async (ms = 0) => {
    const counter = await startCounter(stack.certificates, ms);
    closing.push(counter);
    return counter;
  };
  const stop = async () => {
    for (const one of closing) one.stop();
    await stack.stop();
    const exceeded = /Limit of production exceeded: .*/.exec(
      readFileSync(join(directory, 'wrangler.log'), 'utf8'),
    );
    if (exceeded) throw new Error(exceeded[0]);
  };
  return { ...stack, stop, directory, call, receiver, closing, quietly };
}

const withoutRateLimits = (toml: string) => toml.replaceAll(/limit = \d+/g, 'limit = 1000000000');

/** The service's configuration with the benchmarks' Worker, and queues for the bare consumers. */
const withBenchWorker = (toml: string) =>
  `${toml.replace(/^main = .*$/m, 'main = "src/dev/bench/worker.ts"')}
[[queues.producers]]
binding = "BARE"
queue = "bare"

[[queues.consumers]]
queue = "bare"
max_batch_size = 100
max_batch_timeout = 0
max_retries = 10
max_concurrency = 20

[[queues.producers]]
binding = "BARE_SLOW"
queue = "bare-slow"

[[queues.consumers]]
queue = "bare-slow"
max_batch_size = 5
max_batch_timeout = 0
max_retries = 0
`;
