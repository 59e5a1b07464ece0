import { and, sql } from 'drizzle-orm';
import { type Database, jsonList, statement } from '../../platform/db/database.ts';
import type { Caller } from '../../platform/db/guard.ts';
import { maxScanned } from '../../platform/db/pages.ts';
import type { Noted, Reached } from './page.ts';

/** How many rows a page covers at most: each is a call of `/ingest`, or a part of one. */
export const maxRows = 100;

/** The account's last row. */
export const selectLatest = (db: Database, { accountId }: Caller) =>
  statement<{ seq: number }>(
    db,
    sql`select coalesce(max(seq), 0) as seq from changes where account_id = ${accountId}`,
  );

/** A row as it was read: whether it passes the filters, and which of those looked through for them it is, from 1. */
export type Row = Noted & { hit: number; nth: number };

/** What narrows the feed. */
export type Filters = { connectionId: string | undefined; kinds: string[] | undefined };

/** The rows that pass, in order: one more than a page covers, or as far as may be scanned, and the last one scanned. */
export function selectRows(
  db: Database,
  { accountId }: Caller,
  after: Reached,
  { connectionId, kinds }: Filters,
) {
  const beyond = sql.raw(after.records === undefined ? '>' : '>=');
  const source = sql`from changes where account_id = ${accountId} and seq ${beyond} ${after.seq} order by seq`;
  const columns = sql`c.seq, c.connection_id as "connectionId", c.action, c.records`;
  const hit = and(
    connectionId === undefined ? undefined : sql`connection_id = ${connectionId}`,
    kinds && sql`exists (select 1 from json_each(records) where key in ${jsonList(kinds)} and value <> '[]')`,
  );
  if (!hit)
    return statement<Row>(
      db,
      sql`select ${columns}, 1 as hit, 0 as nth
          from changes c where account_id = ${accountId} and seq ${beyond} ${after.seq} order by seq
          limit ${maxRows + 1}`,
    );
  return statement<Row>(
    db,
    sql`select ${columns}, s.hit, s.nth
        from (
          select seq, ${hit} as hit, row_number() over (order by seq rows unbounded preceding) as nth
          ${source} limit ${maxScanned}) s
        cross join changes c on c.account_id = ${accountId} and c.seq = s.seq
        where s.hit or s.nth = ${maxScanned} limit ${maxRows + 1}`,
  );
}

/** The rows that a page covers. */
export const covered = (rows: Row[]): Row[] => rows.filter(({ hit }) => hit).slice(0, maxRows);

/** How far the rows were looked through, if there may be others beyond. */
export function lastScanned(rows: Row[]): Reached | undefined {
  const isFull = rows.filter(({ hit }) => hit).length > maxRows;
  const last = isFull ? covered(rows).at(-1) : rows.find(({ nth }) => nth === maxScanned);
  return last && { seq: last.seq };
}
