import Table from 'cli-table3';
import type { Command } from 'commander';
import { readDemo } from '../local/directory.ts';
import { ApiError, type Operator, operatorOf } from './client.ts';

/** Speaks to the service that this call is about, as its operators. */
export function operatorFor(command: Command): Operator {
  const { baseUrl, operatorKey } = serviceOf(command);
  return operatorOf(baseUrl, operatorKey);
}

/** The service that this call is about: the one named by --url or FLEET_URL, else the local one. */
export function serviceOf(command: Command): { baseUrl: string; operatorKey: string } {
  const { url = process.env.FLEET_URL || undefined } = command.optsWithGlobals<{ url?: string }>();
  const local = readDemo();
  if (url && !URL.canParse(url))
    throw new ApiError('--url (or FLEET_URL) must be an address, such as https://api.example.com');
  if (!url && !local) throw new ApiError('No local service is set up. Run npm start, or name one with --url');
  const key =
    process.env.FLEET_OPERATOR_KEY ?? (url && url !== local?.baseUrl ? undefined : local?.operatorKey);
  if (!key) throw new ApiError('Set FLEET_OPERATOR_KEY to the OPERATOR_KEY of the service');
  return { baseUrl: (url ?? local?.baseUrl ?? '').replace(/\/$/, ''), operatorKey: key };
}

/** One line of a table, by the names of its columns. */
type Row = { [column: string]: unknown };

/** Prints what a command found: a table of these columns for people, or everything as JSON. */
export function show(command: Command, found: object | object[], columns: string[]): void {
  if (command.optsWithGlobals<{ json?: boolean }>().json) {
    console.log(JSON.stringify(found, null, 2));
    return;
  }
  const rows = (Array.isArray(found) ? found : [found]) as Row[]; // the API's objects, by their keys
  if (rows.length === 0) {
    console.log('None.');
    return;
  }
  const table = new Table({ head: columns, style: { head: [], border: [] } });
  for (const row of rows) table.push(columns.map((column) => cell(row[column])));
  console.log(table.toString());
}

const cell = (value: unknown): string =>
  value === null || value === undefined
    ? '–'
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);
