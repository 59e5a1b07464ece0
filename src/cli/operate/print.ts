import type { Command } from 'commander';
import { sizeInWords } from '../../platform/text.ts';

/** Prints a result in tables, or as `inText`; with --json everything. */
export const show = <Found>(
  command: Command,
  found: Found,
  inText: (found: Found) => string = tablesOf,
): void => {
  const { json } = command.optsWithGlobals<{ json?: boolean }>();
  console.log(json ? printableJson(found) : inText(safe(found)));
};

/** The same with all text printable. */
const safe = <Found>(found: Found): Found =>
  JSON.parse(JSON.stringify(found), (_, value) => (typeof value === 'string' ? printable(value) : value));

/** A list as a table; a thing as its fields, with a table for each list in it; a value as it is. */
export function tablesOf(found: unknown): string {
  if (Array.isArray(found)) return listOf(found);
  const fields = fieldsOf(Object(found)).filter(([, value]) => value !== null);
  const lists = Object.entries(Object(found)).filter((one): one is [string, object[]] => isList(one[1]));
  if (fields.length === 1 && lists.length === 0) return printable(String(fields[0]?.[1]));
  const names = fields.map(([name]) => inWords(name));
  const width = Math.max(...names.map(widthOf));
  const lines = fields.flatMap(([, value], at) =>
    wrapped(cell(value, 'seconds'), terminalWidth() - width - gap.length).map(
      (line, i) => padded(i === 0 ? (names[at] ?? '') : '', width) + gap + line,
    ),
  );
  return [...lines, ...lists.map(([name, items]) => `\n${inWords(name)}\n${listOf(items)}`)].join('\n');
}

/** A table with a column for each field that an item has. */
export function listOf(items: object[]): string {
  if (items.length === 0) return 'None.';
  const rows = items.map((item) => new Map(fieldsOf(item)));
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  const used = names.filter((name) => rows.some((row) => (row.get(name) ?? null) !== null));
  return tableOf(
    rows.map((row) => used.map((name) => row.get(name))),
    used.map(inWords),
  );
}

/** A field's name for people: `lastSignInAt` is "last sign in at". */
const inWords = (name: string): string =>
  printable(name.replace(/(?<=[a-z])[A-Z](?=[a-z])/g, (letter) => ` ${letter.toLowerCase()}`));

/** The fields of a thing, and of the things in it; null for what is empty. */
function fieldsOf(thing: object, prefix = ''): [name: string, value: unknown][] {
  return Object.entries(thing).flatMap(([name, value]): [string, unknown][] => {
    if (isList(value)) return [];
    const isEmpty = value === undefined || (Array.isArray(value) && value.length === 0);
    if (isEmpty || value === null) return [[`${prefix}${name}`, null]];
    if (typeof value === 'object' && !Array.isArray(value)) return fieldsOf(value, `${prefix}${name} `);
    return [[`${prefix}${name}`, formats[name]?.(value) ?? value]];
  });
}

const isList = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && typeof value[0] === 'object';

const healthInWords = (status: number) => ['healthy', 'warning', 'unavailable', 'degraded'][status - 1];

/** How the values of some fields are shown. */
const formats: { [field: string]: (value: number) => string | undefined } = {
  health: healthInWords,
  healthStatus: healthInWords,
  bytes: sizeInWords,
  share: (value) => `${Math.floor(value * 100)} %`,
};

/** What is not a terminal has this many columns, unless COLUMNS says how many. */
const usualWidth = 80;
const terminalWidth = (): number => process.stdout.columns ?? (Number(process.env.COLUMNS) || usualWidth);
const gap = '  ';
/** A column gets narrower than this only where that is not enough. */
const usualWord = 12;
const narrowest = 7;

/** Draws a table of values that other people may have chosen, such as names, no wider than the terminal. */
export function tableOf(rows: unknown[][], head: string[]): string {
  const texts = [
    head.map((name) => printable(name).toUpperCase()),
    ...rows.map((row) => row.map((one) => cell(one))),
  ];
  const widths = widthsOf(texts);
  return texts
    .flatMap((row) => {
      const cells = row.map((text, at) => wrapped(text, widths[at] ?? 0, true));
      const height = Math.max(...cells.map(({ length }) => length));
      return Array.from({ length: height }, (_, line) =>
        cells
          .map((lines, at) => padded(lines[line] ?? '', widths[at] ?? 0))
          .join(gap)
          .trimEnd(),
      );
    })
    .join('\n');
}

/** How wide columns are: as their widest text; if that is too much, others than ids wrap, if possible between words. */
function widthsOf(rows: string[][]): number[] {
  const columns = (rows[0] ?? []).map((_, at) => rows.map((row) => row[at] ?? ''));
  const widths = columns.map((texts) => Math.max(...texts.map(widthOf)));
  let over = widths.reduce((sum, width) => sum + width + gap.length, -gap.length) - terminalWidth();
  for (const least of [usualWord, narrowest]) {
    const enough = columns.map((texts) => {
      const words = texts.flatMap((text) => text.split(' '));
      return words.some((word) => uuid.test(word))
        ? Number.POSITIVE_INFINITY
        : Math.min(least, Math.max(...words.map(widthOf)));
    });
    for (; over > 0; over--) {
      const room = widths.map((width, at) => (width > (enough[at] ?? 0) ? width : 0));
      const widest = Math.max(...room);
      const at = room.findIndex((width) => (least === usualWord ? width === widest : width > 0));
      if (!room[at]) break;
      widths[at] = room[at] - 1;
    }
  }
  return widths;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The lines of a text that is wrapped between words, and within those that are too long if `breaksWords`. */
function wrapped(text: string, width: number, breaksWords = false): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line === '' || widthOf(line) + 1 + widthOf(word) <= width)
      lines[lines.length - 1] = line ? `${line} ${word}` : word;
    else lines.push(word);
    for (let rest = lines.at(-1) ?? ''; breaksWords && widthOf(rest) > width; rest = lines.at(-1) ?? '') {
      let end = width;
      while (widthOf(rest.slice(0, end)) > width) end--;
      lines.splice(-1, 1, rest.slice(0, end), rest.slice(end));
    }
  }
  return lines;
}

const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));

/** How many columns of a terminal a text takes: East Asian characters and emoji take two. */
const widthOf = (text: string): number => text.length + (text.match(wide)?.length ?? 0);
const wide =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff01-\uff60]/gu;

function cell(value: unknown, precision: 'minutes' | 'seconds' = 'minutes'): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map((one) => cell(one, precision)).join(', ');
  return printable(withShortTimes(String(value), precision));
}

/** A text in which times are `2026-11-20 20:00Z`. */
export const withShortTimes = (text: string, precision: 'minutes' | 'seconds'): string =>
  text.replace(
    /\b(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)\.\d{3}Z/g,
    precision === 'minutes' ? '$1 $2Z' : '$1 $2$3Z',
  );

/** Control characters, those that reorder text from right to left, and line separators. */
const invisible = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu;

/** Other people's text, with `\u001b` and the like for what a terminal would obey. */
export const printable = (text: string): string =>
  text.replace(invisible, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Indented JSON, as safe to print: the escapes are JSON's, so programs read the original. */
export const printableJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).split('\n').map(printable).join('\n');
