import { once } from 'node:events';
import { Command, InvalidArgumentError } from 'commander';
import { generateFleet } from './synthetic-fleet.ts';

const count = (max: number) => (text: string) => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > max)
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  return value;
};

/** fleet generate */
export function generateCommand(): Command {
  return new Command('generate')
    .description('print made-up but realistic records as NDJSON; equal options give equal records')
    .option('--vehicles <count>', 'number of vehicles', count(100_000), 20)
    .option('--days <count>', 'number of days', count(3650), 7)
    .option('--start <date>', 'first day', '2026-10-01')
    .option('--seed <number>', 'seed; each gives another fleet', count(2 ** 31), 1)
    .action(async (options: { vehicles: number; days: number; start: string; seed: number }) => {
      process.stdout.on('error', () => process.exit()); // the reader has closed the pipe
      for (const record of generateFleet(options))
        if (!process.stdout.write(`${JSON.stringify(record)}\n`)) await once(process.stdout, 'drain');
    });
}
