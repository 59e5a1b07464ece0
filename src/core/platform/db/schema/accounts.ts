import { sql } from 'drizzle-orm';
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core';
import type { HealthStatus, Quotas } from './types.ts';

export const accounts = sqliteTable(
  'accounts',
  {
    id: text().primaryKey(),
    name: text().notNull(),
    status: text({ enum: ['active', 'suspended', 'moving', 'moved'] })
      .notNull()
      .default('active'),
    createdAt: integer('created_at').notNull(),
    /** Where it is, if it has moved to another cell: this row stays behind. */
    cell: text(),
    /** As its users chose for the portal. */
    units: text({ enum: ['metric', 'imperial'] })
      .notNull()
      .default('metric'),
    /** What it may add a day, where operators have set that. */
    quotas: text({ mode: 'json' }).$type<Quotas>().notNull().default({}),
    /** 1: it adds most to a database that is nearly full, and may not for now. */
    held: integer({ mode: 'boolean' }).notNull().default(false),
    evidenceDays: integer('evidence_days'),
    evidenceSince: integer('evidence_since'),
  },
  (t) => [
    index('accounts_by_time').on(t.createdAt, t.id),
    index('accounts_moved').on(t.cell).where(sql`${t.status} = 'moved'`),
  ],
);

export const connections = sqliteTable(
  'connections',
  {
    id: text().primaryKey(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    name: text(),
    provider: text().notNull(),
    /** The name of the provider, as receivers see it. */
    tsp: text().notNull(),
    healthStatus: integer('health_status').$type<HealthStatus>().notNull().default(1),
    incidentTypeMap: text('incident_type_map', { mode: 'json' }).$type<Record<string, string[]>>(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    /** Written every few minutes at most while all goes well, null if it never pulled. */
    lastPulledAt: integer('last_pulled_at'),
    /** Of one that a connector feeds: since when it is known to be silent. */
    silentSince: integer('silent_since'),
    /** The account's own identifier. */
    externalId: text('external_id'),
    /** As its account wants it: no warning. */
    notifiesNobody: integer('notifies_nobody', { mode: 'boolean' }).notNull().default(false),
    /** Safety events that were too old for notifications when they came in. */
    heldBack: integer('held_back').notNull().default(0),
    /** When that last happened. */
    heldBackAt: integer('held_back_at'),
  },
  (t) => [
    uniqueIndex('connections_by_external')
      .on(t.accountId, t.externalId)
      .where(sql`${t.externalId} is not null`),
    index('connections_by_account').on(t.accountId, t.createdAt, t.id),
    index('connections_with_problems')
      .on(t.accountId, t.createdAt, t.id)
      .where(sql`${t.healthStatus} <> 1`),
  ],
);

export const tokens = sqliteTable(
  'tokens',
  {
    id: text().primaryKey(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    connectionId: text('connection_id').references(() => connections.id),
    scope: text({ enum: ['api', 'ingest'] }).notNull(),
    readOnly: integer('read_only', { mode: 'boolean' }).notNull().default(false),
    name: text().notNull(),
    hash: text().notNull(),
    lastFour: text('last_four').notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at'),
    lastUsedAt: integer('last_used_at'),
    revokedAt: integer('revoked_at'),
    connectionIds: text('connection_ids', { mode: 'json' }).$type<string[]>(),
  },
  (t) => [
    uniqueIndex('tokens_by_hash').on(t.hash),
    index('tokens_by_account').on(t.accountId, t.createdAt, t.id),
    index('tokens_active')
      .on(t.accountId, t.scope, t.createdAt, t.id)
      .where(sql`${t.revokedAt} is null`),
    index('tokens_active_by_connection')
      .on(t.connectionId, t.createdAt, t.id)
      .where(sql`${t.revokedAt} is null`),
    index('tokens_by_connection').on(t.connectionId).where(sql`${t.connectionId} is not null`),
    index('tokens_by_expiry').on(t.expiresAt).where(sql`${t.expiresAt} is not null`),
    index('tokens_by_revocation').on(t.revokedAt).where(sql`${t.revokedAt} is not null`),
  ],
);

export const portalUsers = sqliteTable(
  'portal_users',
  {
    id: text().primaryKey(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    /** In lower case. */
    email: text().notNull(),
    createdAt: integer('created_at').notNull(),
    lastSignInAt: integer('last_sign_in_at'),
    /** Null: pending. */
    confirmedAt: integer('confirmed_at'),
    /** 0: has turned these emails off. */
    getsAlerts: integer('gets_alerts', { mode: 'boolean' }).notNull().default(true),
    role: text({ enum: ['admin', 'member', 'viewer'] })
      .notNull()
      .default('admin'),
    /** As they chose, by its IANA name, or null for that of their browser. */
    timeZone: text('time_zone'),
    /** When they asked for sign-in links in the last day. */
    linksAt: text('links_at').notNull().default('[]'),
    /** The hash of what their provider called them by first, since its settings are as they are. */
    subject: text(),
  },
  (t) => [
    uniqueIndex('portal_users_by_address').on(t.email, t.accountId),
    index('portal_users_by_account').on(t.accountId, t.createdAt, t.id),
    index('portal_users_alerted')
      .on(t.accountId, t.createdAt, t.id)
      .where(sql`${t.confirmedAt} is not null and ${t.getsAlerts} = 1`),
  ],
);

export const mailRules = sqliteTable(
  'mail_rules',
  {
    /** The user or the channel. */
    recipientId: text('recipient_id').primaryKey(),
    accountId: text('account_id').notNull(),
    /** Of accidents, as bits: 1, 2 and 4. */
    levels: integer().notNull(),
    /** The least of safety events, or null for none of these. */
    risk: integer(),
    /** Of vehicles, or null for all. */
    groups: text({ mode: 'json' }).$type<string[]>(),
    /** The same as they are compared. */
    groupKeys: text('group_keys', { mode: 'json' }).$type<string[]>(),
    since: integer().notNull(),
  },
  (t) => [index('mail_rules_by_account').on(t.accountId)],
);

export const mailFeeds = sqliteTable('mail_feeds', {
  accountId: text('account_id').primaryKey(),
  /** The last of `changes` that was looked at. */
  seen: integer().notNull(),
});

export const invitations = sqliteTable(
  'invitations',
  {
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    id: text().notNull(),
    email: text().notNull(),
    sentAt: integer('sent_at').notNull(),
    /** 0: somebody had emailed them within the hour. */
    emailed: integer({ mode: 'boolean' }).notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.accountId, t.id] }),
    index('invitations_by_email').on(t.email, t.sentAt),
  ],
);

export const signInLinks = sqliteTable(
  'sign_in_links',
  {
    hash: text().primaryKey(),
    userId: text('user_id')
      .notNull()
      .references(() => portalUsers.id, { onDelete: 'cascade' }),
    expiresAt: integer('expires_at').notNull(),
    /** The hash of the form that asked for it, which may be sent twice. */
    form: text(),
  },
  (t) => [
    uniqueIndex('sign_in_links_by_form').on(t.form).where(sql`${t.form} is not null`),
    index('sign_in_links_by_user').on(t.userId),
    index('sign_in_links_by_expiry').on(t.expiresAt),
  ],
);

export const sessions = sqliteTable(
  'sessions',
  {
    hash: text().primaryKey(),
    userId: text('user_id')
      .notNull()
      .references(() => portalUsers.id, { onDelete: 'cascade' }),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [index('sessions_by_user').on(t.userId), index('sessions_by_expiry').on(t.expiresAt)],
);

export const sentForms = sqliteTable(
  'sent_forms',
  {
    accountId: text('account_id').notNull(),
    /** The form's key, which is random. */
    id: text().notNull(),
    /** The request that handles it: another one with this key writes nothing. */
    requestId: text('request_id').notNull(),
    at: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.id] }), index('sent_forms_by_age').on(t.at)],
);

export const auditLog = sqliteTable(
  'audit_log',
  {
    accountId: text('account_id').notNull(),
    seq: integer().notNull(),
    at: integer().notNull(),
    actor: text({ enum: ['operator', 'person', 'token', 'service'] }).notNull(),
    /** Of the user or token. */
    actorId: text('actor_id'),
    /** As it was then: the address of a user, the name of a token. */
    actorName: text('actor_name'),
    action: text({
      enum: [
        'created',
        'changed',
        'suspended',
        'activated',
        'revoked',
        'invited',
        'scheduled for deletion',
        'deleted',
        'erased',
        'looked at',
      ],
    }).notNull(),
    /** The kind of thing. */
    subject: text({
      enum: [
        'account',
        'connection',
        'API token',
        'ingest key',
        'webhook',
        'team channel',
        'connect link',
        'single sign-on',
        'person',
        'driver',
      ],
    }).notNull(),
    subjectId: text('subject_id').notNull(),
    /** As it was then (of a webhook, the host alone). */
    subjectName: text('subject_name'),
    /** What was changed, by name. */
    fields: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
  },
  (t) => [
    primaryKey({ columns: [t.accountId, t.seq] }),
    index('audit_log_by_time').on(t.at),
    index('audit_log_new_tokens')
      .on(t.subjectId)
      .where(sql`${t.subject} = 'API token' and ${t.action} = 'created'`),
  ],
);

export const removedPeople = sqliteTable(
  'removed_people',
  {
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    hash: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.hash] })],
);
