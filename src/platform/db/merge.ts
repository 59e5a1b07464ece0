import { and, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';

/** Ranges of one table to be merged: one for each value of the lead that `values` selects, as its only column. */
export type Merge = {
  table: SQLiteTable;
  lead: SQLiteColumn;
  values: SQL;
  /** The order of each range, and of what they are merged to. An index has the lead and then these two. */
  sort: SQLiteColumn;
  id: SQLiteColumn;
  descending: boolean;
  /** What begins the ranges, and what ends them. */
  begin: (SQL | undefined)[];
  end: (SQL | undefined)[];
  /** How many rows are merged at most. */
  most: number;
};

/**
 * SQL for the `from` of a query that reads the first rows of several ranges together. The recursion's queue is in the
 * rows' order: it begins with the first row of each range, and whenever a row leaves it, the next one of the same
 * range enters. So about six rows are read for each row that is merged and two for each range, however long the ranges
 * are.
 */
export function merged(ranges: Merge): SQL {
  const { table, lead, values, sort, id, descending, begin, end, most } = ranges;
  const direction = sql.raw(descending ? 'desc' : 'asc');
  const first = (range: SQL, more: (SQL | undefined)[]) =>
    sql`${id} = (select ${id} from ${table} where ${and(sql`${lead} = ${range}`, ...more)}
      order by ${sort} ${direction}, ${id} ${direction} limit 1)`;
  const next = sql`(${sort}, ${id}) ${sql.raw(descending ? '<' : '>')} (merged_sort, merged_id)`;
  return sql`(
    with recursive
      ranges (range) as (${values}),
      walk (merged_lead, merged_sort, merged_id) as (
        select range, ${sort}, ${id} from ranges cross join ${table} on ${first(sql`range`, [...begin, ...end])}
        union all
        select merged_lead, ${sort}, ${id} from walk cross join ${table} on ${first(sql`merged_lead`, [next, ...end])}
        order by 2 ${direction}, 3 ${direction} limit ${most})
    select merged_id from walk) cross join ${table} on ${id} = merged_id`;
}

/** How many connections of an account, oldest first, a list over all of them includes. */
export const maxConnectionsMerged = 1000;

/** SQL for the ids of the connections that a list over the whole account includes. */
export const connectionIds = (accountId: string): SQL =>
  sql`select id from connections where account_id = ${accountId}
    order by created_at, id limit ${maxConnectionsMerged}`;
