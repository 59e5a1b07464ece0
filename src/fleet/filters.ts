import { eq, gte, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type * as v from 'valibot';
import type { QuerySchema } from '../query.ts';

/** A filter of a list, by one field: either an index leads to its rows, or they are looked through. */
export type Filter<N extends string = string> = {
  field: N;
  description: string;
  /** How its parameter reads; unless given, as the field does. */
  query?: QuerySchema;
} & ({ indexed: true } | { where: (column: SQLiteColumn, value: never) => SQL });

/** Rows whose field is what the parameter says. */
export const equals = <N extends string>(field: N, description: string): Filter<N> => ({
  field,
  description,
  where: eq,
});

/** Rows whose field is no less than the parameter. */
export const atLeast = <N extends string>(field: N, description: string): Filter<N> => ({
  field,
  description,
  where: gte,
});

/** Rows whose field is one of the parameter's values, which are looked through. */
export const oneOf = <N extends string>(field: N, description: string): Filter<N> => ({
  field,
  description,
  where: (column, values: string[]) =>
    sql`${column} in (select value from json_each(${JSON.stringify(values)}))`,
});

/** Rows whose field is one of the parameter's values. The table needs an index on the field, the list's order and id. */
export const indexed = <N extends string>(field: N, description: string): Filter<N> => ({
  field,
  description,
  indexed: true,
});

/** Rows that pass a condition of their own. */
export const matching = <N extends string, S extends QuerySchema>(
  field: N,
  description: string,
  query: S,
  where: (column: SQLiteColumn, value: v.InferOutput<S>) => SQL,
): Filter<N> => ({ field, description, query, where });
