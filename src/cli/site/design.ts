import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import subsetFont from 'subset-font';
import { root } from '../project/paths.ts';

/** Basic Latin, Latin-1 and the punctuation of our own texts; names in other letters use the reader's own fonts. */
const latin = `${charactersBetween([0x20, 0x7e], [0xa0, 0xff])}–—‘’“”•…→↑↓−×`;
const ascii = `${charactersBetween([0x20, 0x7e])}…`;

/** Builds the stylesheets, the fonts and the mark of all pages into the folder `directory`. */
export async function buildDesign(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true });
  for (const name of ['design.css', 'docs.css']) stylesheet(name, directory);
  cpSync(join(root, 'src/portal/design/mark.svg'), join(directory, 'mark.svg'));
  await font('geist', latin, { min: 400, max: 700 }, directory);
  await font('geist-mono', ascii, 400, directory);
}

function stylesheet(name: string, directory: string): void {
  const program = join(root, 'node_modules/@tailwindcss/cli/dist/index.mjs');
  const source = join(root, 'src/portal/design', name);
  const args = [program, '--input', source, '--output', join(directory, name), '--minify'];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`Cannot build the stylesheet:\n${stderr}`);
}

/** Writes the characters of `text` in the weights that are used: a fraction of the whole font. */
async function font(
  name: string,
  text: string,
  wght: number | { min: number; max: number },
  directory: string,
): Promise<void> {
  const whole = `node_modules/@fontsource-variable/${name}/files/${name}-latin-wght-normal.woff2`;
  const options = { targetFormat: 'woff2', variationAxes: { wght } } as const;
  const subset = await subsetFont(readFileSync(join(root, whole)), text, options);
  writeFileSync(join(directory, `${name}.woff2`), subset);
}

function charactersBetween(...ranges: [first: number, last: number][]): string {
  const codes = ranges.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, i) => first + i),
  );
  return String.fromCodePoint(...codes);
}
