import { eq, gte, lte, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type * as v from 'valibot';
import type { QuerySchema } from '../../platform/query.ts';

/** A filter of a list, by one field: either an index leads to its rows, or they are looked through. */
export type Filter<N extends string = string> = {
  field: N;
  description: string;
  /** How its parameter reads; unless given, as the field does. */
  query?: QuerySchema;
} & (
  | {
      indexed: true;
      /** Whether the index begins with the account: others have the same values. */
      ofAccount?: boolean;
    }
  | {
      /** The condition in D1, and the same of a value as D1 stores it, for rows of the archive. */
      where: (column: SQLiteColumn, value: never) => SQL;
      passes: (stored: unknown, value: never) => boolean;
    }
);

/** Rows whose field is what the parameter says. */
export const equals = <N extends string>(field: N, description: string): Filter<N> => ({
  field,
  description,
  where: eq,
  passes: (stored, value) => stored === value,
});

/** Rows whose field is no less than the parameter. */
export const atLeast = <N extends string>(field: N, description: string): Filter<N> => ({
  field,
  description,
  where: gte,
  passes: (stored, value) => stored !== null && Number(stored) >= Number(value),
});

/** Rows whose field is no more than the parameter. */
export const atMost = <N extends string>(field: N, description: string): Filter<N> => ({
  field,
  description,
  where: lte,
  passes: (stored, value) => stored !== null && Number(stored) <= Number(value),
});

/** Rows whose field is one of the parameter's values, which are looked through. */
export const oneOf = <N extends string>(field: N, description: string): Filter<N> => ({
  field,
  description,
  where: (column, values: string[]) =>
    sql`${column} in (select value from json_each(${JSON.stringify(values)}))`,
  passes: (stored, values: string[]) => values.includes(String(stored)),
});

/** Rows whose field is one of the parameter's values. The table needs an index on the field, the list's order and id. */
export const indexed = <N extends string>(field: N, description: string): Filter<N> => ({
  field,
  description,
  indexed: true,
});

/** Rows that pass a condition of their own: `where` in D1, and `passes` for a value as D1 stores it. */
export const matching = <N extends string, S extends QuerySchema>(
  field: N,
  description: string,
  query: S,
  condition: {
    where: (column: SQLiteColumn, value: v.InferOutput<S>) => SQL;
    passes: (stored: unknown, value: v.InferOutput<S>) => boolean;
  },
): Filter<N> => ({ field, description, query, ...condition });
