import { and, getTableColumns, type InferSelectModel, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Position } from './cursor.ts';
import { type Database, statement } from './database.ts';
import { asCaller, type Caller } from './guard.ts';

/** A table whose rows belong to an account. */
export type ListTable = SQLiteTable & { id: SQLiteColumn; accountId: SQLiteColumn };

/** Which rows a page is cut from. */
export type PageQuery<T extends ListTable> = {
  table: T;
  /** The first part of the order; the id is the second. */
  sort: SQLiteColumn;
  /** What the leading column of the best index must equal: for several values, each is read on its own. */
  lead: { column: SQLiteColumn; values: string[] };
  /** Half-open bounds of `sort`. */
  from?: number | undefined;
  to?: number | undefined;
  /** What holds for all rows of the lead anyway, and is asked to be safe: no index should serve it. */
  scope: SQL[];
  /** What rows must pass one by one: reading them is bounded. */
  filters: SQL[];
  /** A connection that must be the caller's. */
  connectionId?: string | undefined;
  after?: Position | undefined;
  /** Newest first: the API's lists are not, the portal's pages are. */
  descending?: boolean;
  limit: number;
};

/** A row without what no list shows: every column costs on the way from the database. */
export type ListRow<T extends ListTable> = Omit<InferSelectModel<T>, 'accountId' | 'sourceUpdatedAt'>;
const unseen = ['accountId', 'sourceUpdatedAt'];

/** One page, and where the next one starts; no position: there is no more. */
export type Page<T extends ListTable> = { rows: ListRow<T>[]; next?: Position };

/** How many rows a page reads at most to find those that pass its filters. */
export const mostScanned = 1000;

/**
 * Cuts one keyset page (spec 8.1, design 7): one statement over one index range for each value of the lead,
 * in the batch of the caller's token check. A page is short, with a next one, when its filters have let
 * too few of `mostScanned` rows pass.
 *
 * @throws Refusal: unauthenticated, forbidden, or invalid for a connection that is not the caller's
 */
export async function readPage<T extends ListTable>(
  env: Env,
  caller: Caller,
  query: PageQuery<T>,
): Promise<Page<T>> {
  const streams = (db: Database) => query.lead.values.map((value) => select(db, query, value));
  const { connectionId } = query;
  return merge(query, await asCaller(env, caller, streams, { connectionId, repeatable: true }));
}

/** A row as it was read: its columns by their keys, and with filters whether it passes them. */
type Scanned = Record<string, unknown> & { id: string; hit?: number; place?: number };

/** Rows for one value of the lead, in order: one more than a page, or as far as may be scanned. */
function select<T extends ListTable>(db: Database, query: PageQuery<T>, value: string) {
  const { table, sort, lead, after, from, to, limit, scope, filters, descending } = query;
  const direction = sql.raw(descending ? 'desc' : 'asc');
  const { id } = table;
  const range = and(
    sql`${lead.column} = ${value}`,
    after && sql`(${sort}, ${id}) ${sql.raw(descending ? '<' : '>')} (${after.sort}, ${after.id})`,
    from === undefined || (after && !descending) ? undefined : sql`${sort} >= ${from}`,
    to === undefined || (after && descending) ? undefined : sql`${sort} < ${to}`,
    ...scope,
  );
  const columns = sql.raw(shapeOf(table).selection);
  if (filters.length === 0)
    return statement<Scanned>(
      db,
      sql`select ${columns} from ${table} where ${range} order by ${sort} ${direction}, ${id} ${direction}
        limit ${limit + 1}`,
    );
  return statement<Scanned>(
    db,
    sql`select * from (
          select ${columns}, ${and(...filters)} as hit, row_number() over (order by ${sort} ${direction}, ${id} ${direction}) as place
          from ${table} where ${range} order by ${sort} ${direction}, ${id} ${direction} limit ${mostScanned})
        where hit or place = ${mostScanned} limit ${limit + 1}`,
  );
}

/** Puts the streams together, as far as all of them are known. */
function merge<T extends ListTable>(query: PageQuery<T>, streams: Scanned[][]): Page<T> {
  const { limit, filters } = query;
  const shape = shapeOf(query.table);
  const key = shape.keys.get(query.sort) ?? '';
  const position = (row: Scanned): Position => ({ sort: Number(row[key]), id: row.id });
  const ends = streams.flatMap((rows) => {
    const last = rows.at(-1);
    const cut = last && (rows.length > limit || (filters.length > 0 && last.place === mostScanned));
    return cut ? [position(last)] : [];
  });
  const sign = query.descending ? -1 : 1;
  const inOrder = (a: Position, b: Position) => sign * compare(a, b);
  const horizon = ends.sort(inOrder)[0];
  const hits = streams
    .flat()
    .filter((row) => row.hit !== 0 && (!horizon || inOrder(position(row), horizon) <= 0))
    .sort((a, b) => inOrder(position(a), position(b)));
  const page = hits.slice(0, limit);
  const last = hits.length > limit ? page.at(-1) : undefined;
  const next = last ? position(last) : horizon;
  return { rows: page.map((row) => decode<T>(shape, row)), ...(next && { next }) };
}

const compare = (a: Position, b: Position): number =>
  a.sort - b.sort || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** What reading a table's rows takes, worked out once: it is on the path of every list. */
type Shape = { selection: string; keys: Map<SQLiteColumn, string>; json: string[] };
const shapes = new WeakMap<SQLiteTable, Shape>();

function shapeOf(table: SQLiteTable): Shape {
  const known = shapes.get(table);
  if (known) return known;
  const columns = Object.entries(getTableColumns(table)).filter(([key]) => !unseen.includes(key));
  const shape = {
    selection: columns.map(([key, column]) => `${column.name} as "${key}"`).join(', '),
    keys: new Map(columns.map(([key, column]) => [column, key])),
    json: columns.filter(([, column]) => column.dataType === 'json').map(([key]) => key),
  };
  shapes.set(table, shape);
  return shape;
}

/** A row as drizzle would give it: JSON columns parsed. */
function decode<T extends ListTable>({ json }: Shape, row: Scanned): ListRow<T> {
  for (const key of json) {
    const text = row[key];
    if (typeof text === 'string') row[key] = JSON.parse(text);
  }
  return row as ListRow<T>; // the columns of this very table
}
