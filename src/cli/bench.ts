import { Argument, Command } from 'commander';
import { deliveries, receivers } from './bench/deliveries.ts';
import { runBenchmarks } from './bench/harness.ts';
import { ingest } from './bench/ingest.ts';
import { neighbours } from './bench/neighbours.ts';
import { requests, router } from './bench/requests.ts';
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

const options = program.opts<{ json: boolean; small: boolean }>();
const [chosen] = program.processedArgs as [Name[]]; // as the argument's choices
await runBenchmarks(Object.fromEntries(chosen.map((name) => [name, benchmarks[name]])), options);
