import { type GetColumnData, is, SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { type Failure, Refusal, unavailable } from '../errors.ts';
import { type Database, isRead, isStatement, prepare, type Statement } from './drizzle.ts';
import { d1Reason, withRetries } from './retry.ts';

export type { Database, Statement } from './drizzle.ts';

/** The statements of a transaction, in order, by names or in lists. */
export type Statements =
  | Statement
  | undefined
  | readonly Statements[]
  | { readonly [name: string]: Statements };

/** The results of statements by their names, or those of a list in a list. */
export type Results<S> = Statements extends S
  ? unknown
  : S extends Statement
    ? S['_']['result']
    : S extends undefined
      ? undefined
      : S extends readonly (infer T)[]
        ? Results<T>[]
        : { -readonly [name in keyof S]: Results<S[name]> };

function inOrder(statements: Statements): Statement[] {
  if (statements === undefined) return [];
  return isStatement(statements) ? [statements] : Object.values(statements).flatMap(inOrder);
}

function named(statements: Statements, results: Iterator<unknown>): unknown {
  if (statements === undefined) return undefined;
  if (isStatement(statements)) return results.next().value;
  if (Array.isArray(statements)) return statements.map((one) => named(one, results));
  return Object.fromEntries(
    Object.entries(statements).map(([name, one]) => [name, named(one, results)]),
  );
}

export const onlyReads = (statements: Statements): boolean => inOrder(statements).every(isRead);

/**
 * Runs `statements` as one transaction of the service itself: `{ created: db.insert(…), rows: db.select(…) }`. Returns
 * their results by name. If `repeatable`, by default if it only reads, it is retried when D1 does not say whether it
 * ran.
 * @throws Refusal: that of a `refuse`, or unavailable
 */
export async function transaction<const S extends Statements>(
  db: Database,
  statements: S,
  { repeatable = onlyReads(statements) }: { repeatable?: boolean | undefined } = {},
): Promise<Results<S>> {
  const prepared = inOrder(statements).map((one) => prepare(db, one));
  const all = prepared.map(({ d1 }) => d1);
  try {
    const results = await withRetries(() => db.$client.batch(all), repeatable);
    const each = results.map((result, place) => prepared[place]?.resultOf(result));
    return named(statements, each.values()) as Results<S>; // D1 returns one for each, in order
  } catch (error) {
    throw refusalOf(error) ?? error;
  }
}

/**
 * SQL that fails its batch with `failure`, or an invalid one of this message: as a bad JSON path,
 * which SQLite repeats in its error. Should a newer one accept it, the overflow fails the batch.
 */
export function refuse(failure: Failure | string | SQL): SQL {
  if (is(failure, SQL))
    return sql`coalesce(json_extract('{}', ${failure}), abs(-9223372036854775808))`;
  const json = JSON.stringify(
    typeof failure === 'string' ? { kind: 'invalid', message: failure } : failure,
  );
  const path = json.replaceAll("'", String.raw`\u0027`); // SQLite would double it
  return refuse(sql`${path}`);
}

/** A statement that rolls its batch back with `failure` unless `condition` holds. */
export const refuseUnless = (
  db: Database,
  condition: SQL | undefined,
  failure: Failure | string,
): Statement<unknown[]> =>
  // A refusal is SQL alone, of no table.
  db.all(sql`select case when ${condition} then 1 else ${refuse(failure)} end`);

/** The refusal in D1's error: `bad JSON path: '{"kind":"forbidden"}'`. */
function refusalOf(error: unknown): Refusal | undefined {
  const reason = d1Reason(error);
  const [json] = /\{"kind":[^']*\}/.exec(reason) ?? [];
  if (json) return new Refusal(JSON.parse(json)); // as `refuse` wrote it
  return /json|integer overflow/i.test(reason) ? unavailable(error, 60) : undefined;
}

/** Whether D1 still repeats refusals in its errors; false as well if it does not respond. */
export const repeatsRefusals = (db: Database): Promise<boolean> =>
  transaction(db, refuseUnless(db, sql`false`, { kind: 'unauthenticated' })).then(
    () => false,
    (error) => error instanceof Refusal && error.failure.kind === 'unauthenticated',
  );

/** `values` as one parameter, for use with `in`. */
export const jsonList = (values: readonly (string | number)[]): SQL =>
  sql`(select value from json_each(${JSON.stringify(values)}))`;

/** SQL for a list, as JSON, without a text that is in lower case. */
export const withoutText = (list: SQL, text: string): SQL =>
  sql`(select json_group_array(value) from json_each(${list}) where lower(value) <> ${text})`;

/** Whether a row violates the unique index on `columns`, written `table.a, table.b`. */
export const breaksUnique = (error: unknown, columns: string): boolean =>
  d1Reason(error).includes(`UNIQUE constraint failed: ${columns}`);

/** Saves what is unique in `columns`. @throws `refusal`, if another row has the same */
export const unlessTaken = <T>(
  columns: string,
  refusal: Refusal,
  save: () => Promise<T>,
): Promise<T> =>
  save().catch((error: unknown) => {
    throw breaksUnique(error, columns) ? refusal : error;
  });

/** SQL for names of columns, as a list or with what `each` makes of them. */
export const columnList = (
  names: readonly string[],
  each: (name: SQL) => SQL = (name) => name,
): SQL =>
  sql.join(
    names.map((name) => each(sql`${sql.identifier(name)}`)),
    sql`, `,
  );

/** SQL for whether a list is in ascending or descending order, and for what comes after a position in it. */
export const direction = (descending = false): SQL => (descending ? sql`desc` : sql`asc`);
export const beyond = (descending = false): SQL => (descending ? sql`<` : sql`>`);

/** A whole number in the SQL itself: D1 binds numbers as REAL, which divide into fractions. */
export const int = (value: number): SQL => sql.raw(String(Math.trunc(value)));

/** The value that was not inserted, for the `set` of an upsert. */
export const excluded = <C extends SQLiteColumn>(column: C): SQL<GetColumnData<C>> =>
  sql`excluded.${sql.identifier(column.name)}`;
