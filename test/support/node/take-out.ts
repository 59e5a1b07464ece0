import { globSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from '#src/cli/project/paths.ts';
import { copyOfProject, readText } from './folder.ts';

/** The names of all extras, which are those of their folders. */
export const extraNames = (): string[] =>
  globSync('*/', { cwd: join(root, 'src/extras') }).map((path) => basename(path));

/** A copy without any extra. */
export function coreAlone(): string {
  const copy = copyOfProject();
  for (const name of extraNames()) takeOut(copy, name);
  rmSync(join(copy, 'test/extras'), { recursive: true });
  return copy;
}

const vitest = 'vitest run --config test/vitest.config.ts';

/** Runs the main job of a copy over HTTPS. */
export const mainJob = `${vitest} test/journey/main-job -t 'an event and an accident reach'`;

/** Runs all tests of the core of a copy. */
export const coreTests = `${vitest} test/core`;

/** Deletes an extra, and the lines elsewhere that import from it or list what they import. Returns how many those are. */
export function takeOut(copy: string, name: string): number {
  rmSync(join(copy, 'src/extras', name), { recursive: true });
  rmSync(join(copy, 'test/extras', name), { recursive: true, force: true });
  for (const path of globSync(`migrations/*_${name.replaceAll('-', '_')}.sql`, { cwd: copy }))
    rmSync(join(copy, path));
  const guides = globSync(`src/docs/guides/**/${name}.md`, { cwd: copy });
  for (const path of guides) rmSync(join(copy, path));
  const names = new RegExp(`(?:extras|'\\.)/${name}/`);
  return globSync('src/**/*.{ts,tsx}', { cwd: copy }).reduce((count, file) => {
    const path = join(copy, file);
    const lines = readText(path).split('\n');
    const imported = lines.filter((line) => names.test(line)).flatMap(namesIn);
    const listed = [...imported, `extras.${camelCase(name)}.operations`];
    const isGone = (line: string) =>
      names.test(line) || listed.some((one) => [`${one},`, `...${one},`].includes(line.trim()));
    const left = lines
      .filter((line) => !isGone(line))
      .map((line) => (/guides\.ts$/.test(file) ? withoutGuides(line, guides) : line));
    const changed = lines.length - left.filter((line) => lines.includes(line)).length;
    if (changed > 0) writeFileSync(path, left.join('\n'));
    return count + changed;
  }, 0);
}

/** What a line imports, by the names that it has there. */
const namesIn = (line: string): string[] =>
  (/^import (?:type )?\{ (.*) \} from/.exec(line)?.[1] ?? '')
    .split(', ')
    .map((one) => one.replace(/^(?:type )?(?:\w+ as )?/, ''))
    .filter(Boolean);

const camelCase = (name: string): string =>
  name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

const withoutGuides = (line: string, guides: string[]): string =>
  guides.reduce((text, path) => text.replace(`'${basename(path, '.md')}', `, ''), line);
