import { once } from 'node:events';
import { Command } from 'commander';
import { wholeNumberTo } from './context.ts';
import { generateFleet } from './synthetic-fleet.ts';

/** fleet generate */
export function generateCommand(): Command {
  return new Command('generate')
    .description('print realistic test records as NDJSON; the same options print the same records')
    .option('--vehicles <count>', 'number of vehicles', wholeNumberTo(100_000), 20)
    .option('--days <count>', 'number of days', wholeNumberTo(3650), 7)
    .option('--start <date>', 'first day', '2026-10-01')
    .option('--seed <number>', 'seed; each gives another fleet', wholeNumberTo(2 ** 31), 1)
    .action(async (options: { vehicles: number; days: number; start: string; seed: number }) => {
      process.stdout.on('error', () => process.exit()); // the reader has closed the pipe
      for (const record of generateFleet(options))
        if (!process.stdout.write(`${JSON.stringify(record)}\n`)) await once(process.stdout, 'drain');
    });
}
