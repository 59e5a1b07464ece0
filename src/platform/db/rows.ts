import { Column, type GetColumnData, getTableColumns, is, SQL, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { type Database, type Statement, transaction, type Write, write } from './database.ts';

/** What is read with each row, by names. */
type Also = { [name: string]: Column | SQL };

type Row<T extends SQLiteTable, A> = T['$inferSelect'] & {
  [name in keyof A]: A[name] extends SQL<infer V>
    ? V
    : A[name] extends Column
      ? GetColumnData<A[name]>
      : never;
};

/** Reads rows as a table declares them: ``readRows(db, accounts)`where id = ${id}` ``. */
export const readRows = <T extends SQLiteTable, A extends Also = Record<never, never>>(
  db: Database,
  table: T,
  also?: A,
) => {
  const columns = { ...getTableColumns(table), ...also };
  const whole = (query: SQL) => sql`select ${named(columns)} from ${table} ${query}`;
  return withRows<Row<T, A>>(db, whole, decoded(columns));
};

/** Writes rows, and returns them as their table declares them: ``writeRows(db, tokens)`delete from …` ``. */
export const writeRows = <T extends SQLiteTable>(db: Database, table: T) => {
  const columns = getTableColumns(table);
  const whole = (query: SQL) => sql`${query} returning ${named(columns)}`;
  return withRows<T['$inferSelect']>(db, whole, decoded(columns));
};

const named = (columns: Also): SQL =>
  sql.join(
    Object.entries(columns).map(([name, value]) => sql`${value} as ${sql.identifier(name)}`),
    sql`, `,
  );

function decoded<R>(columns: Also): (result: D1Result) => R[] {
  const stored = Object.entries(columns).flatMap(([name, column]) =>
    is(column, Column) ? { name, column } : [],
  );
  return ({ results }) => {
    for (const row of results as { [name: string]: unknown }[])
      for (const { name, column } of stored)
        if (row[name] !== null) row[name] = column.mapFromDriverValue(row[name]);
    return results as R[]; // with these columns
  };
}

type Values<T extends SQLiteTable> = {
  [key in keyof T['$inferInsert']]?: T['$inferInsert'][key] | SQL | undefined;
};

/** Adds a row. What it does not name, or is undefined, has the default of its column. */
export function insertRow<T extends SQLiteTable>(db: Database, table: T, row: Values<T>): Write {
  const given = encoded(table, row);
  const [names, values] = [given.map(([name]) => name), given.map(([, value]) => value)];
  return write(db)`insert into ${table} ${names} values ${values}`;
}

/** SQL for the values of columns after `set`; those that are undefined stay. */
export const assigned = <T extends SQLiteTable>(table: T, values: Values<T>): SQL =>
  sql.join(
    encoded(table, values).map(([name, value]) => sql`${name} = ${value}`),
    sql`, `,
  );

function encoded<T extends SQLiteTable>(table: T, values: Values<T>) {
  const columns: { [key: string]: Column } = getTableColumns(table);
  return Object.entries(values).flatMap(([key, value]) => {
    const column = columns[key];
    if (!column || value === undefined) return [];
    return [
      [sql.identifier(column.name), is(value, SQL) ? value : sql.param(value, column)] as const,
    ];
  });
}

const withRows =
  <R>(db: Database, whole: (query: SQL) => SQL, mapResult: (result: D1Result) => R[]) =>
  (strings: TemplateStringsArray, ...values: unknown[]): Statement<R[]> & PromiseLike<R[]> => {
    const raw = db.all<R>(whole(sql(strings, ...values)));
    return Object.assign(raw, {
      mapResult: (result: unknown) => mapResult(result as D1Result),
      execute: () => transaction<Statement>(db, raw) as Promise<R[]>,
    });
  };
