import { and, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Position } from './cursor.ts';
import { type Database, statement } from './database.ts';
import { asCaller, type Caller } from './guard.ts';

/** Which rows a page is cut from. */
export type PageQuery = {
  table: SQLiteTable;
  /** What is read, by the keys that rows have for it; one of them is `id`. */
  columns: { [key: string]: SQLiteColumn };
  /** The key whose column is the first part of the order; the id is the second. */
  order: string;
  /** What the leading column of the best index must equal. Each of several values is read on its own. */
  lead: { column: SQLiteColumn; values: string[] };
  /** Half-open bounds of the order. */
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

/** One page, as D1 returns its rows, and where the next one starts, if there is one. */
export type Page = { rows: { [key: string]: unknown }[]; next?: Position };

/** How many rows a page reads at most to find those that pass its filters. */
export const maxScanned = 1000;

/**
 * Cuts one keyset page (spec 8.1, design 7): one statement over one index range for each value of the lead,
 * in the batch of the caller's token check. A page is short, with a next one, when its filters have let
 * too few of `maxScanned` rows pass.
 *
 * @throws Refusal: unauthenticated, forbidden, or invalid for a connection that is not the caller's
 */
export async function readPage(env: Env, caller: Caller, query: PageQuery): Promise<Page> {
  const selection = sql.raw(
    Object.entries(query.columns)
      .map(([key, { name }]) => `${name} as "${key}"`)
      .join(', '),
  );
  const streams = (db: Database) => query.lead.values.map((value) => select(db, query, selection, value));
  const { connectionId } = query;
  return merge(query, await asCaller(env, caller, streams, { connectionId, repeatable: true }));
}

/** A row as it was read: its columns by their keys, and with filters whether it passes them. */
type Scanned = { [key: string]: unknown } & { id: string; hit?: number; place?: number };

/** Rows for one value of the lead, in order: one more than a page, or as far as may be scanned. */
function select(db: Database, query: PageQuery, selection: SQL, value: string) {
  const { table, columns, order, lead, after, from, to, limit, scope, filters, descending } = query;
  const { [order]: sort, id } = columns;
  const direction = sql.raw(descending ? 'desc' : 'asc');
  const range = and(
    sql`${lead.column} = ${value}`,
    after && sql`(${sort}, ${id}) ${sql.raw(descending ? '<' : '>')} (${after.sort}, ${after.id})`,
    from === undefined || (after && !descending) ? undefined : sql`${sort} >= ${from}`,
    to === undefined || (after && descending) ? undefined : sql`${sort} < ${to}`,
    ...scope,
  );
  const inOrder = sql`order by ${sort} ${direction}, ${id} ${direction}`;
  if (filters.length === 0)
    return statement<Scanned>(
      db,
      sql`select ${selection} from ${table} where ${range} ${inOrder} limit ${limit + 1}`,
    );
  return statement<Scanned>(
    db,
    sql`select * from (
          select ${selection}, coalesce(${and(...filters)}, 0) as hit, row_number() over (${inOrder}) as place
          from ${table} where ${range} ${inOrder} limit ${maxScanned})
        where hit or place = ${maxScanned} limit ${limit + 1}`,
  );
}

/** Puts the streams together, as far as all of them are known. */
function merge({ order, limit, filters, descending }: PageQuery, streams: Scanned[][]): Page {
  const position = (row: Scanned): Position => ({ sort: Number(row[order]), id: row.id });
  const ends = streams.flatMap((rows) => {
    const last = rows.at(-1);
    const cut = last && (rows.length > limit || (filters.length > 0 && last.place === maxScanned));
    return cut ? [position(last)] : [];
  });
  const sign = descending ? -1 : 1;
  const inOrder = (a: Position, b: Position) => sign * compare(a, b);
  const horizon = ends.sort(inOrder)[0];
  const hits = streams
    .flat()
    .filter((row) => row.hit !== 0 && (!horizon || inOrder(position(row), horizon) <= 0))
    .sort((a, b) => inOrder(position(a), position(b)));
  const page = hits.slice(0, limit);
  const last = hits.length > limit ? page.at(-1) : undefined;
  const next = last ? position(last) : horizon;
  return { rows: filters.length === 0 ? page : page.map(withoutScan), ...(next && { next }) };
}

const compare = (a: Position, b: Position): number =>
  a.sort - b.sort || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

const withoutScan = ({ hit, place, ...row }: Scanned) => row;
