import { SingleBar } from 'cli-progress';
import Table from 'cli-table3';
import type { Command } from 'commander';

/** Prints what a command found: as text for people, or with --json everything as JSON. */
export function print<T>(command: Command, found: T, inText: (found: T) => string): void {
  const { json } = command.optsWithGlobals<{ json?: boolean }>();
  console.log(json ? printableJson(found) : inText(found));
}

/** Prints what a command found as a table of these columns; `rowOf` says what a row shows of an item. */
export const show = <T extends object>(
  command: Command,
  found: T | T[],
  columns: string[],
  rowOf: (item: T) => object = (item) => item,
): void =>
  print(command, found, () =>
    rowsOf(
      [found].flat().map((item) => rowOf(item as T)),
      columns,
    ),
  );

/** Starts a progress bar for people at a terminal; with --json there is none. */
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

/** Draws these columns of what the API returns. */
export function rowsOf(items: object[], columns: string[]): string {
  if (items.length === 0) return 'None.';
  const rows = items as { [column: string]: unknown }[]; // the API's objects
  return tableOf(
    rows.map((row) => columns.map((column) => row[column])),
    columns,
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
 * Returns other people's text as one line that is safe to print: characters that would move the cursor, change
 * colours or reorder letters show as escapes such as `\u001b`.
 */
export const printable = (text: string): string =>
  text.replace(invisible, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Returns indented JSON, equally safe to print; the escapes are those of JSON, so programs read the original. */
export const printableJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).split('\n').map(printable).join('\n');
