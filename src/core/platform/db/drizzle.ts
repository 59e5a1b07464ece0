import { is, SQL, type SQLWrapper } from 'drizzle-orm';
import type { DrizzleD1Database } from 'drizzle-orm/d1';
import type { RunnableQuery } from 'drizzle-orm/runnable-query';
import {
  type SQLiteColumn,
  type SQLitePreparedQuery,
  SQLiteSelectBase,
} from 'drizzle-orm/sqlite-core';
import { SQLiteRaw } from 'drizzle-orm/sqlite-core/query-builders/raw';

/*
 * All that leans on Drizzle's insides, and why `db.batch` does not do:
 * - it fails over raw SQL with parameters: https://github.com/drizzle-team/drizzle-orm/issues/2277
 * - it shifts columns if two of a statement have one name: https://github.com/drizzle-team/drizzle-orm/issues/6038
 * `drizzle.test.ts` fails when a version changes what is used here.
 */

/** Drizzle on D1. It makes statements; `transaction` runs them, or `asCaller` for a caller. */
export type Database = DrizzleD1Database & { $client: Pick<D1Database, 'prepare' | 'batch'> };

/** What Drizzle makes: `db.select()…`, `db.insert()…`; of raw SQL, `db.all` and `db.run`. */
export type Statement<T = unknown> = RunnableQuery<T, 'sqlite'> & SQLWrapper;

export const isStatement = (value: object): value is Statement => 'getSQL' in value;

/** Whether a statement changes nothing: raw SQL by its text, which has no values. */
export const isRead = (statement: Statement): boolean =>
  is(statement, SQLiteRaw)
    ? !writing.test(statement.getQuery().sql)
    : is(statement, SQLiteSelectBase);

const writing =
  /\b(?:(?:insert|replace)\s+(?:or\s+\w+\s+)?into|delete\s+from|update\s+\S+\s+(?:indexed\s+by\s+\S+\s+)?set)\b/i;

/** Whether what an index is declared on is this column, or an expression of it. */
export const isOfColumn = (indexed: unknown, column: SQLiteColumn): boolean =>
  is(indexed, SQL) ? indexed.queryChunks.includes(column) : indexed === column;

/** A statement as D1 takes it, and what makes rows of D1's result. */
type Prepared = { d1: D1PreparedStatement; resultOf: (result: D1Result) => unknown };

/** Prepares a statement for D1's `batch`. */
export function prepare({ $client }: Pick<Database, '$client'>, statement: Statement): Prepared {
  const prepared = (statement as Preparable)._prepare();
  const { sql, params } = prepared.getQuery();
  return {
    d1: $client.prepare(sql).bind(...params),
    resultOf: (result) => {
      const [row] = result.results as [object?];
      if (row && prepared.fields && prepared.fields.length !== Object.keys(row).length)
        throw new Error('Two columns have the same name: name one by `.as()`');
      return prepared.mapResult(result, true);
    },
  };
}

type Preparable = Statement & {
  _prepare(): Pick<SQLitePreparedQuery<never>, 'getQuery' | 'mapResult'> & { fields?: unknown[] };
};
