import { getTableColumns, getTableName, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { change, type Database } from './database.ts';

/** The columns that say what a row is; they never change. */
const identity = ['id', 'account_id', 'connection_id', 'source_id', 'created_at'];

/** What an upsert takes from elsewhere than its rows, as SQL that sees a row's JSON as `r.value`. */
export type UpsertOptions = {
  /** Where the values of columns come from, by the columns' names. */
  from?: { [column: string]: string };
  /** What these sources need. A row that joins nothing is passed over. */
  join?: string;
  /** Columns that keep their first value. */
  fixed?: string[];
};

/**
 * Prepares to insert or update a connector's records, as one statement over one parameter; `changes()` then counts
 * those that changed anything. A row that is the same costs no write, and one with an older `sourceUpdatedAt` than
 * what is there leaves that alone. Rows have the table's columns by their keys.
 */
export function upsertInto(table: SQLiteTable, { from = {}, join = '', fixed = [] }: UpsertOptions = {}) {
  const columns = Object.entries(getTableColumns(table)).map(([key, { name }]) => ({ key, name }));
  const target = getTableName(table);
  const names = columns.map(({ name }) => name);
  const values = columns.map(({ key, name }) => from[name] ?? `r.value->>'${key}'`);
  const changing = names.filter((name) => ![...identity, ...fixed].includes(name));
  const compared = changing.filter((name) => name !== 'updated_at');
  const qualified = (prefix: string) => compared.map((name) => `${prefix}.${name}`).join(', ');
  const insert = `
    insert into ${target} (${names.join(', ')})
    select ${values.join(', ')} from json_each(`;
  const update = `) r ${join} where true
    on conflict (id) do update set ${changing.map((name) => `${name} = excluded.${name}`).join(', ')}
    where (${qualified(target)}) is not (${qualified('excluded')})
      and (excluded.source_updated_at >= ${target}.source_updated_at
        or excluded.source_updated_at is null or ${target}.source_updated_at is null)`;
  return (db: Database, rows: object[]) =>
    change(db)`${sql.raw(insert)}${JSON.stringify(rows)}${sql.raw(update)}`;
}
