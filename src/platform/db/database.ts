import { is, SQL, sql } from 'drizzle-orm';
import { CasingCache } from 'drizzle-orm/casing';
import { QueryPromise } from 'drizzle-orm/query-promise';
import { type Failure, Refusal } from '../errors.ts';
import { d1Reason, withRetries } from './retry.ts';

/** What prepares statements and runs them, by `transaction` or each by itself. */
export type Database = { d1: Pick<D1Database, 'prepare' | 'batch'> };

/** A statement that only reads: ``read<Row>(db)`select …` ``. */
export const read = <T>(db: Database) => template('read', db, rowsIn<T>);

/** The same with D1's result: its rows and, in `meta`, its cost and the database's size. */
export const readResult = (db: Database) => template('read', db, wholeResult);

/** A statement that reads one `value`. */
export const readValue = <T>(db: Database) =>
  template('read', db, rowsIn<{ value: T }>, (query) => sql`select (${query}) as value`);

/** A statement that writes, with D1's result. `writeReturning` reads each row twice more. */
export const write = (db: Database) => template('write', db, wholeResult);

/** A statement that writes. Its result is what it returns, of type `T`. */
export const writeReturning = <T>(db: Database) => template('write', db, rowsIn<T>);

/** Makes statements of a kind: their results of D1's, and their queries, of which a part may be written. */
export const template =
  <T>(kind: Kind, db: Database, resultOf: Statement<T>['resultOf'], whole = (part: SQL) => part) =>
  (strings: TemplateStringsArray, ...values: unknown[]) =>
    new Statement(kind, db, whole(sql(strings, ...values)), resultOf);

const rowsIn = <T>({ results }: D1Result) => results as T[]; // as the statement selects them
const wholeResult = (result: D1Result) => result;

const dialect = {
  casing: new CasingCache(),
  escapeName: (name: string) => `"${name}"`,
  escapeParam: () => '?',
  escapeString: (text: string) => `'${text.replaceAll("'", "''")}'`,
};

type Kind = 'read' | 'write';

/** A statement of a transaction, which runs by itself if it is awaited. */
export class Statement<T = unknown> extends QueryPromise<T> {
  readonly kind: Kind;
  readonly query: SQL;
  readonly prepared: D1PreparedStatement;
  readonly resultOf: (result: D1Result) => T;
  readonly #db: Database;

  constructor(kind: Kind, db: Database, query: SQL, resultOf: Statement<T>['resultOf']) {
    super();
    const { sql: text, params } = query.toQuery(dialect);
    this.kind = kind;
    this.query = query;
    this.prepared = db.d1.prepare(text).bind(...params);
    this.resultOf = resultOf;
    this.#db = db;
  }

  override execute(): Promise<T> {
    return transaction<Statement<T>>(this.#db, this) as Promise<T>;
  }
}

export type Write = Statement<D1Result>;

/** The statements of a transaction, in order, by names or in lists. */
export type Statements =
  | Statement
  | undefined
  | readonly Statements[]
  | { readonly [name: string]: Statements };

/** The results of statements by their names, or those of a list in a list. */
export type Results<S> = Statements extends S
  ? unknown
  : S extends Statement<infer T>
    ? T
    : S extends undefined
      ? undefined
      : S extends readonly (infer T)[]
        ? Results<T>[]
        : { -readonly [name in keyof S]: Results<S[name]> };

function inOrder(statements: Statements): Statement[] {
  if (statements === undefined) return [];
  return statements instanceof Statement ? [statements] : Object.values(statements).flatMap(inOrder);
}

function named(statements: Statements, results: Iterator<unknown>): unknown {
  if (statements === undefined) return undefined;
  if (statements instanceof Statement) return results.next().value;
  if (Array.isArray(statements)) return statements.map((one) => named(one, results));
  return Object.fromEntries(Object.entries(statements).map(([name, one]) => [name, named(one, results)]));
}

export const onlyReads = (statements: Statements): boolean =>
  inOrder(statements).every(({ kind }) => kind !== 'write');

/**
 * Runs `statements` as one transaction of the service itself: ``{ created: write(db)`…`, rows:
 * read(db)`…` }``. Returns their results by name. If `repeatable`, by default if it only reads, it
 * is retried when D1 does not say whether it ran.
 * @throws Refusal: that of a `refuse`, or unavailable
 */
export async function transaction<const S extends Statements>(
  db: Database,
  statements: S,
  { repeatable = onlyReads(statements) }: { repeatable?: boolean | undefined } = {},
): Promise<Results<S>> {
  const items = inOrder(statements);
  const prepared = items.map((one) => one.prepared);
  try {
    const results = await withRetries(() => db.d1.batch(prepared), repeatable);
    const each = results.map((result, place) => items[place]?.resultOf(result));
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
  if (is(failure, SQL)) return sql`coalesce(json_extract('{}', ${failure}), abs(-9223372036854775808))`;
  const json = JSON.stringify(typeof failure === 'string' ? { kind: 'invalid', message: failure } : failure);
  const path = json.replaceAll("'", String.raw`\u0027`); // SQLite would double it
  return refuse(sql`${path}`);
}

/** A statement that rolls its batch back with `failure` unless `condition` holds. */
export const refuseUnless = (db: Database, condition: SQL, failure: Failure | string) =>
  read(db)`select case when ${condition} then 1 else ${refuse(failure)} end`;

/** The refusal in D1's error: `bad JSON path: '{"kind":"forbidden"}'`. */
function refusalOf(error: unknown): Refusal | undefined {
  const reason = d1Reason(error);
  const [json] = /\{"kind":[^']*\}/.exec(reason) ?? [];
  if (json) return new Refusal(JSON.parse(json)); // as `refuse` wrote it
  return /json|integer overflow/i.test(reason)
    ? Object.assign(new Refusal({ kind: 'unavailable', retryAfter: 60 }), { cause: error })
    : undefined;
}

/** Whether D1 still repeats refusals in its errors; false as well if it does not respond. */
export const repeatsRefusals = (db: Database): Promise<boolean> =>
  read(db)`select ${refuse({ kind: 'unauthenticated' })}`.then(
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
export const unlessTaken = <T>(columns: string, refusal: Refusal, save: () => Promise<T>): Promise<T> =>
  save().catch((error: unknown) => {
    throw breaksUnique(error, columns) ? refusal : error;
  });

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
