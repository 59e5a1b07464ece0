import { getTableName } from 'drizzle-orm';
import { recordKinds } from '../../fleet/lists/registry.ts';
import { openDatabase, statement } from '../../platform/db/database.ts';

/**
 * How to find an account's rows in a table: by its account, connections, webhooks or people; deliveries also of
 * webhooks that are gone. `scan`: there is no index, so all rows are read.
 */
export type Way = 'account' | 'connection' | 'webhook' | 'person' | 'delivery' | 'scan';

export type Moved = {
  name: string;
  way: Way;
  columns: string[];
  key: string[];
  /** The column that finds an account's rows, and what follows it in the index. */
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

/** How to find the rows of each table that moves. Tables that others refer to come first. */
export const ways: Record<string, Way> = {
  connections: 'account',
  webhooks: 'account',
  portal_users: 'account',
  mail_rules: 'account',
  mail_feeds: 'account',
  record_mails: 'account',
  pulls: 'connection',
  connect_links: 'account',
  tokens: 'account',
  invitations: 'account',
  sessions: 'person',
  sign_in_links: 'scan',
  webhook_connections: 'connection',
  webhook_health: 'webhook',
  webhook_hours: 'webhook',
  alerts: 'webhook',
  alert_emails: 'account',
  alert_channels: 'account',
  channel_messages: 'account',
  pull_refusals: 'connection',
  ...Object.fromEntries(recordKinds.map(({ table }) => [getTableName(table), 'connection'])),
  erased_drivers: 'connection',
  archived_days: 'account',
  archived_lately: 'account',
  exports: 'account',
  notifications: 'scan',
  deliveries: 'delivery',
  fan_outs: 'scan',
  changes: 'account',
  // First, because it marks up to where events have been counted: what is counted meanwhile is counted again.
  event_counting: 'account',
  event_counts: 'account',
  event_counts_due: 'account',
  service_levels: 'account',
  audit_log: 'account',
};

/** Tables computed from others, which may change while the account moves. */
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

/** A table in the schema: the columns of its key, and of its indexes that hold all rows, in order. */
type Described = { name: string; columns: string; key: string; indexes: string };

/** All tables whose rows move, in the order of `ways`, as this home's schema has them. */
export async function movedTables(env: Pick<Env, 'DB'>): Promise<Moved[]> {
  const described = await statement<Described>(openDatabase(env))`
    select t.value as name,
      (select json_group_object(name, type) from pragma_table_info(t.value)) as columns,
      (select json_group_array(name) from (select name from pragma_table_info(t.value) where pk > 0 order by pk)) as key,
      (select json_group_object(i.name, (select json_group_array(name) from pragma_index_info(i.name)))
        from pragma_index_list(t.value) i where i.origin = 'c' and not i.partial) as indexes
    from json_each(${JSON.stringify(Object.keys(ways))}) t`;
  return described.map(moved);
}

function moved({ name, ...described }: Described): Moved {
  const way = ways[name] ?? 'scan';
  const types: Record<string, string> = JSON.parse(described.columns);
  const key: string[] = JSON.parse(described.key);
  const indexes: Record<string, string[]> = JSON.parse(described.indexes);
  const owner = way === 'scan' ? '' : owners[way];
  const byOwner = Object.entries(indexes).find(([, columns]) => columns[0] === owner);
  const [index, led] = way === 'scan' || key[0] === owner ? [undefined, key] : (byOwner ?? []);
  if (!led) throw new Error(`No index leads to the rows of ${name}`);
  const tail = [...new Set([...led, ...key])].filter((column) => column !== owner);
  return {
    name,
    way,
    columns: Object.keys(types),
    key,
    owner,
    tail: tail.map((column) => ({ column, isText: types[column]?.toLowerCase() === 'text' })),
    index,
  };
}

/** SQL for whether a row, such as `t`, belongs to the account. */
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

/** An account's id as an SQL literal. @throws Error, if it is not a UUID */
export function quoted(accountId: string): string {
  if (!/^[0-9a-f-]{36}$/.test(accountId)) throw new Error('An account has a UUID');
  return `'${accountId}'`;
}
