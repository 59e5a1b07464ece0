import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** A file of the project, by its path from the root, with those that it imports. */
export type SourceFile = { path: string; text: string; imports: string[] };

/** Every TypeScript file under `src` and `test` of the project at `root`, sorted by path. */
export function sourceFiles(root: string): SourceFile[] {
  return globSync('{src,test}/**/*.{ts,tsx}', { cwd: root })
    .filter((path) => !path.endsWith('.d.ts'))
    .sort()
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return { path, text, imports: importsOf(path, text) };
    });
}

/** All documentation: the front page, and whatever Markdown lies in the source. */
export const markdownFiles = (root: string): { path: string; text: string }[] =>
  globSync(['*.md', 'src/**/*.md'], { cwd: root })
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

/** Imports of the project's own files, those of types included, in the one spelling that the formatter leaves. */
function importsOf(path: string, text: string): string[] {
  const sources = text.matchAll(/(?:^(?:import|export) [^'`;]*|\bimport\()'([.#][^']+\.tsx?)'/gm);
  return [...sources].map(([, source = '']) =>
    source.startsWith('#') ? source.slice(1) : posix.join(posix.dirname(path), source),
  );
}
