import { spawnSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { temporaryFolder } from '../support/node/folder.ts';

const root = resolve(import.meta.dirname, '../..');

/** Extras that nothing else of the Worker imports. */
const out = ['connector-problems', 'exports', 'external-ids', 'replicas', 'why'];

const mostLines = 10;

it('an extra is taken out by deleting its folder, and at most ten lines elsewhere', () => {
  const copy = temporaryFolder();
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  for (const part of ['src', 'package.json', 'tsconfig.json'])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  for (const name of out) expect(takeOut(copy, name)).toBeLessThanOrEqual(mostLines);
  const { stdout } = spawnSync('node_modules/.bin/tsc', ['-p', 'src', '--incremental', 'false'], {
    cwd: copy,
    encoding: 'utf8',
  });
  expect(stdout).toBe('');
});

/** Deletes an extra, and the lines of the Worker that name it as a module or an entry. Returns how many those are. */
function takeOut(copy: string, name: string): number {
  rmSync(join(copy, 'src/extras', name), { recursive: true });
  const key = name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const names = new RegExp(`extras/${name}/|^  ${key},$|\\bextras\\.${key}\\.`);
  const files = globSync('src/**/*.{ts,tsx}', { cwd: copy, exclude: ['src/cli/**'] });
  return files.reduce((count, file) => {
    const path = join(copy, file);
    const lines = readFileSync(path, 'utf8').split('\n');
    const left = lines.filter((line) => !names.test(line));
    if (left.length < lines.length) writeFileSync(path, left.join('\n'));
    return count + lines.length - left.length;
  }, 0);
}
