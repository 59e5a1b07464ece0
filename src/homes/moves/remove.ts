import type { BatchItem } from 'drizzle-orm/batch';
import { change, type Database, openDatabase, transaction } from '../../platform/db/database.ts';
import { jsonArrays } from './copy.ts';
import { nextKey, pageStatements, raw } from './pages.ts';
import type { Cursor, Job } from './state.ts';
import type { Moved } from './tables.ts';

const rowsPerChunk = 1000;

/**
 * Deletes a chunk of an account's rows in a home, referring rows first, by statements that `write` runs. Returns the
 * cursor to continue from; undefined when done.
 */
export async function removeRows(
  home: Env,
  { accountId, tables }: Pick<Job, 'accountId' | 'tables'>,
  { table: at = tables.length - 1, after }: Cursor,
  write: (statements: (db: Database) => BatchItem<'sqlite'>[]) => Promise<unknown>,
): Promise<Cursor | undefined> {
  const table = tables[at];
  if (!table) return undefined;
  const { name, key } = table;
  const page = pageStatements(openDatabase(home), keysOnly(table), accountId, after, rowsPerChunk);
  const [rows, end] = await transaction(openDatabase(home), page, { repeatable: true });
  await write((db) =>
    jsonArrays(rows.map((row) => key.map((column) => row[column]))).map(
      (keys) =>
        change(db)`delete from ${raw(name)} where (${raw(key.join(', '))}) in (
          select ${raw(key.map((_, column) => `value->>${column}`).join(', '))} from json_each(${keys}))`,
    ),
  );
  const next = nextKey(table, rowsPerChunk, rows, end);
  return next ? { table: at, after: next } : { table: at - 1 };
}

/** With the columns that it takes to find and delete rows: others can be long. */
const keysOnly = (table: Moved): Moved =>
  table.way === 'scan'
    ? table
    : {
        ...table,
        columns: [...new Set([table.owner, ...table.tail.map(({ column }) => column), ...table.key])],
      };
