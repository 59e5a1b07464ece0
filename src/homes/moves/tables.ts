import { getTableName } from 'drizzle-orm';
import { recordKinds } from '../../fleet/lists/registry.ts';
import { openDatabase, statement } from '../../platform/db/database.ts';

export type Moved = {
  name: string;
  columns: string[];
  key: string[];
  /** The column that finds an account's rows; undefined if no index leads to them, so that all rows are scanned. */
  owner: Owner | undefined;
  /** What follows the owner in the index. */
  tail: { column: string; isText: boolean }[];
  index: string | undefined;
};

/** The columns that lead to an account, the most direct first. */
const owners = ['account_id', 'connection_id', 'webhook_id', 'user_id'] as const;
export type Owner = (typeof owners)[number];

/** The tables whose rows move. Tables that others refer to come first. */
export const movedNames: string[] = [
  'connections',
  'webhooks',
  'portal_users',
  'mail_rules',
  'mail_feeds',
  'record_mails',
  'pulls',
  'connect_links',
  'tokens',
  'invitations',
  'sessions',
  'sign_in_links',
  'webhook_connections',
  'webhook_health',
  'webhook_hours',
  'alert_emails',
  'alert_channels',
  'alert_messages',
  'pull_refusals',
  ...recordKinds.map(({ table }) => getTableName(table)),
  'erased_drivers',
  'archived_days',
  'archived_lately',
  'exports',
  'notifications',
  'deliveries',
  'fan_outs',
  'changes',
  // First, because it marks up to where events have been counted: what is counted meanwhile is counted again.
  'event_counting',
  'event_counts',
  'event_counts_due',
  'service_levels',
  'audit_log',
];

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

/** All tables whose rows move, in the order of `movedNames`, as this home's schema has them. */
export async function movedTables(env: Pick<Env, 'DB'>): Promise<Moved[]> {
  const described = await statement<Described>(openDatabase(env))`
    select t.value as name,
      (select json_group_object(name, type) from pragma_table_info(t.value)) as columns,
      (select json_group_array(name) from (select name from pragma_table_info(t.value) where pk > 0 order by pk)) as key,
      (select json_group_object(i.name, (select json_group_array(name) from pragma_index_info(i.name)))
        from pragma_index_list(t.value) i where i.origin = 'c' and not i.partial) as indexes
    from json_each(${JSON.stringify(movedNames)}) t`;
  return described.map(moved);
}

function moved({ name, ...described }: Described): Moved {
  const types: Record<string, string> = JSON.parse(described.columns);
  const key: string[] = JSON.parse(described.key);
  const indexes: Record<string, string[]> = JSON.parse(described.indexes);
  const leading = (owner: string) => Object.entries(indexes).find(([, columns]) => columns[0] === owner);
  const owner = owners.find((one) => key[0] === one || leading(one));
  const [index, led = key] = owner && key[0] !== owner ? (leading(owner) ?? []) : [];
  const tail = [...new Set([...led, ...key])].filter((column) => column !== owner);
  return {
    name,
    columns: Object.keys(types),
    key,
    owner,
    tail: tail.map((column) => ({ column, isText: types[column]?.toLowerCase() === 'text' })),
    index,
  };
}

/** The tables whose ids are owners, and that have an `account_id`. */
export const parents: { [owner in Owner]?: string } = {
  connection_id: 'connections',
  webhook_id: 'webhooks',
  user_id: 'portal_users',
};

/** SQL for whether a row, such as `t`, belongs to the account. @throws Error, if the table leads to no account */
export function isOf({ name, columns }: Moved, row: string, accountId: string): string {
  const owner = owners.find((one) => columns.includes(one));
  if (!owner) throw new Error(`${name} leads to no account`);
  const parent = parents[owner];
  return parent
    ? `exists (select 1 from ${parent} p where p.id = ${row}.${owner} and p.account_id = ${accountId})`
    : `${row}.account_id = ${accountId}`;
}

/** An account's id as an SQL literal. @throws Error, if it is not a UUID */
export function quoted(accountId: string): string {
  if (!/^[0-9a-f-]{36}$/.test(accountId)) throw new Error('An account has a UUID');
  return `'${accountId}'`;
}
