import { type SQL, sql } from 'drizzle-orm';
import { read, transaction, write } from '../../platform/db/database.ts';
import { leadsIn } from '../../platform/db/leads.ts';
import { openDatabase } from '../../platform/db/system.ts';

/** A table whose rows move. */
export type Moved = {
  name: string;
  columns: string[];
  key: string[];
  owner: Owner;
  /** What finds an account's rows: the key, another index, or a scan. */
  by: 'key' | 'scan' | { index: string };
  /** What follows the owner there. */
  tail: { column: string; isText: boolean }[];
};

/** The columns that lead to an account, the most direct first. */
const owners = ['account_id', 'connection_id', 'webhook_id', 'user_id'] as const;
type Owner = (typeof owners)[number];

/** The tables whose ids are owners, and that have an `account_id`. */
const parents: { [owner in Owner]?: string } = {
  connection_id: 'connections',
  webhook_id: 'webhooks',
  user_id: 'portal_users',
};

/** Tables without rows of accounts, or whose rows others write: a deletion's steps, or triggers. */
const staying = [
  ...['accounts', 'names', 'deletions', 'moves'],
  ...['sweeps', 'jobs', 'database_sizes', 'test_calls', 'd1_migrations'],
];

/** Others refer to these, which therefore come first. */
const first = ['connections', 'webhooks', 'portal_users', 'pulls'];

/** Copied events mark their hours as due, so that these come last. */
const last = ['event_counting', 'event_counts', 'event_counts_due'];

/** Tables computed from others, which may change while the account moves. */
export const derived = [...last, 'service_levels'];

/**
 * A table in the schema: the columns of its key, and of its indexes that hold all rows, in order. An index by the end
 * of an id is named after its column.
 */
type Described = { name: string; columns: string; key: string; indexes: string };

/** All tables whose rows move, in the order in which they are copied, as the schema has them. */
export async function movedTables(env: Pick<Env, 'DB'>): Promise<Moved[]> {
  const described = await read<Described>(openDatabase(env))`
    select t.name,
      (select json_group_object(name, type) from pragma_table_info(t.name)) as columns,
      (select json_group_array(name) from (select name from pragma_table_info(t.name) where pk > 0 order by pk)) as key,
      (select json_group_object(i.name, (select json_group_array(
          coalesce(name, substr(i.name, instr(i.name, '_by_') + 4) || '_id')) from pragma_index_info(i.name)))
        from pragma_index_list(t.name) i where i.origin = 'c' and not i.partial) as indexes
    from sqlite_master t
    where t.type = 'table' and t.name not glob '_cf_*' and t.name not glob 'sqlite_*'
      and t.name not in (select value from json_each(${JSON.stringify(staying)}))
    order by t.name`;
  const rank = ({ name }: Described) =>
    first.includes(name) ? first.indexOf(name) : last.includes(name) ? 9 : 8;
  return described.toSorted((a, b) => rank(a) - rank(b)).map(moved);
}

/** @throws Error, if the table leads to no account */
function moved({ name, ...described }: Described): Moved {
  const types: Record<string, string> = JSON.parse(described.columns);
  const key: string[] = JSON.parse(described.key);
  const indexes = Object.entries<string[]>(JSON.parse(described.indexes));
  const leading = (owner: string) => indexes.find(([, columns]) => columns[0] === owner);
  const found = owners.find((one) => key[0] === one || leading(one));
  const owner = found ?? owners.find((one) => one in types);
  if (!owner) throw new Error(`${name} leads to no account`);
  const [index, led = key] = key[0] === owner ? [] : (leading(owner) ?? []);
  const tail = [...new Set([...led, ...key])].filter((column) => column !== owner);
  return {
    ...{ name, columns: Object.keys(types), key, owner },
    by: index ? { index } : found ? 'key' : 'scan',
    tail: tail.map((column) => ({ column, isText: types[column]?.toLowerCase() === 'text' })),
  };
}

export type MovedRow = Record<string, string | number | null>;

/** How many rows of all accounts a page scans, in tables without an index for this. */
const scanned = 5_000;

/** How many bytes of rows a page has at most: its request is held in memory. */
const maxPageBytes = 8_000_000;

/** Reads the account's next rows of a table; `next` is the row after which they go on, if so. */
export async function nextRows(
  { DB }: Pick<Env, 'DB'>,
  table: Moved,
  accountId: string,
  after: unknown[] | null | undefined,
  limit: number,
): Promise<{ rows: MovedRow[]; next: unknown[] | undefined }> {
  const db = openDatabase({ DB });
  const { name, key, owner, by, tail } = table;
  const columns = raw(table.columns.map((column) => `t.${column}`).join(', '));
  const placeOf = (row: MovedRow | undefined, at: string[]) => row && at.map((column) => row[column]);
  if (by === 'scan') {
    const from = after ? sql`where (${list(key)}) > (${values(after)})` : sql.empty();
    const part = sql`select * from ${raw(name)} ${from} order by ${list(key)} limit ${scanned}`;
    const { found, ends } = await transaction(db, {
      found: read<MovedRow>(db)`
        ${ownersFrom(table, accountId)}
        select ${columns} from (${part}) t where t.${raw(owner)} in (select id from owners)
        order by ${list(key)} limit ${limit}`,
      ends: read<MovedRow>(db)`select ${list(key)} from (${part}) limit 1 offset ${scanned - 1}`,
    });
    const { rows, last } = pageOf(found, limit);
    return { rows, next: placeOf(last ?? ends[0], key) };
  }
  const [from, ...rest] = after ?? [];
  const found = await read<MovedRow>(db)`
    ${ownersFrom(table, accountId, after ? String(from) : '')}
    select ${columns} from ${ofOwners(table)}
    where ${further(table, from, rest)} limit ${limit}`;
  const { rows, last } = pageOf(found, limit);
  return { rows, next: placeOf(last, [owner, ...tail.map(({ column }) => column)]) };
}

/** `owners` with their rows of a table that need no scan. */
const ofOwners = ({ name, owner, by }: Moved): SQL => sql`owners o
  cross join ${raw(name)} t ${typeof by === 'string' ? sql.empty() : raw(`indexed by ${by.index}`)}
    on ${leadsIn(name, sql`t.${raw(owner)}`, sql`o.id`)}`;

/** The rows that fit a page, at least one; `last` is the last of them, if more may follow. */
function pageOf(found: MovedRow[], limit: number): { rows: MovedRow[]; last: MovedRow | undefined } {
  let bytes = 0;
  const end = found.findIndex((row) => {
    bytes += bytesOf(JSON.stringify(row));
    return bytes > maxPageBytes;
  });
  const rows = end < 0 ? found : found.slice(0, Math.max(1, end));
  return { rows, last: found.length < limit && rows.length === found.length ? undefined : rows.at(-1) };
}

/** Whether a row comes after a key, or is of a later owner. */
function further({ tail }: Moved, owner: unknown, after: unknown[]): SQL {
  if (owner === undefined) return sql`true`;
  if (tail.length === 0) return sql`o.id > ${owner}`;
  const bounds = tail.map(
    ({ isText }, at) => sql`iif(o.id = ${owner}, ${after[at]}, ${isText ? sql`''` : sql`-9e15`})`,
  );
  return sql`(${list(tail.map(({ column }) => `t.${column}`))}) > (${sql.join(bounds, sql`, `)})`;
}

/** `owners`: the owners of the account's rows, in order, from one on. */
function ownersFrom({ name, owner }: Moved, accountId: string, from = ''): SQL {
  // A webhook's deliveries all belong to one account, and outlive it.
  if (name === 'deliveries')
    return sql`with recursive hooks (id) as (
        select min(webhook_id) from deliveries where webhook_id >= ${from}
        union all
        select (select min(webhook_id) from deliveries where webhook_id > hooks.id)
        from hooks where hooks.id is not null),
      owners (id) as (
        select id from hooks
        where (select account_id from deliveries where webhook_id = hooks.id limit 1) = ${accountId})`;
  const parent = parents[owner];
  return parent
    ? sql`with owners (id) as (
        select id from ${raw(parent)} where account_id = ${accountId} and id >= ${from} order by id)`
    : sql`with owners (id) as (select ${accountId})`;
}

/** SQL that counts an account's rows in a table; undefined where that would scan those of all accounts. */
export const countOf = (table: Moved, accountId: string): SQL | undefined =>
  table.by === 'scan'
    ? undefined
    : sql`(${ownersFrom(table, accountId)} select count(*) from ${ofOwners(table)})`;

const rowsPerChunk = 1000;

/** SQL that changes those rows of a table whose keys the query `keys` selects. */
export type RowChange = (table: Moved, keys: SQL) => SQL;

const deletion: RowChange = ({ name, key }, keys) =>
  sql`delete from ${raw(name)} where (${list(key)}) in (${keys})`;

/** Deletes or changes a chunk of an account's rows, referring ones first. Returns the cursor, if any. */
export async function throughRows(
  env: Env,
  { accountId, cursor }: { accountId: string; cursor: string },
  names?: string[],
  changing = deletion,
): Promise<string | undefined> {
  const tables = (await movedTables(env)).filter(({ name }) => names?.includes(name) ?? true);
  type Place = { table?: number; after?: unknown[] };
  const { table: at = tables.length - 1, after }: Place = cursor === '' ? {} : JSON.parse(cursor); // as it was written
  const table = tables[at];
  if (!table) return undefined;
  const { owner, key, tail } = table;
  const columns = [...new Set([owner, ...key, ...tail.map(({ column }) => column)])]; // others can be long
  const { rows, next } = await nextRows(env, { ...table, columns }, accountId, after, rowsPerChunk);
  const keys = jsonArrays(rows.map((row) => key.map((column) => row[column])));
  const db = openDatabase(env);
  const changes = keys.map((json) => write(db)`${changing(table, fromArrays(key, json))}`);
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

/** Selects the values of such an array, which has these columns: all, or those that are wanted. */
export const fromArrays = (columns: string[], json: string, wanted = columns): SQL =>
  sql`select ${list(wanted.map((one) => `value->>${columns.indexOf(one)}`))} from json_each(${json}) where true`;

const bytesOf = (text: string): number => new TextEncoder().encode(text).byteLength;

export const raw = (text: string): SQL => sql.raw(text);
export const list = (columns: string[]): SQL => raw(columns.join(', '));
const values = (place: unknown[]): SQL =>
  sql.join(
    place.map((value) => sql`${value}`),
    sql`, `,
  );
