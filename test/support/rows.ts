import { env } from 'cloudflare:workers';
import { searchKeys } from '#src/core/fleet/lists/search-keys.ts';
import { newId } from '#src/core/platform/db/ids.ts';
import { openDatabase } from '#src/core/platform/db/system.ts';
import { times } from './records.ts';

/** The database, for statements of the service. */
export const db = openDatabase(env);

export async function rows<Row = Record<string, unknown>>(query: string, ...values: unknown[]) {
  const statement = env.DB.prepare(query).bind(...values);
  return (await statement.all<Row>()).results;
}

export const value = async <T = unknown>(query: string, ...values: unknown[]) =>
  Object.values((await rows(query, ...values))[0] ?? {})[0] as T; // the query says what it is

/** The rows of a table that an account has, in the order of its key. */
export const ownRows = ({ accountId }: { accountId: string }, table: string) =>
  rows(`select * from ${table} where account_id = ?1`, accountId);

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
  const required = (await columnsOf(table)).filter(
    ({ notnull, pk, dflt_value }) => (notnull || pk) && dflt_value === null,
  );
  const nothing = ({ name, type }: Column) =>
    usual[name] ?? (type !== 'TEXT' ? 0 : /(?:^|_)id$/.test(name) ? newId() : '[]');
  const isFound = required.some(({ name }) => name === 'search_keys');
  const added = times(count, (i) => {
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

/** The same of one row. */
export const addRow = (table: string, row: object, options?: Parameters<typeof addRows>[3]) =>
  addRows(table, 1, () => ({ ...row }), options);

/** Adds webhooks for everything, each with a receiver. Returns their ids, the oldest first. */
export async function addWebhooks(accountId: string, count: number): Promise<string[]> {
  const ids = times(count, () => newId());
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

export type Column = {
  name: string;
  type: string;
  notnull: number;
  pk: number;
  dflt_value: string | null;
};

export const columnsOf = (table: string) =>
  rows<Column>('select * from pragma_table_info(?1)', table);
