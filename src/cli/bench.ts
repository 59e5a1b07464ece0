import { cpus, loadavg } from 'node:os';
import { Argument, Command } from 'commander';
import { type Row, type Stack, startBenchStack } from './bench/harness.ts';
import { neighbours } from './bench/neighbours.ts';
import { startup } from './bench/startup.ts';
import { deliveries, firstByte, ingest, lists, receivers } from './bench/throughput.ts';
import { inText } from './operate/print.ts';

const benchmarks = {
  lists,
  ingest,
  deliveries,
  receivers,
  'first-byte': firstByte,
  neighbours,
  startup,
};
type Name = keyof typeof benchmarks;
const names = Object.keys(benchmarks) as Name[]; // an object's own keys

const program = new Command('npm run bench --')
  .description('Measures the service on this machine. Figures and bars: src/cli/bench/RESULTS.md')
  .addArgument(
    new Argument('[benchmarks...]', 'what to measure').choices(names).default(names, 'all'),
  )
  .option('--json', 'print a line of JSON for each row', false)
  .option('--small', 'measure very little, to check that it all works', false)
  .parse();
const { json, small } = program.opts<{ json: boolean; small: boolean }>();
const [chosen] = program.processedArgs as [Name[]]; // as the argument's choices

let running: Stack | undefined;
/** Starts a service without data. Small benchmarks share one. */
async function stack(options?: { rateLimits: boolean }): Promise<Stack> {
  if (running && small) return running;
  await running?.stop();
  running = await startBenchStack(options);
  return running;
}

const rows: Row[] = [];
try {
  for (const name of chosen)
    for await (const row of benchmarks[name]({ small, stack })) rows.push(row);
} finally {
  await running?.stop();
}
if (json) for (const row of rows) console.log(JSON.stringify(row));
else {
  const load = loadavg()[0]?.toFixed(1);
  console.log(`${cpus().length} × ${cpus()[0]?.model}, load ${load}, Node ${process.version}\n`);
  console.log(inText(rows));
}
