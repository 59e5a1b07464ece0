import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { wholeNumber } from './operate/context.ts';
import { root } from './project/paths.ts';

// npm run proof: what a release needs beside `npm test`, which excludes these files.
const proofs = '.proof.test.';

/** Each seed's simulation has 1,000 days of its own, until the year 7500. */
const maxSeed = 2000;

const { seed, steps, mutants, full } = new Command('npm run proof --')
  .description(
    'Runs the tests that a release needs beside npm test: they try what is random, kill the service, have its stores ' +
      'hang, or break its rules. With a seed or a number of steps it only simulates the service.',
  )
  .option('--full', 'at full size: hours')
  .option(
    '--seed <number>',
    'what to simulate first; the same again is the same',
    wholeNumber(1, maxSeed),
  )
  .option(
    '--steps <number>',
    'for how many steps, from seed to seed; one seed has some 2,000',
    wholeNumber(1, 4_000_000),
  )
  .option(
    '--mutants',
    'breaks some hundred rules one by one instead, and names those whose tests do not notice',
  )
  .parse()
  .opts<{ seed?: number; steps?: number; mutants?: true; full?: true }>();

/** The files that `npm test` runs as well, with less. */
const withSizes = (): string[] =>
  globSync('test/**/*.test.ts', { cwd: root }).filter((path) =>
    /FULL_PROOF|\bruns\(/.test(readFileSync(join(root, path), 'utf8')),
  );

const only = seed !== undefined || steps !== undefined;
const tests = mutants
  ? ['structure/mutants.proof']
  : only
    ? ['simulation.proof']
    : [proofs, ...(full ? withSizes() : [])];
const { status } = spawnSync(
  join(root, 'node_modules/.bin/vitest'),
  [
    ...['run', '--config', 'test/vitest.config.ts', ...tests],
    ...['--reporter=default', '--reporter=./test/support/runtime/tally.ts'],
  ],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      ...((full || mutants) && { FULL_PROOF: '1' }),
      ...(only && { SEED: `${seed ?? 1}`, STEPS: `${steps ?? 1}` }),
    },
  },
);
process.exitCode = status ?? 1;
