import { once } from 'node:events';
import { Command, InvalidArgumentError } from 'commander';
import { generateFleet } from './synthetic-fleet.ts';

const count = (most: number) => (text: string) => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > most)
    throw new InvalidArgumentError(`a whole number from 1 to ${most}`);
  return value;
};

/** fleet generate */
export function generateCommand(): Command {
  return new Command('generate')
    .description('write made-up but believable records as NDJSON, the same for the same options')
    .option('--vehicles <count>', 'how many', count(100_000), 20)
    .option('--days <count>', 'how many', count(3650), 7)
    .option('--start <date>', 'the first day', '2026-10-01')
    .option('--seed <number>', 'another seed makes another fleet', count(2 ** 31), 1)
    .action(async (options: { vehicles: number; days: number; start: string; seed: number }) => {
      process.stdout.on('error', () => process.exit()); // whoever read it has seen enough
      for (const record of generateFleet(options))
        if (!process.stdout.write(`${JSON.stringify(record)}\n`)) await once(process.stdout, 'drain');
    });
}
