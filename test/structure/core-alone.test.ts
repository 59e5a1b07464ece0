// A copy of the service is compiled, started and called.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, runIn } from '#test/support/node/index.ts';
import { coreAlone, coreTests, mainJob } from '#test/support/node/take-out.ts';
import { sourceFiles } from './source.ts';
import { structureProblems } from './structure.ts';

let copy: string;
beforeAll(() => {
  copy = coreAlone();
});

it('without any extra, the tests of the core and what they need have right types, and imports keep the rules', async () => {
  const project = readJson(copy, 'test/tsconfig.json');
  const include = ['core', 'support', '../src/core/platform/env.d.ts'];
  writeFileSync(join(copy, 'test/core.json'), JSON.stringify({ ...project, include }));
  const compiler = 'tsc -p test/core.json --incremental false';
  expect((await runIn(copy, compiler)).printed).toBe('');
  expect(structureProblems(sourceFiles(copy))).toEqual([]);
});

it('without any extra, an event and an accident reach a receiver over HTTPS', async () => {
  const { printed } = await runIn(copy, mainJob);
  expect(printed).toContain('1 passed, 0 failed');
});

it('without any extra, all tests of the core pass', {
  tags: ['proof'],
  timeout: 1_800_000,
}, async () => {
  const { code, printed } = await runIn(copy, coreTests);
  expect(code, printed).toBe(0);
});
