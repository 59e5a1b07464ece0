import Table from 'cli-table3';
import type { Command } from 'commander';
import { printable, printableJson } from './printable.ts';

/** Prints what a command found: a table of these columns for people, or with --json everything as JSON. */
export function show(command: Command, found: object | object[], columns: string[]): void {
  if (command.optsWithGlobals<{ json?: boolean }>().json) {
    console.log(printableJson(found));
    return;
  }
  const rows = (Array.isArray(found) ? found : [found]) as { [column: string]: unknown }[]; // the API's objects
  if (rows.length === 0) {
    console.log('None.');
    return;
  }
  const body = rows.map((row) => columns.map((column) => row[column]));
  console.log(tableOf(body, columns));
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
