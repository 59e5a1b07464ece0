import { type SQL, sql } from 'drizzle-orm';

/** SQL for names of columns, as a list or with what `each` makes of them. */
export const listOf = (names: readonly string[], each: (name: SQL) => SQL = (name) => name): SQL =>
  sql.join(
    names.map((name) => each(sql`${sql.identifier(name)}`)),
    sql`, `,
  );

/** SQL for whether a list is in ascending or descending order, and for what comes after a position in it. */
export const direction = (descending = false): SQL => (descending ? sql`desc` : sql`asc`);
export const beyond = (descending = false): SQL => (descending ? sql`<` : sql`>`);

/** A whole number in the SQL itself: D1 binds numbers as REAL, which divide into fractions. */
export const int = (value: number): SQL => sql.raw(String(Math.trunc(value)));
