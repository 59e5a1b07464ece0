import { Argument, Command } from 'commander';
import { deliveries, receivers } from './bench/deliveries.ts';
import { type BenchStack, type Harness, print, startBenchStack } from './bench/harness.ts';
import { neighbours } from './bench/neighbours.ts';
import { ingest, requests, router } from './bench/requests.ts';
import { startup } from './bench/startup.ts';

const benchmarks = { requests, ingest, deliveries, startup, neighbours, receivers, router };
type Name = keyof typeof benchmarks;
const names = Object.keys(benchmarks) as Name[]; // an object's own keys
const usual: Name[] = ['requests', 'ingest', 'deliveries', 'startup'];

const program = new Command('npm run bench --')
  .description('Measures the service on this machine. Figures and bars: src/cli/bench/RESULTS.md')
  .addArgument(
    new Argument('[benchmarks...]', 'what to measure').choices(names).default(usual, usual.join(' ')),
  )
  .option('--json', 'print one line of JSON per table', false)
  .option('--small', 'measure very little, to check that it all works', false)
  .addHelpText(
    'after',
    `\nBenchmarks:\n${names.map((name) => `  ${name.padEnd(12)}${benchmarks[name].about}`).join('\n')}`,
  )
  .parse();

const { json, small } = program.opts<{ json: boolean; small: boolean }>();
const [chosen] = program.processedArgs as [Name[]]; // as the argument's choices
const running = new Map<string, BenchStack>();
const stack: Harness['stack'] = async ({ rateLimits = false, cells = [] } = {}) => {
  const folder = cells.length > 0 ? 'bench-cells' : 'bench';
  const before = running.get(folder);
  if (small && before) return before;
  await before?.stop();
  const started = await startBenchStack(folder, rateLimits, cells);
  running.set(folder, started);
  return started;
};
try {
  for (const name of chosen)
    for (const table of await benchmarks[name].run({ small, stack })) print(name, table, json);
} finally {
  for (const one of running.values()) await one.stop();
}
