import { env } from 'cloudflare:workers';
import { added } from './added.ts';
import { columnsOf, rows, tableNames } from './rows.ts';

/** The rows of an account by table, in the order of their keys. */
export type AccountRows = Record<string, Record<string, unknown>[]>;

/**
 * Every row that belongs to an account, in every table of the database. A table belongs to accounts by its
 * `account_id`, or by a foreign key to a table that does.
 *
 * @throws Error: a table leads to no account, so that nobody can say whose its rows are
 */
export async function rowsOf(accountId: string, db = env.DB): Promise<AccountRows> {
  const tables = (await tableNames()).filter((name) => !ofTheService.includes(name));
  const conditions = await Promise.all(tables.map(ownership));
  const read = await db.batch<Record<string, unknown>>(
    tables.map((table, i) => {
      if (!conditions[i]) throw new Error(`table ${table} leads to no account`);
      return db.prepare(`select * from ${table} where ${conditions[i]}`).bind(accountId);
    }),
  );
  return Object.fromEntries(tables.map((table, i) => [table, read[i]?.results ?? []]));
}

const ofTheService = [
  ...['sweeps', 'jobs', 'database_sizes'],
  ...added.flatMap((one) => one.ofTheService ?? []),
];

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
  const columns = await columnsOf(table);
  if (columns.some(({ name }) => name === 'account_id')) return 'account_id = ?1';
  const keys = 'select * from pragma_foreign_key_list(?1)';
  for (const key of await rows<ForeignKey>(keys, table)) {
    const parent = await ownership(key.table);
    if (parent) return `${key.from} in (select ${key.to} from ${key.table} where ${parent})`;
  }
  return undefined;
}

type ForeignKey = { table: string; from: string; to: string };
