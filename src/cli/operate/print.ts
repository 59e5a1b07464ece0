import { SingleBar } from 'cli-progress';
import Table from 'cli-table3';
import type { Command } from 'commander';

/** A column of a table: a field, or a heading with a field or a value computed from an item. */
export type Column<T> = Field<T> | [heading: string, value: Field<T> | ((item: T) => unknown)];
type Field<T> = keyof T & string;

/** How results are shown: as a table with these columns, or as this text. */
export type Shown<Found, T> = Column<T>[] | ((found: Found) => string);

/** Prints one or several results as `shown`; with --json everything. */
export const show = <Found, T = Found extends (infer I)[] ? I : Found>(
  command: Command,
  found: Found,
  shown: Shown<Found, T>,
): void => {
  const { json } = command.optsWithGlobals<{ json?: boolean }>();
  const inText = typeof shown === 'function' ? shown : () => rowsOf([found].flat() as T[], shown);
  console.log(json ? printableJson(found) : inText(safe(found)));
};

/** The same with all text printable. */
const safe = <Found>(found: Found): Found =>
  JSON.parse(JSON.stringify(found), (_, value) => (typeof value === 'string' ? printable(value) : value));

/** Starts a progress bar for people at a terminal; none with --json. */
export function startBar(
  command: Command,
  format: string,
  total: number,
  shown: object,
): SingleBar | undefined {
  const { json } = command.optsWithGlobals<{ json?: boolean }>();
  if (json || !process.stderr.isTTY) return undefined;
  const bar = new SingleBar({ format, barsize: 30, hideCursor: true, stream: process.stderr });
  bar.start(total, 0, shown);
  return bar;
}

export function rowsOf<T>(items: T[], columns: Column<T>[]): string {
  if (items.length === 0) return 'None.';
  const pairs = columns.map((column) => (typeof column === 'string' ? ([column, column] as const) : column));
  const cells = (item: T) =>
    pairs.map(([, value]) => (typeof value === 'string' ? item[value] : value(item)));
  return tableOf(
    items.map(cells),
    pairs.map(([heading]) => heading),
  );
}

/** Draws a table of values that other people may have chosen, such as names. */
export function tableOf(rows: unknown[][], head?: string[]): string {
  const table = new Table({ ...(head && { head }), style: { head: [], border: [] } });
  for (const row of rows) table.push(row.map(cell));
  return table.toString();
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '–';
  return printable(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

/** Control characters, those that reorder text from right to left, and line separators. */
const invisible = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu;

/**
 * Other people's text as one line that is safe to print: characters that would move the cursor, change colours or
 * reorder letters show as escapes such as `\u001b`.
 */
export const printable = (text: string): string =>
  text.replace(invisible, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Indented JSON, equally safe to print; the escapes are those of JSON, so programs read the original. */
export const printableJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).split('\n').map(printable).join('\n');
