import { getTableColumns, getTableName, type InferInsertModel, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { change, type Database } from './database.ts';

/** The columns that say what a row is; they never change. */
const identity = ['id', 'account_id', 'connection_id', 'source_id', 'created_at'];

/** The columns of `table` by their names in rows, and by their names in SQL. */
const columnsOf = (table: SQLiteTable) =>
  Object.entries(getTableColumns(table)).map(([key, column]) => ({ key, name: column.name }));

/**
 * Inserts or updates a connector's records as one statement over one parameter; its `meta.changes` are those
 * that changed anything. A row that is the same costs no write; one with an older `sourceUpdatedAt` than
 * what is there leaves it alone. `from` may name another source than the rows themselves for a column (its
 * SQL sees a row's JSON as `r.value`), `join` what that source needs; `fixed` columns keep their first value.
 */
export function upsert<T extends SQLiteTable>(
  db: Database,
  table: T,
  rows: Partial<InferInsertModel<T>>[],
  {
    from = {},
    join = '',
    fixed = [],
  }: { from?: Record<string, string>; join?: string; fixed?: string[] } = {},
) {
  const columns = columnsOf(table);
  const target = getTableName(table);
  const changing = columns.map(({ name }) => name).filter((name) => ![...identity, ...fixed].includes(name));
  const compared = changing.filter((name) => name !== 'updated_at');
  const list = (names: string[], prefix = '') => sql.raw(names.map((name) => prefix + name).join(', '));
  const values = columns.map(({ key, name }) => from[name] ?? `r.value->>'${key}'`);
  return change(
    db,
    sql`
    insert into ${table} (${list(columns.map(({ name }) => name))})
    select ${list(values)} from json_each(${JSON.stringify(rows)}) r ${sql.raw(join)} where true
    on conflict (id) do update set ${list(changing.map((name) => `${name} = excluded.${name}`))}
    where (${list(compared, `${target}.`)}) is not (${list(compared, 'excluded.')})
      and (excluded.source_updated_at >= ${sql.raw(target)}.source_updated_at
        or excluded.source_updated_at is null or ${sql.raw(target)}.source_updated_at is null)`,
  );
}
