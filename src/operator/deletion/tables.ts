/** A table with rows of accounts. */
export type Table = {
  name: string;
  /** The columns of its key. */
  key: string[];
  /** The column that leads to the account: its own id, or that of a connection, webhook or user of it. */
  owner: 'account_id' | 'connection_id' | 'webhook_id' | 'user_id';
  /** What finds an owner's rows: an index that begins with the owner, or a scan; by default the key. */
  index?: string;
  isScanned?: true;
  /** What follows the owner there, so that a page can begin after any row; of a scan, the key. */
  order: string[];
};

/**
 * Every table whose rows move with an account, and are deleted with it in the opposite order: rows
 * come after those that they refer to. Elsewhere are `accounts`, `deletions` and `moves`, which the
 * last step writes, and `names`, which triggers keep.
 */
export const tables: Table[] = [
  {
    name: 'connections',
    key: ['id'],
    owner: 'account_id',
    index: 'connections_by_account',
    order: ['created_at', 'id'],
  },
  { name: 'webhooks', key: ['id'], owner: 'account_id', index: 'webhooks_by_id', order: ['id'] },
  {
    name: 'portal_users',
    key: ['id'],
    owner: 'account_id',
    index: 'portal_users_by_account',
    order: ['created_at', 'id'],
  },
  {
    name: 'pulls',
    key: ['connection_id'],
    owner: 'account_id',
    index: 'pulls_by_credential',
    order: ['credential_hash', 'connection_id'],
  },
  {
    name: 'accidents',
    key: ['id'],
    owner: 'account_id',
    index: 'accidents_by_account',
    order: ['event_time', 'id'],
  },
  {
    name: 'alert_channels',
    key: ['id'],
    owner: 'account_id',
    index: 'alert_channels_by_account',
    order: ['created_at', 'id'],
  },
  {
    name: 'alert_messages',
    key: ['account_id', 'recipient_id', 'kind'],
    owner: 'account_id',
    order: ['recipient_id', 'kind'],
  },
  { name: 'alerts_sent', key: ['account_id', 'day'], owner: 'account_id', order: ['day'] },
  {
    name: 'archived_days',
    key: ['connection_id', 'kind', 'day', 'piece'],
    owner: 'account_id',
    index: 'archived_days_by_account',
    order: ['kind', 'day', 'connection_id', 'piece'],
  },
  { name: 'audit_log', key: ['account_id', 'seq'], owner: 'account_id', order: ['seq'] },
  { name: 'changes', key: ['account_id', 'seq'], owner: 'account_id', order: ['seq'] },
  {
    name: 'connect_links',
    key: ['id'],
    owner: 'account_id',
    index: 'connect_links_by_account',
    order: ['created_at', 'id'],
  },
  { name: 'deliveries', key: ['webhook_id', 'id'], owner: 'webhook_id', order: ['id'] },
  {
    name: 'drivers',
    key: ['id'],
    owner: 'account_id',
    index: 'drivers_by_account',
    order: ['created_at', 'id'],
  },
  {
    name: 'erased_drivers',
    key: ['id'],
    owner: 'connection_id',
    index: 'erased_drivers_by_connection',
    order: ['id'],
  },
  {
    name: 'evidence',
    key: ['id'],
    owner: 'account_id',
    index: 'evidence_by_account',
    order: ['state', 'created_at', 'id'],
  },
  {
    name: 'exports',
    key: ['id'],
    owner: 'account_id',
    index: 'exports_by_account',
    order: ['requested_at', 'id'],
  },
  { name: 'fan_outs', key: ['id'], owner: 'account_id', isScanned: true, order: ['id'] },
  { name: 'invitations', key: ['account_id', 'id'], owner: 'account_id', order: ['id'] },
  { name: 'mail_feeds', key: ['account_id'], owner: 'account_id', order: [] },
  {
    name: 'mail_rules',
    key: ['recipient_id'],
    owner: 'account_id',
    index: 'mail_rules_by_account',
    order: ['recipient_id'],
  },
  {
    name: 'notifications',
    key: ['event_id', 'level'],
    owner: 'account_id',
    isScanned: true,
    order: ['event_id', 'level'],
  },
  {
    name: 'pull_refusals',
    key: ['connection_id', 'kind', 'source_id'],
    owner: 'connection_id',
    order: ['kind', 'source_id'],
  },
  { name: 'removed_people', key: ['account_id', 'hash'], owner: 'account_id', order: ['hash'] },
  {
    name: 'safety_events',
    key: ['id'],
    owner: 'connection_id',
    index: 'safety_events_by_connection',
    order: ['started_at', 'id'],
  },
  { name: 'sent_forms', key: ['account_id', 'id'], owner: 'account_id', order: ['id'] },
  { name: 'sessions', key: ['hash'], owner: 'user_id', index: 'sessions_by_user', order: ['hash'] },
  {
    name: 'sign_in_domains',
    key: ['account_id', 'domain'],
    owner: 'account_id',
    order: ['domain'],
  },
  {
    name: 'sign_in_links',
    key: ['hash'],
    owner: 'user_id',
    index: 'sign_in_links_by_user',
    order: ['hash'],
  },
  { name: 'single_sign_on', key: ['account_id'], owner: 'account_id', order: [] },
  {
    name: 'tokens',
    key: ['id'],
    owner: 'account_id',
    index: 'tokens_by_account',
    order: ['created_at', 'id'],
  },
  {
    name: 'trips',
    key: ['id'],
    owner: 'account_id',
    index: 'trips_by_account',
    order: ['started_at', 'id'],
  },
  {
    name: 'vehicles',
    key: ['id'],
    owner: 'connection_id',
    index: 'vehicles_by_connection',
    order: ['created_at', 'id'],
  },
  {
    name: 'webhook_connections',
    key: ['connection_id', 'webhook_id'],
    owner: 'connection_id',
    order: ['webhook_id'],
  },
  { name: 'webhook_health', key: ['webhook_id'], owner: 'webhook_id', order: [] },
  { name: 'webhook_hours', key: ['webhook_id', 'slot'], owner: 'webhook_id', order: ['slot'] },
  // Copied events mark their hours as due, so that these come last.
  { name: 'event_counting', key: ['account_id'], owner: 'account_id', order: [] },
  {
    name: 'event_counts',
    key: ['account_id', 'hours', 'start'],
    owner: 'account_id',
    order: ['hours', 'start'],
  },
  { name: 'event_counts_due', key: ['account_id', 'day'], owner: 'account_id', order: ['day'] },
];
