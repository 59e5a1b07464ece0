import { getTableConfig, type SQLiteTable } from 'drizzle-orm/sqlite-core';
import { recordKinds } from '../../fleet/lists/registry.ts';
import * as tables from '../../platform/db/tables.ts';

/**
 * How the rows of an account are found in a table: by the account, or by its connections, webhooks or people. Those of
 * webhooks that are gone have deliveries as well. To some no index leads, and all rows are looked through.
 */
export type Way = 'account' | 'connection' | 'webhook' | 'person' | 'delivery' | 'scan';

/** A table whose rows move with their account. */
export type Moved = {
  name: string;
  way: Way;
  columns: string[];
  /** The primary key. */
  key: string[];
  /** The column by which an account's rows are found, and what follows it in the index that leads to them. */
  owner: string;
  tail: { column: string; isText: boolean }[];
  index: string | undefined;
};

const owners = {
  account: 'account_id',
  connection: 'connection_id',
  webhook: 'webhook_id',
  person: 'user_id',
  delivery: 'webhook_id',
} satisfies Record<Exclude<Way, 'scan'>, string>;

const kept = recordKinds.flatMap((resource) => ('table' in resource ? [resource.table] : []));

/** All tables whose rows move, those that others refer to first. */
export const movedTables: Moved[] = [
  moved(tables.connections, 'account'),
  moved(tables.webhooks, 'account'),
  moved(tables.portalUsers, 'account'),
  moved(tables.mailRules, 'account'),
  moved(tables.mailFeeds, 'account'),
  moved(tables.recordMails, 'account'),
  moved(tables.pulls, 'connection'),
  moved(tables.tokens, 'account'),
  moved(tables.invitations, 'account'),
  moved(tables.sessions, 'person'),
  moved(tables.signInLinks, 'scan'),
  moved(tables.webhookConnections, 'connection'),
  moved(tables.webhookHealth, 'webhook'),
  moved(tables.webhookHours, 'webhook'),
  moved(tables.alerts, 'webhook'),
  moved(tables.alertEmails, 'account'),
  moved(tables.alertChannels, 'account'),
  moved(tables.channelMessages, 'account'),
  moved(tables.pullRefusals, 'connection'),
  ...kept.map((table) => moved(table, 'connection')),
  moved(tables.erasedDrivers, 'connection'),
  moved(tables.archivedDays, 'account'),
  moved(tables.archivedLately, 'account'),
  moved(tables.notifications, 'scan'),
  moved(tables.deliveries, 'delivery'),
  moved(tables.fanOuts, 'scan'),
  moved(tables.changes, 'account'),
  // First up to when events have been counted: what is counted meanwhile is counted again.
  moved(tables.eventCounting, 'account'),
  moved(tables.eventCounts, 'account'),
  moved(tables.eventCountsDue, 'account'),
  moved(tables.serviceLevels, 'account'),
  moved(tables.auditLog, 'account'),
];

/** Tables whose rows are counted from others, and may be while the account moves. */
export const derived = ['event_counting', 'event_counts', 'event_counts_due', 'service_levels'];

/** Tables whose rows stay, and why. */
export const stayingTables: Record<string, string> = {
  accounts: 'written by the steps of a move themselves',
  names: 'triggers derive them from vehicles and drivers',
  deletions: 'nothing moves of which something is being deleted',
  sweeps: "the home's own",
  jobs: "the home's own",
  database_sizes: "the home's own",
  test_calls: "the home's own",
  moves: 'the move itself',
};

function moved(table: SQLiteTable, way: Way): Moved {
  const { name, columns, primaryKeys, indexes } = getTableConfig(table);
  const own = columns.flatMap((column) => (column.primary ? [column.name] : []));
  const key = own.length > 0 ? own : (primaryKeys[0]?.columns ?? []).map((column) => column.name);
  const owner = way === 'scan' ? '' : owners[way];
  const isText = (wanted: string) =>
    columns.find((column) => column.name === wanted)?.getSQLType() === 'text';
  const named = indexes.map(({ config }) => ({
    index: config.name,
    columns: config.columns.flatMap((column) => ('name' in column ? [String(column.name)] : [])),
  }));
  const byOwner = named.find((one) => one.columns[0] === owner);
  const led = way === 'scan' || key[0] === owner ? { columns: key, index: undefined } : byOwner;
  if (!led) throw new Error(`No index leads to the rows of ${name}`);
  const tail = [...new Set([...led.columns, ...key])].filter((column) => column !== owner);
  return {
    name,
    way,
    columns: columns.map((column) => column.name),
    key,
    owner,
    tail: tail.map((column) => ({ column, isText: isText(column) })),
    index: led.index,
  };
}

/** SQL for whether a row, such as `t`, is the account's. The account's id is quoted. */
export function isOf({ columns }: Moved, row: string, accountId: string): string {
  if (columns.includes('account_id')) return `${row}.account_id = ${accountId}`;
  const [column = '', parent] = parentOf(columns);
  return `exists (select 1 from ${parent} p where p.id = ${row}.${column} and p.account_id = ${accountId})`;
}

function parentOf(columns: string[]): [string, string] {
  if (columns.includes('webhook_id')) return ['webhook_id', 'webhooks'];
  if (columns.includes('user_id')) return ['user_id', 'portal_users'];
  if (columns.includes('connection_id')) return ['connection_id', 'connections'];
  throw new Error('A table leads to no account');
}

/** An account's id as it stands in SQL. @throws Error, for what is no UUID */
export function quoted(accountId: string): string {
  if (!/^[0-9a-f-]{36}$/.test(accountId)) throw new Error('An account has a UUID');
  return `'${accountId}'`;
}
