import { type SQL, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { change, type Database, openDatabase, transaction } from '../../platform/db/database.ts';
import { jsonArrays } from './copy.ts';
import { nextKey, pageStatements, raw } from './pages.ts';
import type { Cursor, Job } from './state.ts';
import type { Moved } from './tables.ts';

const rowsPerChunk = 1000;

/** SQL that changes those rows of a table whose keys the query `keys` selects. */
export type RowChange = (table: Moved, keys: SQL) => SQL;

const deletion: RowChange = ({ name, key }, keys) =>
  sql`delete from ${raw(name)} where (${raw(key.join(', '))}) in (${keys})`;

/**
 * Deletes a chunk of an account's rows in a home, or changes them otherwise, referring rows first, by statements that
 * `write` runs. Returns the cursor to continue from; undefined when done.
 */
export async function removeRows(
  home: Env,
  { accountId, tables }: Pick<Job, 'accountId' | 'tables'>,
  { table: at = tables.length - 1, after }: Cursor,
  write: (statements: (db: Database) => BatchItem<'sqlite'>[]) => Promise<unknown>,
  changing = deletion,
): Promise<Cursor | undefined> {
  const table = tables[at];
  if (!table) return undefined;
  const { key } = table;
  const page = pageStatements(openDatabase(home), keysOnly(table), accountId, after, rowsPerChunk);
  const [rows, end] = await transaction(openDatabase(home), page, { repeatable: true });
  await write((db) =>
    jsonArrays(rows.map((row) => key.map((column) => row[column]))).map(
      (keys) =>
        change(db)`${changing(
          table,
          sql`select ${raw(key.map((_, column) => `value->>${column}`).join(', '))} from json_each(${keys})`,
        )}`,
    ),
  );
  const next = nextKey(table, rowsPerChunk, rows, end);
  return next ? { table: at, after: next } : { table: at - 1 };
}

/** With the columns that it takes to find and delete rows: others can be long. */
const keysOnly = (table: Moved): Moved => {
  const needed = [...table.key, ...table.tail.map(({ column }) => column)];
  return {
    ...table,
    columns: table.columns.filter((column) => needed.includes(column) || column.endsWith('_id')),
  };
};
