import { globSync } from 'node:fs';
import { matchesGlob, resolve } from 'node:path';
import { partsOf, proofs } from '#test/parts.ts';

const files = globSync('test/**/*.test.*', { cwd: resolve(import.meta.dirname, '../..') });

/** The projects that run a file when Vitest is started by an npm script. */
const runIn = (script: string, file: string): string[] =>
  Object.entries(partsOf(script)).flatMap(([name, { include, exclude }]) => {
    const isIn = (globs: string[]) => globs.some((glob) => matchesGlob(file, glob));
    return isIn(include) && !isIn(exclude) ? name : [];
  });

it('each test file is run once: by `npm test`, or by `npm run proof`', () => {
  const isProof = (file: string) => matchesGlob(file, proofs);
  const wrong = files.filter(
    (file) =>
      runIn('proof', file).length !== 1 || runIn('test', file).length !== (isProof(file) ? 0 : 1),
  );
  expect(wrong).toEqual([]);
  expect(files.filter(isProof).length).toBeGreaterThan(10);
});
