import { type Column, columnsOf, rows, tableNames, value } from './rows.ts';

/** Others refer to these. */
const first = ['accounts', 'connections', 'webhooks', 'portal_users', 'pulls', 'accidents'];

/** Those without rows of accounts, those that triggers fill, and those of work under way: usually they are empty. */
const without = [
  ...['sweeps', 'jobs', 'database_sizes', 'test_calls', 'dry_runs'],
  ...['names', 'event_counting', 'moves', 'fan_outs', 'event_counts_due'],
];

/** Long after whatever a test does. */
const later = Date.now() + 10 * 365 * 86_400_000;

/** What a row holds where it matters, as SQL: there is nothing to do for any of them. */
const special: Record<string, string> = {
  'accounts.status': "'active'",
  'audit_log.action': "'changed'",
  'audit_log.subject': "'webhook'",
  'tokens.scope': "'ingest'",
  'deliveries.status': "'delivered'",
  'mail_feeds.seen': `${2 * later}`,
  'webhook_hours.failed': '0',
  'evidence.state': "'stored'",
};

/** The id of the `i`th row of each table, which rows of other tables refer to. */
const idIn = (account: number, i: string) =>
  `format('${account}0000000-0000-7000-8000-%012x', ${i})`;

/** SQL for the value of a column in the `i`th row of an account; undefined if the table gives it one. */
function contentOf(account: number, table: string, column: Column, definition: string) {
  const { name, type, notnull, pk, dflt_value } = column;
  const known = special[`${table}.${name}`];
  if (known) return known;
  if (name === 'account_id') return idIn(account, '0');
  // A webhook has many deliveries.
  if (table === 'deliveries' && name === 'webhook_id') return idIn(account, 'i % 10');
  if (name === 'id' || name.endsWith('_id')) return idIn(account, 'i');
  if (pk === 0 && (!notnull || dflt_value !== null)) return undefined;
  if (name === 'search_keys') return `json_array('name ' || i)`;
  const [, choice, least] =
    new RegExp(`check \\(${name} (?:in \\(([^,)]+)|between (\\d+))`).exec(definition) ?? [];
  if (choice ?? least) return choice ?? least;
  if (definition.includes(`json_valid(${name})`)) return "'[]'";
  return type === 'TEXT' ? `'${account} ' || i` : `${later} + i`;
}

/** The tables that have rows of accounts, those to which others refer first. */
export const filledTables = async () =>
  [...new Set([...first, ...(await tableNames())])].filter((name) => !without.includes(name));

/** What a table's columns hold in the `i`th row of an account, which has a number from 1 to 9, as SQL. */
async function valuesOf(table: string, account: number) {
  const sql = await value<string>('select sql from sqlite_master where name = ?1', table);
  return (await columnsOf(table)).flatMap((column) => {
    const value = contentOf(account, table, column, sql);
    return value === undefined ? [] : [{ ...column, value }];
  });
}

/** SQL that adds so many rows of an account to a table, or the one that an account can have. */
export async function filling(table: string, account: number, most: number): Promise<string> {
  const values = await valuesOf(table, account);
  const key = values.flatMap(({ name, pk }) => (pk > 0 ? [name] : []));
  const count = key.join() === 'account_id' ? 1 : most;
  return `insert into ${table} (${values.map(({ name }) => name)})
    with recursive n (i) as (select 0 union all select i + 1 from n where i < ${count - 1})
    select ${values.map(({ value }) => value).join(', ')} from n`;
}

/** SQL for the condition that a row is the first that `filling` adds. */
export async function isFirstOf(table: string, account: number): Promise<string> {
  const key = (await valuesOf(table, account)).filter(({ pk }) => pk > 0);
  return key.map(({ name, value }) => `${name} = ${value.replace(/\bi\b/g, '0')}`).join(' and ');
}

/** Gives another account 20,000 rows in every table, beside which nothing may read more than alone. */
export async function addNeighbour(): Promise<void> {
  for (const table of await filledTables()) await rows(await filling(table, 1, 20_000));
  // So that its events are not to be counted.
  await rows('delete from event_counts_due');
  await rows(`update event_counting set counted_to = ${later} where account_id like '1%'`);
}
