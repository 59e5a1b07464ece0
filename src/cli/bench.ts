import { Argument, Command } from 'commander';
import { type BenchStack, print, type Row, startBenchStack } from './bench/harness.ts';
import { neighbours } from './bench/neighbours.ts';
import { startup } from './bench/startup.ts';
import { deliveries, firstByte, ingest, lists, receivers } from './bench/throughput.ts';

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

let running: BenchStack | undefined;
const rows: Row[] = [];
try {
  for (const name of chosen)
    for await (const row of benchmarks[name]({
      small,
      stack: async (options) => {
        if (running && small) return running;
        await running?.stop();
        running = await startBenchStack(options);
        return running;
      },
    }))
      rows.push(row);
} finally {
  await running?.stop();
}
print(rows, json);
