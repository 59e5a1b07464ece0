import { eq, gte, lte, type SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type * as v from 'valibot';
import type { QuerySchema } from '../../platform/query.ts';

/** The condition that a record of a table is one that the caller sees. */
export type Within = (of: {
  accountId: SQLiteColumn;
  connectionId: SQLiteColumn;
}) => SQL | undefined;

/** A filter by one field. Rows are scanned for its condition; without one, an index finds them. */
export type Filter<N extends string = string> = {
  field: N;
  description: string;
  /** Its parameter; by default that of the field. */
  query?: QuerySchema;
  /** Whether its index begins with the account, because others have the same values. */
  ofAccount?: boolean;
  /** The condition in D1. */
  where?: (column: SQLiteColumn, value: never, within: Within) => SQL;
  /** Whether an archived value passes; by default it must be one of the parameter's. */
  passes?: (stored: unknown, value: never) => boolean;
};

const by =
  (condition: Pick<Filter, 'where' | 'passes'>) =>
  <N extends string>(field: N, description: string): Filter<N> => ({
    field,
    description,
    ...condition,
  });

export const equals = by({ where: eq });

export const atLeast = by({
  where: gte,
  passes: (stored, value) => stored !== null && Number(stored) >= Number(value),
});

export const atMost = by({
  where: lte,
  passes: (stored, value) => stored !== null && Number(stored) <= Number(value),
});

/** A filter by a value that an index on the field, the list's order and id finds. */
export const indexed = by({});

/** Rows that pass a custom condition: `where` in D1, and `passes` for an archived value. */
export const matching = <N extends string, S extends QuerySchema>(
  field: N,
  description: string,
  query: S,
  condition: {
    where: (column: SQLiteColumn, value: v.InferOutput<S>, within: Within) => SQL;
    passes?: (stored: unknown, value: v.InferOutput<S>) => boolean;
  },
): Filter<N> => ({ field, description, query, ...condition });
