import { type SQL, sql } from 'drizzle-orm';
import { type Database, type Statement, transaction } from '../../core/platform/db/database.ts';
import { hasIdIn } from '../../core/platform/db/has-id.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { type Table, tables } from './tables.ts';

/** The tables whose ids lead to an account by their `account_id`. */
const parents: { [owner: string]: string } = {
  connection_id: 'connections',
  webhook_id: 'webhooks',
  user_id: 'portal_users',
};

export type Row = Record<string, string | number | null>;

/** How many rows of all accounts a page scans, in tables without an index for this. */
const scanned = 5_000;

/** How many bytes of rows a page has at most: its request is held in memory. */
const maxPageBytes = 8_000_000;

/**
 * Reads the account's next rows of a table, all `columns` of them or some. `next` is the row after
 * which they go on, if so.
 */
export async function nextRows(
  { DB }: Pick<Env, 'DB'>,
  table: Table,
  accountId: string,
  after: unknown[] | null | undefined,
  limit: number,
  columns?: string[],
): Promise<{ rows: Row[]; next: unknown[] | undefined }> {
  const db = openDatabase({ DB });
  const { name, key, owner, order } = table;
  const wanted = list((columns ?? ['*']).map((column) => `t.${column}`));
  const placeOf = (row: Row | undefined, at: string[]) => row && at.map((column) => row[column]);
  if (table.isScanned) {
    const from = after ? sql`where (${list(key)}) > (${values(after)})` : sql.empty();
    const part = sql`(
      select * from ${raw(name)} ${from} order by ${list(key)} limit ${scanned})`;
    const { found, ends } = await transaction(db, {
      // The table is known only at run time.
      found: db.all<Row>(sql`
        with ${ownersFrom(table, accountId)}
        select ${wanted}
        from ${part} t
        where t.${raw(owner)} in (select id from owners)
        order by ${list(key)}
        limit ${limit}`),
      // The table is known only at run time.
      ends: db.all<Row>(sql`select ${list(key)} from ${part} limit 1 offset ${scanned - 1}`),
    });
    const { rows, last } = pageOf(found, limit);
    return { rows, next: placeOf(last ?? ends[0], key) };
  }
  const [from = '', ...rest] = after ?? [];
  const place = sql`(${list(order.map((column) => `t.${column}`))})`;
  const found = await transaction(
    db,
    // The table is known only at run time.
    db.all<Row>(sql`
      with ${ownersFrom(table, accountId, String(from))}
      ${
        rest.length === 0
          ? undefined
          : sql`
              select * from (
                select ${wanted} from ${ofOwners(table)}
                where o.id = ${from} and ${place} > (${values(rest)}))
              union all`
      }
      select * from (select ${wanted} from ${ofOwners(table)} where o.id > ${from})
      limit ${limit}`),
  );
  const { rows, last } = pageOf(found, limit);
  return { rows, next: placeOf(last, [owner, ...order]) };
}

/** `owners` with their rows of a table that need no scan. */
const ofOwners = ({ name, owner, index }: Table): SQL => sql`owners o
  cross join ${raw(name)} t ${index ? raw(`indexed by ${index}`) : sql.empty()}
    on ${hasIdIn(name, sql`t.${raw(owner)}`, sql`o.id`)}`;

/** The rows that fit a page, at least one; `last` is the last of them, if more may follow. */
function pageOf(found: Row[], limit: number): { rows: Row[]; last: Row | undefined } {
  let bytes = 0;
  const end = found.findIndex((row) => {
    bytes += bytesOf(JSON.stringify(row));
    return bytes > maxPageBytes;
  });
  const rows = end < 0 ? found : found.slice(0, Math.max(1, end));
  return {
    rows,
    last: found.length < limit && rows.length === found.length ? undefined : rows.at(-1),
  };
}

/** SQL for `with`: `owners`, the owners of the account's rows, in order, from one on. */
function ownersFrom({ name, owner }: Table, accountId: string, from = ''): SQL {
  // A webhook's deliveries all belong to one account, and outlive it.
  if (name === 'deliveries')
    return sql`recursive hooks (id) as (
        select min(webhook_id) from deliveries where webhook_id >= ${from}
        union all
        select (select min(webhook_id) from deliveries where webhook_id > hooks.id)
        from hooks where hooks.id is not null),
      owners (id) as materialized (
        select id from hooks
        where (select account_id from deliveries where webhook_id = hooks.id limit 1) = ${accountId})`;
  const parent = parents[owner];
  // Materialized, because SQLite may ignore the order otherwise.
  return parent
    ? sql`owners (id) as materialized (
        select id from ${raw(parent)} where account_id = ${accountId} and id >= ${from} order by id)`
    : sql`owners (id) as materialized (select ${accountId})`;
}

/** How many rows of an account each table has, but for those where this would scan all accounts. */
export async function countRows(
  { DB }: Pick<Env, 'DB'>,
  accountId: string,
): Promise<{ [table: string]: number }> {
  const db = openDatabase({ DB });
  const counts = tables.flatMap((table) =>
    table.isScanned
      ? []
      : [
          sql`(with ${ownersFrom(table, accountId)} select count(*) from ${ofOwners(table)})
            as ${raw(table.name)}`,
        ],
  );
  const [found] = await transaction(
    db,
    // The tables are known only at run time.
    db.all<{ [table: string]: number }>(sql`select ${sql.join(counts, sql`, `)}`),
  );
  return found ?? {};
}

const rowsPerChunk = 1000;

/** Changes those rows of a table whose keys `keys` selects, a query in parentheses. */
type RowChange = (db: Database, table: Table, keys: SQL) => Statement<D1Result>;

const deletion: RowChange = (db, { name, key }, keys) =>
  // The table is known only at run time.
  db.run(sql`delete from ${raw(name)} where (${list(key)}) in ${keys}`);

/** Deletes or changes a chunk of an account's rows, referring ones first. Returns the cursor, if any. */
export async function throughRows(
  env: Env,
  { accountId, cursor }: { accountId: string; cursor: string },
  names?: string[],
  changing = deletion,
): Promise<string | undefined> {
  const chosen = tables.filter(({ name }) => names?.includes(name) ?? true);
  type Place = { table?: number; after?: unknown[] };
  const { table: at = chosen.length - 1, after }: Place = cursor === '' ? {} : JSON.parse(cursor); // as it was written
  const table = chosen[at];
  if (!table) return undefined;
  const { owner, key, order } = table;
  const columns = [...new Set([owner, ...key, ...order])]; // others can be long
  const { rows, next } = await nextRows(env, table, accountId, after, rowsPerChunk, columns);
  const keys = jsonArrays(rows.map((row) => key.map((column) => row[column])));
  const db = openDatabase(env);
  const changes = keys.map((json) => changing(db, table, fromArrays(key.length, json)));
  if (changes.length > 0) await transaction(db, changes, { repeatable: true });
  return JSON.stringify(next ? { table: at, after: next } : { table: at - 1 });
}

/** How many bytes of rows are written at a time. */
const wantedBytes = 700_000;

/** The values as JSON arrays that fit a parameter: 2 MB in D1, twice as much locally. */
export function jsonArrays(rows: unknown[]): string[] {
  const parts: string[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const text of rows.map((row) => JSON.stringify(row))) {
    if (size + bytesOf(text) > wantedBytes) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)?.push(text);
    size += bytesOf(text) + 1;
  }
  return parts.map((part) => `[${part.join(',')}]`);
}

/** SQL for the rows of such an array, in parentheses: so many columns. */
export const fromArrays = (count: number, json: string): SQL =>
  sql`(select ${list(Array.from({ length: count }, (_, i) => `value->>${i}`))} from json_each(${json}))`;

const bytesOf = (text: string): number => new TextEncoder().encode(text).byteLength;

export const raw = (text: string): SQL => sql.raw(text);
export const list = (columns: string[]): SQL => raw(columns.join(', '));
const values = (place: unknown[]): SQL =>
  sql.join(
    place.map((value) => sql`${value}`),
    sql`, `,
  );
