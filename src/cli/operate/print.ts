import Table from 'cli-table3';
import type { Command } from 'commander';
import { sizeInWords } from '../../texts/words.ts';

/** Prints a result for people, or what `shape` makes of it for them; with --json everything. */
export function show<Found>(
  command: Command,
  found: Found,
  shape: (found: Found) => unknown = (same) => same,
): void {
  const { json } = command.optsWithGlobals<{ json?: boolean }>();
  console.log(json ? printableJson(found) : inText(shape(found)));
}

/** What people see of a list's items, with their cells, if there are several. */
export const eachAs =
  <Item extends object>(shape: (item: Item) => object) =>
  (items: (Item & { cell?: string })[]): object[] =>
    items.map((item) => ({ ...(item.cell && { cell: item.cell }), ...shape(item) }));

/** A list as a table; a thing as its fields, with a table for each list in it; a value as it is. */
export function inText(found: unknown): string {
  if (Array.isArray(found) && !found.some(hasLists)) return listInText(found);
  if (Array.isArray(found)) return found.map(inText).join('\n\n');
  if (Object(found) !== found) return textOf(found);
  const fields = fieldsOf(Object(found)).filter(([, value]) => value !== null);
  const lists = Object.entries(Object(found)).filter(([, value]) => isList(value));
  if (fields.length === 1 && lists.length === 0) return textOf(fields[0]?.[1]);
  const rows = fields.map(([name, value]) => [inWords(name), textOf(value)]);
  const tables = lists.map(
    ([name, items]) => `\n${inWords(name)}\n${listInText(items as object[])}`,
  );
  return [drawn(rows), ...tables].join('\n');
}

/** A table with a column for each field that an item has. It fits a terminal where words allow it. */
function listInText(items: object[]): string {
  if (items.length === 0) return 'None.';
  const things = items.map((item) => new Map(fieldsOf(item)));
  const names = [...new Set(things.flatMap((thing) => [...thing.keys()]))];
  const used = names.filter((name) => things.some((thing) => (thing.get(name) ?? null) !== null));
  const head = used.map((name) => inWords(name).toUpperCase());
  const rows = [head, ...things.map((thing) => used.map((name) => textOf(thing.get(name))))];
  return drawn(rows, process.stdout.columns); // which only a terminal has
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
    if (typeof value === 'object' && !Array.isArray(value))
      return fieldsOf(value, `${prefix}${name} `);
    return [[`${prefix}${name}`, formats.get(name)?.(value) ?? value]];
  });
}

const isList = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && typeof value[0] === 'object';

const hasLists = (thing: object): boolean => Object.values(thing).some(isList);

const healthInWords = (status: number) =>
  ['healthy', 'warning', 'unavailable', 'degraded'][status - 1];

/** How the values of some fields are shown. */
const formats = new Map<string, (value: number) => string | undefined>([
  ['health', healthInWords],
  ['healthStatus', healthInWords],
  ['bytes', sizeInWords],
  ['share', (value) => `${Math.floor(value * 100)} %`],
]);

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return printable(
    String(value).replace(/\b(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{3}Z/g, '$1 $2Z'),
  );
}

const gap = '  ';
const lines = ['top', 'bottom', 'mid', 'left', 'right'].flatMap((line) =>
  ['', '-mid', '-left', '-right'].map((part) => [`${line}${part}`, '']),
);
const style = { 'padding-left': 0, 'padding-right': 0, head: [], border: [] };

function draw(rows: string[][], colWidths: number[] = []) {
  const chars = { ...Object.fromEntries(lines), middle: gap };
  const table = new Table({ chars, style, colWidths, wordWrap: true });
  for (const row of rows) table.push(row);
  const text = table.toString().replace(/ +$/gm, '');
  return { text, widths: table.options.colWidths as number[] }; // the text's
}

/** Draws rows, each on one line. Only where they have more columns of characters, words wrap. */
function drawn(rows: string[][], columns = Number.POSITIVE_INFINITY): string {
  const total = (widths: number[]) =>
    widths.reduce((sum, width) => sum + gap.length + width, -gap.length);
  const whole = draw(rows);
  if (total(whole.widths) <= columns) return whole.text;
  const words = draw(rows.map((row) => row.map((text) => text.replaceAll(' ', '\n')))).widths;
  let { widths } = whole;
  for (let most = Math.max(...widths); most > 0 && total(widths) > columns; most--)
    widths = whole.widths.map((width, at) => Math.max(words[at] ?? 0, Math.min(width, most)));
  return draw(rows, widths).text;
}

/** Control characters, those that reorder text from right to left, and line separators. */
const invisible = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu;

/** Other people's text, with `\u001b` and the like for what a terminal would obey. */
export const printable = (text: string): string =>
  text.replace(
    invisible,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Indented JSON, as safe to print: the escapes are JSON's, so programs read the original. */
const printableJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).split('\n').map(printable).join('\n');
