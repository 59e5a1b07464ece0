import { type SQL, sql } from 'drizzle-orm';

/** SQL for the end of an id, with which indexes of the largest tables begin. */
const endOf = (id: SQL): SQL => sql`unhex(substr(${id}, -12))`;

/** SQL for whether a column of `trips` or `safety_events` has an id, found by its index. */
export const hasId = (column: SQL, id: SQL): SQL =>
  sql`${endOf(column)} = ${endOf(id)} and ${column} = ${id}`;

/** SQL for whether a column of a table with records has an id, found by its index. */
export const hasIdIn = (table: string, column: SQL, id: SQL): SQL =>
  ['trips', 'safety_events'].includes(table) ? hasId(column, id) : sql`${column} = ${id}`;
