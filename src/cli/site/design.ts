import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import subsetFont from 'subset-font';
import { iconNames } from '../../ui/icon-names.ts';
import { root } from '../project/paths.ts';
import { runProgram } from '../project/programs.ts';

/** Latin letters and our own punctuation; names in other letters use the reader's fonts. */
const latin1 = String.fromCharCode(...Array(256).keys()).replace(/\p{Cc}/gu, '');
const latin = `${latin1}–—‘’“”•…→↑↓−×`;
const ascii = `${latin1.slice(0, 95)}…`;

/** Builds the stylesheets, fonts, icons and the mark of all pages into `directory`. */
export async function buildDesign(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true });
  for (const name of ['design.css', 'docs.css']) stylesheet(name, directory);
  cpSync(join(root, 'src/portal/design/mark.svg'), join(directory, 'mark.svg'));
  writeFileSync(join(directory, 'icons.svg'), icons());
  await font('geist', latin, { min: 400, max: 700 }, directory);
  await font('geist-mono', ascii, 400, directory);
}

function stylesheet(name: string, directory: string): void {
  const source = join(root, 'src/portal/design', name);
  const args = ['--input', source, '--output', join(directory, name), '--minify'];
  runProgram('Building the stylesheet', 'node_modules/@tailwindcss/cli/dist/index.mjs', ...args);
}

/** The icons of Lucide that pages use, risks as rising bars, and accidents' levels as segments. */
function icons(): string {
  const symbol = (id: string, viewBox: string, content: string) =>
    `<symbol id="${id}" viewBox="${viewBox}">${content}</symbol>`;
  const lucide = (name: string) => {
    const svg = readFileSync(join(root, 'node_modules/lucide-static/icons', `${name}.svg`), 'utf8');
    return symbol(
      name,
      '0 0 24 24',
      svg.replace(/^[\s\S]*?<svg[^>]*>|<\/svg>\s*$/g, '').replaceAll(/\s*\n\s*/g, ''),
    );
  };
  const bars = (count: number, full: number, place: (i: number) => string) =>
    Array.from(
      { length: count },
      (_, i) => `<rect ${place(i)}${i < full ? '' : ' opacity="0.22"'}/>`,
    ).join('');
  const risk = (i: number) =>
    `x="${4 * i}" y="${9 - 2 * i}" width="3" height="${5 + 2 * i}" rx="0.75"`;
  const level = (i: number) => `x="${11 * i}" y="5" width="10" height="4" rx="2"`;
  const shapes = [
    ...iconNames.map(lucide),
    ...[1, 2, 3, 4, 5].map((full) => symbol(`risk-${full}`, '0 0 20 14', bars(5, full, risk))),
    ...[1, 2, 3].map((full) => symbol(`level-${full}`, '0 0 32 14', bars(3, full, level))),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg">${shapes.join('')}</svg>`;
}

/** Writes the characters of `text` in the weights in use: a fraction of the whole font. */
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
