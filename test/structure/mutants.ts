import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

/** A rule, broken: `from` becomes `to` in a file of `src`. The tests of `test` must notice. */
export type Mutant = { file: string; from: string; to: string; test: string };

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Rules about credentials, claims, leases, outcomes, cursors, filters and bounds, each with the tests that are about it. */
export const mutants: Mutant[] = readFileSync(`${root}test/structure/mutants.txt`, 'utf8')
  .trim()
  .split('\n\n')
  .flatMap((rules) => {
    const [about = '', ...changes] = rules.split('\n');
    const [file = '', test = ''] = about.split(' by ');
    return changes.map((change) => {
      const [from = '', to = ''] = change.split('→').map((code) => code.trim());
      return { file, from, to, test };
    });
  });

const variable = 'MUTANT';

/** Finds code however its lines are broken. */
const inAnyLayout = (code: string): RegExp => {
  const parts = code.match(/\w+|[^\w\s]/g) ?? [];
  return new RegExp(parts.map((part) => part.replace(/\W/, '\\$&')).join(',?\\s*'), 'g');
};

/** Breaks the rule that the run is told of, if any, in what tests load. The files stay as they are. */
export const mutate = (): Plugin => ({
  name: 'mutate',
  enforce: 'pre',
  transform(code, id) {
    const mutant = mutants[Number(process.env[variable] ?? Number.NaN)];
    return mutant && id.split('?')[0] === root + mutant.file
      ? code.replace(inAnyLayout(mutant.from), () => mutant.to)
      : undefined;
  },
});

/** How often a mutant's text occurs: once, or it breaks nothing. */
export const occurrences = ({ file, from }: Mutant): number =>
  readFileSync(root + file, 'utf8').match(inAnyLayout(from))?.length ?? 0;

const longestMs = 400_000;

/** Runs the tests of a mutant. Returns whether they notice: some fail, and others are still run. */
export function isNoticed(mutant: Mutant): boolean {
  const { stdout } = spawnSync(
    `${root}node_modules/.bin/vitest`,
    // Without the cache, which knows modules by their files.
    [
      ...'run --config test/vitest.config.ts --experimental.fsModuleCache=false'.split(' '),
      mutant.test,
    ],
    {
      cwd: root,
      encoding: 'utf8',
      timeout: longestMs,
      // By hand, so that tests count which are no proofs.
      env: { ...process.env, npm_lifecycle_event: '', [variable]: String(mutants.indexOf(mutant)) },
    },
  );
  const [, failed] = /^\d+ passed, (\d+) failed/m.exec(stdout) ?? [];
  return Number(failed) > 0 && /AssertionError|×/.test(stdout);
}
