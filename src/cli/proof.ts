import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { wholeNumber } from './operate/context.ts';
import { root } from './project/paths.ts';

// npm run proof: what a release needs beside `npm test`, which excludes tests with the tag `proof`.
const isProof = /^\/\/ @module-tag proof\n|tags: \['proof'\]/;
const hasSizes = /FULL_PROOF|\bruns\(/;

const maxSeed = 1_000_000_000;

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

/** The files with proofs; at full size, also those with other tests that have sizes. */
const files = (): string[] =>
  globSync('test/**/*.test.ts', { cwd: root }).filter((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    return isProof.test(text) || (full && hasSizes.test(text));
  });

const only = seed !== undefined || steps !== undefined;
const tests = mutants ? ['structure/mutants.proof'] : only ? ['simulation.proof'] : files();
const { status } = spawnSync(
  join(root, 'node_modules/.bin/vitest'),
  [
    ...['run', '--config', 'test/vitest.config.ts', ...tests],
    ...(full ? [] : ['--tags-filter=proof']),
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
