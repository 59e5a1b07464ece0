import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '#src/cli/project/paths.ts';

/** A new folder, which is deleted when all tests have ended. */
export const temporaryFolder = (): string =>
  mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'fleet-'));

/** A copy of the project, which is deleted then as well. */
export function copyOfProject(): string {
  const copy = temporaryFolder();
  const files = '.gitignore biome.json package.json tsconfig.json wrangler.toml';
  for (const part of `src test migrations dist ${files}`.split(' '))
    cpSync(join(root, part), join(copy, part), { recursive: true });
  // Packages are linked one by one: the compiler's cache in `node_modules` is this copy's own.
  mkdirSync(join(copy, 'node_modules'));
  for (const name of readdirSync(join(root, 'node_modules')).filter((name) => name !== '.cache'))
    symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name));
  return copy;
}

/** The text of a file. */
export const readText = (...path: string[]): string => readFileSync(join(...path), 'utf8');

/** What a file of JSON holds. */
export const readJson = (...path: string[]) => JSON.parse(readText(...path));
