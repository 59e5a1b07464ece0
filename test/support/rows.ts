import { env } from 'cloudflare:workers';
import { searchKeys } from '#src/core/fleet/lists/search-keys.ts';
import { newId } from '#src/core/platform/db/ids.ts';

export const rows = async <Row = Record<string, unknown>>(query: string, ...values: unknown[]) =>
  (
    await env.DB.prepare(query)
      .bind(...values)
      .all<Row>()
  ).results;

export const value = async <T = unknown>(query: string, ...values: unknown[]) =>
  Object.values((await rows(query, ...values))[0] ?? {})[0] as T; // the query says what it is

/**
 * Adds rows to a table. A column that must hold something holds what `usual` says, an id of its own
 * if it is called so, or else nothing: an empty list or 0.
 */
export async function addRows(
  table: string,
  count: number,
  row: (i: number) => Record<string, unknown>,
  { usual = {}, db = env.DB }: { usual?: Record<string, unknown>; db?: D1Database } = {},
) {
  const columns = await pragma<Column>('table_info', table);
  const required = columns.filter(
    ({ notnull, pk, dflt_value }) => (notnull || pk) && dflt_value === null,
  );
  const nothing = ({ name, type }: Column) =>
    usual[name] ?? (type !== 'TEXT' ? 0 : /(?:^|_)id$/.test(name) ? newId() : '[]');
  const isFound = required.some(({ name }) => name === 'search_keys');
  const added = Array.from({ length: count }, (_, i) => {
    const given = row(i);
    return {
      ...Object.fromEntries(required.map((column) => [column.name, nothing(column)])),
      ...(isFound && { search_keys: JSON.stringify(searchKeys(String(given.name))) }),
      ...given,
    };
  });
  const names = Object.keys(added[0] ?? {});
  for (let at = 0; at < count; at += rowsAtOnce)
    await db
      .prepare(
        `insert into ${table} (${names}) select ${names.map((name) => `value->>'${name}'`)} from json_each(?1)`,
      )
      .bind(JSON.stringify(added.slice(at, at + rowsAtOnce)))
      .run();
}

const rowsAtOnce = 2000;

/** Adds webhooks for everything, each with a receiver. Returns their ids, the oldest first. */
export async function addWebhooks(accountId: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId());
  await addRows('webhooks', count, (i) => ({
    id: ids[i],
    account_id: accountId,
    url: `https://r${i + 1}.example.com/`,
    normalised_url: ids[i],
    http_verb: 'POST',
    headers: '{}',
    notification_types: 3,
    created_at: i,
  }));
  return ids;
}

/** The names of all tables of a database, in order. */
export const tableNames = async (db = env.DB): Promise<string[]> =>
  (
    await db
      .prepare(
        `select name from sqlite_master where type = 'table' and name not like '\\_cf%' escape '\\'
           and name not like 'd1\\_%' escape '\\' and name not like 'sqlite\\_%' escape '\\' order by name`,
      )
      .all<{ name: string }>()
  ).results.map(({ name }) => name);

/** The rows of an account by table, in the order of their keys. */
export type AccountRows = Record<string, Record<string, unknown>[]>;

/**
 * Every row that belongs to an account, in every table of the database. A table belongs to accounts by its
 * `account_id`, or by a foreign key to a table that does.
 *
 * @throws Error: a table leads to no account, so that nobody can say whose its rows are
 */
export async function rowsOf(accountId: string, db = env.DB): Promise<AccountRows> {
  const found: AccountRows = {};
  for (const table of (await tableNames()).filter((name) => !ofTheService.includes(name))) {
    const condition = await ownership(table);
    if (!condition) throw new Error(`table ${table} leads to no account`);
    const { results } = await db
      .prepare(`select * from ${table} where ${condition}`)
      .bind(accountId)
      .all<Record<string, unknown>>();
    found[table] = results;
  }
  return found;
}

const ofTheService = ['sweeps', 'jobs', 'database_sizes', 'test_calls'];

/** Conditions that have been found: a walk of the schema is many queries. */
const conditions = new Map<string, Promise<string | undefined>>();

/** The condition that a row of `table` is of account `?1`; undefined if the schema does not say. */
function ownership(table: string): Promise<string | undefined> {
  const found = conditions.get(table) ?? findOwnership(table);
  conditions.set(table, found);
  return found;
}

async function findOwnership(table: string): Promise<string | undefined> {
  if (table === 'accounts') return 'id = ?1';
  const columns = await pragma<{ name: string }>('table_info', table);
  if (columns.some(({ name }) => name === 'account_id')) return 'account_id = ?1';
  for (const key of await pragma<ForeignKey>('foreign_key_list', table)) {
    const parent = await ownership(key.table);
    if (parent) return `${key.from} in (select ${key.to} from ${key.table} where ${parent})`;
  }
  return undefined;
}

type ForeignKey = { table: string; from: string; to: string };
type Column = {
  name: string;
  type: string;
  notnull: number;
  pk: number;
  dflt_value: string | null;
};

const pragma = async <Row>(
  name: 'table_info' | 'foreign_key_list',
  table: string,
): Promise<Row[]> =>
  (await env.DB.prepare(`select * from pragma_${name}(?1)`).bind(table).all<Row>()).results;
