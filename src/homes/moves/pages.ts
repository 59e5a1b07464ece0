import { type SQL, sql } from 'drizzle-orm';
import { type Database, statement } from '../../platform/db/database.ts';
import { isOf, type Moved, type Owner, parents, quoted } from './tables.ts';

export type MovedRow = Record<string, unknown>;

/** The key columns of the row after which a page continues. */
export type RowKey = unknown[];

/** How many rows of all accounts a page scans, in tables without an index for this. */
export const looked = 5_000;

/**
 * The statements that read the account's next rows of a table by index. For tables that must be scanned, the second one
 * returns where the scan ended.
 */
export function pageStatements(
  db: Database,
  table: Moved,
  accountId: string,
  after: RowKey | undefined,
  limit: number,
) {
  const { owner } = table;
  if (owner)
    return [
      statement<MovedRow>(db)`${seek({ ...table, owner }, accountId, after, limit)}`,
      statement<MovedRow>(db)`select 0`,
    ] as const;
  const key = list(table.key);
  const from = after ? sql`where (${key}) > (${values(after)})` : sql.empty();
  const part = sql`select * from ${raw(table.name)} ${from} order by ${key} limit ${looked}`;
  return [
    statement<MovedRow>(db)`
      select ${list(table.columns)} from (${part}) t where ${raw(isOf(table, 't', quoted(accountId)))}`,
    statement<MovedRow>(db)`select ${key} from (${part}) limit 1 offset ${looked - 1}`,
  ] as const;
}

/** Where the next page begins; undefined if there is none. */
export function nextKey(
  table: Moved,
  limit: number,
  rows: MovedRow[],
  [end]: MovedRow[],
): RowKey | undefined {
  const { owner } = table;
  if (!owner) return end && table.key.map((column) => end[column]);
  const last = rows.at(-1);
  if (!last || rows.length < limit) return undefined;
  return [last[owner], ...table.tail.map(({ column }) => last[column])];
}

/** A table with an index that leads to an account's rows. */
type Sought = Moved & { owner: Owner };

function seek(table: Sought, accountId: string, after: RowKey | undefined, limit: number): SQL {
  const [owner, ...tail] = after ?? [];
  const columns = raw(table.columns.map((column) => `t.${column}`).join(', '));
  return sql`
    ${ownersFrom(table, accountId, after && String(owner))}
    select ${columns} from ${found(table)} where ${further(table, owner, tail)} limit ${limit}`;
}

const found = ({ name, owner, index }: Sought): SQL =>
  sql`owners o cross join ${raw(name)} t ${index ? raw(`indexed by ${index}`) : sql.empty()}
    on t.${raw(owner)} = o.id`;

/** Whether a row comes after a key: rows of the first owner from there on, and all rows of the others. */
function further({ tail }: Moved, owner: unknown, after: unknown[]): SQL {
  if (owner === undefined) return sql`true`;
  if (tail.length === 0) return sql`o.id > ${owner}`;
  const columns = raw(tail.map(({ column }) => `t.${column}`).join(', '));
  const bounds = tail.map(
    ({ isText }, at) => sql`iif(o.id = ${owner}, ${after[at]}, ${isText ? sql`''` : sql`-9e15`})`,
  );
  return sql`(${columns}) > (${sql.join(bounds, sql`, `)})`;
}

/** `owners`: the owners of the account's rows, in order, from one on. */
function ownersFrom({ name, owner }: Sought, accountId: string, from = ''): SQL {
  const account = raw(quoted(accountId));
  // A webhook's deliveries all belong to one account, and outlive it.
  if (name === 'deliveries')
    return sql`with recursive hooks (id) as (
        select min(webhook_id) from deliveries where webhook_id >= ${from}
        union all
        select (select min(webhook_id) from deliveries where webhook_id > hooks.id)
        from hooks where hooks.id is not null),
      owners (id) as (
        select id from hooks
        where (select account_id from deliveries where webhook_id = hooks.id limit 1) = ${account})`;
  const parent = parents[owner];
  return parent
    ? sql`with owners (id) as (
        select id from ${raw(parent)} where account_id = ${account} and id >= ${from} order by id)`
    : sql`with owners (id) as (select ${account})`;
}

/** SQL that counts an account's rows in a table; undefined where that would take a scan. */
export function countOf(table: Moved, accountId: string): SQL | undefined {
  if (table.name === 'notifications') return undefined;
  const { owner } = table;
  if (!owner)
    return sql`(select count(*) from ${raw(table.name)} t where ${raw(isOf(table, 't', quoted(accountId)))})`;
  const sought = { ...table, owner };
  return sql`(${ownersFrom(sought, accountId)} select count(*) from ${found(sought)})`;
}

export const raw = (text: string): SQL => sql.raw(text);
const list = (columns: string[]): SQL => raw(columns.join(', '));
const values = (place: RowKey): SQL =>
  sql.join(
    place.map((value) => sql`${value}`),
    sql`, `,
  );
