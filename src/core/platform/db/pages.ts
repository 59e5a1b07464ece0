import { and, getTableName, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Position } from './cursor.ts';
import { beyond, type Database, direction as directionOf } from './database.ts';
import type { Caller } from './guard.ts';
import { connectionsBeingDeleted, isWithin } from './guard.ts';
import { hasIdIn } from './has-id.ts';
import { readAsCaller } from './reads.ts';

export type PageQuery = {
  table: SQLiteTable;
  /** What is read, by the keys of the returned rows. */
  columns: { [key: string]: SQLiteColumn };
  /** The keys of columns that are null in some rows, unless the condition holds. */
  hidden?: Hidden | undefined;
  id: string;
  /** The key of the column that the list is ordered by; ties are ordered by id. */
  order: string;
  /** The index's leading column, and its value, or a query for values to merge, in parentheses. */
  lead: { column: SQLiteColumn } & ({ value: string } | { values: SQL });
  from?: number | undefined;
  to?: number | undefined;
  /** Conditions that hold for all rows of the lead; no index should serve them. */
  scope: SQL[];
  /** Checked row by row: how many are read is bounded. */
  filters: SQL[];
  /** Must belong to the caller. */
  connectionId?: string | undefined;
  after?: Position | undefined;
  /** What is looked up for the rows of the page: `(select …) as "name"`. */
  also?: SQL | undefined;
  /** Newest first, as on the portal's pages. */
  descending?: boolean;
  limit: number;
  /** The most bytes of the page: `maxPageBytes` by default. */
  room?: number;
};

/** One page of D1's rows, and where the next one starts, if there is one. */
export type Page = {
  rows: { [key: string]: unknown }[];
  next?: Position;
  /** The approximate size of the rows as JSON. */
  bytes: number;
};

/** How many rows a page reads at most to find those that pass its filters. */
export const maxScanned = 1000;

/** The most bytes of a page as JSON. A larger one is cut short and has a next one. */
export const maxPageBytes = 1024 * 1024;

/** What reads rows in order until a page of them has passed the filters. */
type Scan = {
  columns: SQL;
  /** `table where …`: a range of an index in this order. */
  source: SQL;
  order: SQL;
  passes?: SQL | undefined;
  limit: number;
  /** How many rows are scanned at most: `maxScanned` by default. */
  most?: number;
  /** What is looked up for the rows that pass: `(select …) as "name"`. */
  also?: SQL | undefined;
};

/** Whether a row passes the filters, and its number among the scanned rows, from 1; without filters, all pass. */
type Scanned = { hit?: number; nth?: number };

/** The statement that selects the rows of a scan that pass: one more than a page, or as far as may be scanned. */
export function scan<Row extends object>(
  db: Database,
  { columns, source, order, passes, limit, most = maxScanned, also }: Scan,
) {
  const rows = passes
    ? sql`(
        select * from (
          select ${columns}, coalesce(${passes}, 0) as hit,
            row_number() over (${order} rows unbounded preceding) as nth
          from ${source} ${order} limit ${most})
        where hit or nth = ${most} limit ${limit + 1})`
    : sql`(select ${columns} from ${source} ${order} limit ${limit + 1})`;
  // Raw: the pages of all lists are one statement, with windows and recursion.
  return db.all<Row & Scanned>(sql`select * ${also && sql`, ${also}`} from ${rows}`);
}

/** The page among a scan's rows, and the row after which the next one begins, if any. */
export function cutScan<T extends Scanned>(
  rows: T[],
  limit: number,
  most = maxScanned,
): { page: T[]; end: T | undefined } {
  const hits = rows.filter(({ hit }) => hit !== 0);
  const page = hits.slice(0, limit);
  return { page, end: hits.length > limit ? page.at(-1) : rows.find(({ nth }) => nth === most) };
}

/**
 * Reads a keyset page: one statement over index ranges, in the batch of the caller's check. It is
 * short if too few of `maxScanned` rows pass its filters, or at `maxPageBytes`.
 * @throws Refusal: unauthenticated, forbidden, or invalid for a connection that is not the caller's
 */
export async function readPage(env: Env, caller: Caller, query: PageQuery): Promise<Page> {
  const { connectionId } = query;
  const { leaving, rows } = await readAsCaller(
    env,
    caller,
    (db) => ({ leaving: connectionsBeingDeleted(db, caller), rows: selectRows(db, query) }),
    connectionId,
  );
  return pageOf(query, [streamOf(query, withoutConnections(rows, leaving))]);
}

/** Rows in order, complete up to `end`; without it, there are no more. */
export type Stream = { rows: StreamRow[]; end?: Position };

/** Makes rows of these connections fail the filters. */
export function withoutConnections(rows: StreamRow[], connections: { id: string }[]): StreamRow[] {
  if (connections.length === 0) return rows;
  const gone = new Set<unknown>(connections.map(({ id }) => id));
  return rows.map((row) => (gone.has(row.connectionId) ? { ...row, hit: 0 } : row));
}

/** A row as read: its columns, and the scan's result. */
export type StreamRow = Scanned & { [key: string]: unknown };

export type Hidden = { keys: string[]; unless: SQL };

/** What to select to read rows with these columns. */
export const selected = (columns: PageQuery['columns'], hidden?: Hidden): SQL =>
  sql.join(
    Object.entries(columns).map(([key, { name }]) => {
      const as = sql.raw(`as "${key}"`);
      const column = sql.raw(name);
      return hidden?.keys.includes(key)
        ? sql`iif(${hidden.unless}, ${column}, null) ${as}`
        : sql`${column} ${as}`;
    }),
    sql`, `,
  );

const encoder = new TextEncoder();

/** The most bytes of rows as JSON: times become longer in a page. */
export const sizeOf = (...rows: object[]): number =>
  encoder.encode(JSON.stringify(rows)).length +
  16 * rows.length * Object.keys(rows[0] ?? {}).length;

const hasLead = ({ table, lead }: PageQuery, value: SQL): SQL =>
  hasIdIn(getTableName(table), sql`${lead.column}`, value);

function oneRange(query: PageQuery, value: string): SQL {
  const { begin, end } = boundsOf(query);
  const range = and(hasLead(query, sql`${value}`), ...begin, ...end);
  return sql`${query.table} where ${range}`;
}

/**
 * The first rows of all values that a query selects. The recursion's queue is in the rows' order:
 * it begins with the first row of each range, and a row that leaves is replaced by the next of its
 * range. So it reads six rows for each that is merged and two a range, however long the ranges are.
 */
function allRanges(query: PageQuery, values: SQL): SQL {
  const { table, descending = false, limit, filters } = query;
  const [sort, id] = orderOf(query);
  const { begin, end } = boundsOf(query);
  const direction = directionOf(descending);
  const first = (range: SQL, more: (SQL | undefined)[]) =>
    sql`${id} = (select ${id} from ${table} where ${and(hasLead(query, range), ...more)}
      order by ${sort} ${direction}, ${id} ${direction} limit 1)`;
  const next = sql`(${sort}, ${id}) ${beyond(descending)} (merged_sort, merged_id)`;
  return sql`(
    with recursive
      ranges (range) as ${values},
      walk (merged_lead, merged_sort, merged_id) as (
        select range, ${sort}, ${id} from ranges cross join ${table} on ${first(sql`range`, [...begin, ...end])}
        union all
        select merged_lead, ${sort}, ${id} from walk cross join ${table} on ${first(sql`merged_lead`, [next, ...end])}
        order by 2 ${direction}, 3 ${direction} limit ${filters.length === 0 ? limit + 1 : maxScanned})
    select merged_id from walk) cross join ${table} on ${id} = merged_id`;
}

/** How many connections of an account, oldest first, a list over all of them includes. */
const maxConnectionsMerged = 1000;

/** SQL for the ids of the caller's connections that a list over all of them includes. */
export const connectionIds = (caller: Caller): SQL =>
  sql`(
    select id from connections
    where ${and(sql`account_id = ${caller.accountId}`, isWithin(caller, sql`id`))}
    order by created_at, id limit ${maxConnectionsMerged})`;

/** The conditions that begin and end the range of a page. One that is continued begins there. */
function boundsOf(query: PageQuery): { begin: (SQL | undefined)[]; end: (SQL | undefined)[] } {
  const { after, from, to, scope, descending } = query;
  const [sort, id] = orderOf(query);
  const position =
    after && sql`(${sort}, ${id}) ${beyond(descending)} (${after.sort}, ${after.id})`;
  const least = from === undefined ? undefined : sql`${sort} >= ${from}`;
  const most = to === undefined ? undefined : sql`${sort} < ${to}`;
  const [begin, end] = descending ? [most, least] : [least, most];
  return { begin: [position ?? begin], end: [end, ...scope] };
}

/** The columns of the order. @throws Error, if the list has no such keys */
function orderOf({ columns, order, id }: Pick<PageQuery, 'columns' | 'order' | 'id'>) {
  const [first, second] = [columns[order], columns[id]];
  if (!first || !second) throw new Error(`No column for ${order} or ${id}`);
  return [first, second] as const;
}

/** Reads a page's rows of D1 in order: one more, or as far as may be scanned. */
export function selectRows(db: Database, query: PageQuery) {
  const { lead, limit, filters, descending, also } = query;
  const source = 'value' in lead ? oneRange(query, lead.value) : allRanges(query, lead.values);
  const [sort, id] = orderOf(query);
  const direction = directionOf(descending);
  const order = sql`order by ${sort} ${direction}, ${id} ${direction}`;
  return scan<StreamRow>(db, {
    columns: selected(query.columns, query.hidden),
    source,
    order,
    passes: and(...filters),
    limit,
    also,
  });
}

export function streamOf({ order, id, limit }: PageQuery, rows: StreamRow[]): Stream {
  const last = rows.at(-1);
  const cut = last && (rows.length > limit || last.nth === maxScanned);
  return { rows, ...(cut && { end: positionOf({ order, id }, last) }) };
}

const positionOf = ({ order, id }: Pick<PageQuery, 'order' | 'id'>, row: StreamRow): Position => ({
  sort: Number(row[order]),
  id: String(row[id]),
});

/** Merges the streams up to where all of them are complete. */
export function pageOf(
  { order, id, limit, descending = false, room = maxPageBytes }: PageQuery,
  streams: Stream[],
): Page {
  const inOrder = (a: Position, b: Position) => comparePositions(a, b, descending);
  const position = (row: StreamRow) => positionOf({ order, id }, row);
  const horizon = streams.flatMap(({ end }) => end ?? []).sort(inOrder)[0];
  const hits = streams
    .flatMap(({ rows }) => rows)
    .filter((row) => row.hit !== 0 && (!horizon || inOrder(position(row), horizon) <= 0));
  if (streams.length > 1) hits.sort((a, b) => inOrder(position(a), position(b)));
  const wanted = hits.slice(0, limit);
  const bytes = sizeOf(...wanted);
  const sized = () => wanted.map((row) => ({ size: sizeOf(row) })); // each one's only if all are too large
  const page = bytes <= room ? wanted : wanted.slice(0, fitting(sized(), room));
  const last = hits.length > page.length ? page.at(-1) : undefined;
  const next = last ? position(last) : horizon;
  return {
    rows: page.map((row) => (row.hit === undefined ? row : withoutScan(row))),
    ...(next && { next }),
    bytes: Math.min(bytes, room),
  };
}

const withoutScan = ({ hit, nth, ...row }: StreamRow) => row;

/** How many of these rows fit into a page: at least one, however large it is. */
export function fitting(rows: { size: number }[], room = maxPageBytes): number {
  let bytes = 0;
  const tooMany = rows.findIndex(({ size }) => {
    bytes += size;
    return bytes > room;
  });
  return tooMany === -1 ? rows.length : Math.max(1, tooMany);
}

/** Compares two positions in a list: negative if `a` comes first. */
export const comparePositions = (a: Position, b: Position, descending = false): number =>
  (descending ? -1 : 1) * (a.sort - b.sort || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
