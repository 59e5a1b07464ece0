import { SingleBar } from 'cli-progress';
import Table from 'cli-table3';
import type { Command } from 'commander';

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

/** A list as a table; a thing as its fields, with a table for each list in it; a value as it is. */
export function tablesOf(found: unknown): string {
  if (Array.isArray(found)) return listOf(found);
  const fields = fieldsOf(Object(found));
  const lists = Object.entries(Object(found)).filter((one): one is [string, object[]] => isList(one[1]));
  if (fields.length === 1 && lists.length === 0) return printable(String(fields[0]?.[1]));
  return [
    tableOf(fields.map(([name, value]) => [inWords(name), value])),
    ...lists.map(([name, items]) => `${inWords(name)}\n${listOf(items)}`),
  ].join('\n');
}

/** A table with a column for each field that an item has. */
export function listOf(items: object[]): string {
  if (items.length === 0) return 'None.';
  const rows = items.map((item) => new Map(fieldsOf(item)));
  const names = new Set(rows.flatMap((row) => [...row.keys()]));
  if (names.has('id') || names.has('account')) names.delete('accountId');
  for (const name of names) if (/^(updatedAt|actorId|incidentTypeMap.*)$/.test(name)) names.delete(name);
  return tableOf(
    rows.map((row) => [...names].map((name) => row.get(name))),
    [...names].map(inWords),
  );
}

/** A field's name for people: `lastSignInAt` is "last sign in at". */
const inWords = (name: string): string =>
  printable(name.replace(/(?<=[a-z])[A-Z](?=[a-z])/g, (letter) => ` ${letter.toLowerCase()}`));

/** The fields of a thing, and of the things in it, that are not empty. */
function fieldsOf(thing: object, prefix = ''): [name: string, value: unknown][] {
  return Object.entries(thing).flatMap(([name, value]): [string, unknown][] => {
    if (value === null || (Array.isArray(value) && (value.length === 0 || isList(value)))) return [];
    if (typeof value === 'object' && !Array.isArray(value)) return fieldsOf(value, `${prefix}${name} `);
    return [[`${prefix}${name}`, formats[name]?.(value) ?? value]];
  });
}

const isList = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && typeof value[0] === 'object';

/** How the values of some fields are shown. */
const formats: { [field: string]: (value: number) => string } = {
  bytes: (value) =>
    value < 1e6
      ? `${Math.ceil(value / 1e3)} KB`
      : value < 1e9
        ? `${(value / 1e6).toFixed(1)} MB`
        : `${(value / 1e9).toFixed(2)} GB`,
  share: (value) => `${Math.floor(value * 100)} %`,
};

/** Draws a table of values that other people may have chosen, such as names. */
export function tableOf(rows: unknown[][], head: string[] = []): string {
  const table = new Table({ head: head.map(printable), style: { head: [], border: [] } });
  for (const row of rows) table.push(row.map(cell));
  return table.toString();
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '–';
  return printable(Array.isArray(value) ? value.join(', ') : String(value));
}

/** Control characters, those that reorder text from right to left, and line separators. */
const invisible = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu;

/** Other people's text, with `\u001b` and the like for what a terminal would obey. */
export const printable = (text: string): string =>
  text.replace(invisible, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Indented JSON, as safe to print: the escapes are JSON's, so programs read the original. */
export const printableJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).split('\n').map(printable).join('\n');
