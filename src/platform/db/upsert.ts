import { getTableColumns, getTableName, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { type Database, write } from './database.ts';

/** The columns that identify a row; they never change. */
const identity = ['id', 'account_id', 'connection_id', 'source_id', 'created_at'];

/** What an upsert takes from elsewhere, as SQL in which `r.value` is a row's JSON. */
export type UpsertOptions = {
  /** Where the values of columns come from, by the columns' names. */
  from?: { [column: string]: string };
  /** The joins for these sources. A row that joins nothing is skipped. */
  join?: string;
  /** Columns that keep their first value. */
  fixed?: string[];
};

/**
 * Prepares to insert or update records with one statement; `changes()` counts the changed ones. An
 * identical row costs no write, and one with an older `sourceUpdatedAt` changes nothing.
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
    write(db)`${sql.raw(insert)}${JSON.stringify(rows)}${sql.raw(update)}`;
}
