import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Change, unlimited } from '../local/configurations.ts';
import { listen } from '../local/receiver.ts';
import { startStack } from '../local/stack.ts';
import { localDirectory, root } from '../project/paths.ts';

/** A benchmark yields the rows of its table. If `small`, it only shows that everything works. */
export type Benchmark = (harness: {
  small: boolean;
  stack: (options?: { rateLimits: boolean }) => Promise<Stack>;
}) => AsyncGenerator<Row>;

/** What was measured, beside a reference of the same run. The bar is for the figure, mostly their ratio. */
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

/** A file that the runtime serves without the Worker. */
export const file = '/portal/portal.js';

/** Requests a second of an address, 16 at a time. */
export async function requestsPerSecond(
  url: string,
  headers: Record<string, string>,
  count: number,
): Promise<number> {
  const began = performance.now();
  let remaining = count;
  const client = async () => {
    while (remaining-- > 0) await get(url, headers, 200);
  };
  await Promise.all(Array.from({ length: 16 }, client));
  return count / ((performance.now() - began) / 1000);
}

/** Calls an address; without a `status`, whatever it returns. */
export async function get(
  url: string,
  headers: Record<string, string>,
  status?: number,
): Promise<void> {
  const reply = await fetch(url, { headers, redirect: 'manual' });
  await reply.arrayBuffer();
  if (status && reply.status !== status) throw new Error(`${url} returned ${reply.status}`);
}

export type Stack = Awaited<ReturnType<typeof startBenchStack>>;

/** Starts the service inside the benchmarks' Worker. */
export async function startBenchStack({ rateLimits } = { rateLimits: false }) {
  const directory = join(localDirectory, 'bench');
  rmSync(directory, { recursive: true, force: true });
  const change: Change = (toml) => withBenchWorker(rateLimits ? toml : unlimited(toml));
  const stack = await startStack({ directory, port: 0, change });
  const closing: { stop: () => void }[] = [];
  return {
    ...{ ...stack, closing },
    /** Starts a receiver that responds after `ms`. It stops with the stack, as all `closing`. */
    async receiver(ms = 0) {
      const counter = await startCounter(stack, ms);
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

type Counter = Awaited<ReturnType<typeof startCounter>>;

/** A receiver that responds after `ms`, and counts its calls and different deliveries. */
async function startCounter(
  { certificates }: Pick<Awaited<ReturnType<typeof startStack>>, 'certificates'>,
  ms: number,
) {
  const nothing = { got: 0, firstAt: 0, lastAt: 0 };
  const seen = new Set<string>();
  const listening = await listen(certificates, 0, (request, response) => {
    counter.firstAt ||= performance.now();
    request.resume().on('end', async () => {
      if (ms > 0) await wait(ms);
      response.writeHead(204).end();
      counter.got++;
      counter.lastAt = performance.now();
      seen.add(String(request.headers['delivery-id']));
    });
  });
  const reset = () => {
    seen.clear();
    Object.assign(counter, nothing);
  };
  const counter = { ...listening, ...nothing, reset, seen };
  return counter;
}

/** Calls a second from `start` to the `count`th response. */
export async function arrivalsPerSecond(
  counter: Counter,
  count: number,
  start: () => Promise<unknown>,
): Promise<number> {
  counter.reset();
  const began = performance.now();
  await start();
  for (const end = Date.now() + 300_000; counter.seen.size < count; await wait(5))
    if (Date.now() > end) throw new Error(`${counter.got} of ${count} deliveries arrived`);
  return count / ((counter.lastAt - began) / 1000);
}
