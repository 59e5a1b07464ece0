import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { roles } from '../../roles.ts';

/* Accounts, their connections and people, and what opens their data. */

export const accounts = sqliteTable('accounts', {
  id: text().primaryKey(),
  name: text().notNull(),
  status: text({ enum: ['active', 'suspended'] })
    .notNull()
    .default('active'),
  createdAt: integer('created_at').notNull(),
  /** Where the account lives now, if it has moved to another home. */
  home: text(),
  /** Whether nothing of it may be changed, because it is being moved. */
  frozen: integer({ mode: 'boolean' }).notNull().default(false),
  /** What the portal shows speeds and distances in. */
  units: text({ enum: ['metric', 'imperial'] })
    .notNull()
    .default('metric'),
});

export const connections = sqliteTable(
  'connections',
  {
    id: text().primaryKey(),
    accountId: text('account_id').notNull(),
    name: text(),
    provider: text().notNull(),
    tsp: text().notNull(),
    healthStatus: integer('health_status').notNull().default(1),
    incidentTypeMap: text('incident_type_map', { mode: 'json' }).$type<Record<string, string[]>>(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    lastPulledAt: integer('last_pulled_at'),
    silentSince: integer('silent_since'),
    externalId: text('external_id'),
  },
  (t) => [
    index('connections_by_account').on(t.accountId, t.createdAt, t.id),
    index('connections_with_problems').on(t.accountId, t.createdAt, t.id),
    uniqueIndex('connections_by_external').on(t.accountId, t.externalId),
  ],
);

export const tokens = sqliteTable(
  'tokens',
  {
    id: text().primaryKey(),
    accountId: text('account_id').notNull(),
    connectionId: text('connection_id'),
    scope: text({ enum: ['api', 'ingest'] }).notNull(),
    readOnly: integer('read_only', { mode: 'boolean' }).notNull().default(false),
    name: text().notNull(),
    hash: text().notNull(),
    lastFour: text('last_four').notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at'),
    lastUsedAt: integer('last_used_at'),
    revokedAt: integer('revoked_at'),
  },
  (t) => [
    uniqueIndex('tokens_by_hash').on(t.hash),
    index('tokens_by_account').on(t.accountId, t.createdAt, t.id),
    index('tokens_by_expiry').on(t.expiresAt),
    index('tokens_by_revocation').on(t.revokedAt),
    index('tokens_active').on(t.accountId, t.scope, t.createdAt, t.id),
    index('tokens_active_by_connection').on(t.connectionId, t.createdAt, t.id),
  ],
);

export const portalUsers = sqliteTable(
  'portal_users',
  {
    id: text().primaryKey(),
    accountId: text('account_id').notNull(),
    email: text().notNull(),
    createdAt: integer('created_at').notNull(),
    lastSignInAt: integer('last_sign_in_at'),
    confirmedAt: integer('confirmed_at'),
    getsAlerts: integer('gets_alerts', { mode: 'boolean' }).notNull().default(true),
    role: text({ enum: roles }).notNull().default('admin'),
    timeZone: text('time_zone'),
  },
  (t) => [
    uniqueIndex('portal_users_by_email').on(t.email),
    uniqueIndex('portal_users_by_address').on(t.email, t.accountId),
    index('portal_users_by_account').on(t.accountId, t.createdAt, t.id),
    index('portal_users_alerted').on(t.accountId, t.createdAt, t.id),
  ],
);

/** Of which accidents and safety events a user or a channel is notified. */
export const mailRules = sqliteTable(
  'mail_rules',
  {
    recipientId: text('recipient_id').primaryKey(),
    accountId: text('account_id').notNull(),
    levels: integer().notNull(),
    risk: integer(),
    groups: text({ mode: 'json' }).$type<string[]>(),
    since: integer().notNull(),
  },
  (t) => [index('mail_rules_by_account').on(t.accountId)],
);

export const mailFeeds = sqliteTable('mail_feeds', {
  accountId: text('account_id').primaryKey(),
  seen: integer().notNull(),
});

export const recordMails = sqliteTable(
  'record_mails',
  {
    accountId: text('account_id').notNull(),
    recipientId: text('recipient_id').notNull(),
    eventId: text('event_id').notNull(),
    level: integer().notNull(),
    dueAt: integer('due_at'),
    attempts: integer().notNull().default(0),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.accountId, t.recipientId, t.eventId, t.level] }),
    index('record_mails_due').on(t.accountId, t.dueAt),
    index('record_mails_by_age').on(t.createdAt),
  ],
);

export const invitations = sqliteTable(
  'invitations',
  {
    accountId: text('account_id').notNull(),
    id: text().notNull(),
    email: text().notNull(),
    sentAt: integer('sent_at').notNull(),
    emailed: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.id] }), index('invitations_by_email').on(t.email, t.sentAt)],
);

export const signInLinks = sqliteTable(
  'sign_in_links',
  {
    hash: text().primaryKey(),
    userId: text('user_id').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [index('sign_in_links_by_expiry').on(t.expiresAt)],
);

export const sessions = sqliteTable(
  'sessions',
  {
    hash: text().primaryKey(),
    userId: text('user_id').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [index('sessions_by_user').on(t.userId), index('sessions_by_expiry').on(t.expiresAt)],
);

export const auditLog = sqliteTable(
  'audit_log',
  {
    accountId: text('account_id').notNull(),
    seq: integer().notNull(),
    at: integer().notNull(),
    actor: text().notNull(),
    actorId: text('actor_id'),
    actorName: text('actor_name'),
    action: text().notNull(),
    subject: text().notNull(),
    subjectId: text('subject_id').notNull(),
    subjectName: text('subject_name'),
    fields: text({ mode: 'json' }).$type<string[]>().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.accountId, t.seq] }),
    index('audit_log_by_time').on(t.at),
    index('audit_log_new_tokens').on(t.subjectId),
  ],
);
