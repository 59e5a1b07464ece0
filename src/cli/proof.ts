import { spawnSync } from 'node:child_process';
import { Command } from 'commander';
import { wholeNumber } from './operate/context.ts';
import { root } from './project/paths.ts';

// npm run proof: tests at full size.

/** Each seed's simulation has 1,000 days of its own, until the year 7500. */
const maxSeed = 2000;

/** The tests that are random, kill the service, or hang its stores. */
const all = [
  'journey/kill',
  'journey/move',
  'journey/cell-down',
  'journey/hang',
  'operator/moves',
  'simulation',
  'counts',
  'pages',
  'across',
  'generated',
  'structure/dependencies',
];

const { seed, steps, mutants } = new Command('npm run proof --')
  .description(
    'Runs at full size the tests that try what is random, kill the service, or have its stores hang: an ' +
      'hour. With a seed or a number of steps it only simulates the service.',
  )
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
  .opts<{ seed?: number; steps?: number; mutants?: true }>();

const only = seed !== undefined || steps !== undefined;
const tests = mutants ? ['structure/mutants'] : only ? ['test/simulation'] : all;
const { status } = spawnSync(
  'vitest',
  ['run', '--config', 'test/vitest.config.ts', '--reporter=default', ...tests],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      FULL_PROOF: '1',
      ...(only && { SEED: `${seed ?? 1}`, STEPS: `${steps ?? 1}` }),
    },
  },
);
process.exitCode = status ?? 1;
