import {
  index,
  integer,
  primaryKey,
  type SQLiteColumn,
  type SQLiteTable,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core';
import { roles } from '../roles.ts';

/**
 * The tables that no resource of `fleet/` declares. They mirror `migrations/`, which hold; a test compares the two.
 * Times are milliseconds since 1970, UTC.
 */
export const accounts = sqliteTable('accounts', {
  id: text().primaryKey(),
  name: text().notNull(),
  status: text({ enum: ['active', 'suspended'] })
    .notNull()
    .default('active'),
  createdAt: integer('created_at').notNull(),
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
  },
  (t) => [
    index('connections_by_account').on(t.accountId, t.createdAt, t.id),
    index('connections_with_problems').on(t.accountId, t.createdAt, t.id),
  ],
);

export const tokens = sqliteTable(
  'tokens',
  {
    id: text().primaryKey(),
    accountId: text('account_id').notNull(),
    connectionId: text('connection_id'),
    scope: text({ enum: ['api', 'ingest'] }).notNull(),
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

export const webhooks = sqliteTable(
  'webhooks',
  {
    id: text().primaryKey(),
    accountId: text('account_id').notNull(),
    url: text().notNull(),
    normalisedUrl: text('normalised_url').notNull(),
    httpVerb: text('http_verb', { enum: ['POST', 'PUT'] }).notNull(),
    // As sealing.ts has them, which Node programs cannot import: these reach this file through the registry.
    headers: text({ mode: 'json' }).$type<{ key: string; iv: string; data: string }>().notNull(),
    notificationTypes: integer('notification_types').notNull(),
    createdAt: integer('created_at').notNull(),
    maxInFlight: integer('max_in_flight'),
    maxPerSecond: integer('max_per_second'),
    stoppedAt: integer('stopped_at'),
    name: text(),
    description: text(),
  },
  (t) => [
    uniqueIndex('webhooks_by_url').on(t.accountId, t.normalisedUrl),
    index('webhooks_by_account').on(t.accountId, t.createdAt, t.id),
    uniqueIndex('webhooks_by_id').on(t.accountId, t.id),
  ],
);

export const webhookHealth = sqliteTable(
  'webhook_health',
  {
    webhookId: text('webhook_id').primaryKey(),
    failures: integer().notNull(),
    openings: integer().notNull(),
    openUntil: integer('open_until').notNull(),
    probeId: text('probe_id'),
    window: integer(),
    timerAt: integer('timer_at'),
    nextCallAt: integer('next_call_at').notNull().default(0),
    pausedSince: integer('paused_since'),
    lastFailure: text('last_failure', { mode: 'json' }).$type<{ result: string; status?: number }>(),
  },
  (t) => [
    index('webhook_health_newly_paused').on(t.webhookId),
    index('webhook_health_newly_working').on(t.webhookId),
    index('webhook_health_paused').on(t.pausedSince),
  ],
);

/** What became of a webhook's deliveries and attempts in each of its last 720 active hours, by the hour of 30 days. */
export const webhookHours = sqliteTable(
  'webhook_hours',
  {
    webhookId: text('webhook_id').notNull(),
    slot: integer().notNull(),
    hour: integer().notNull(),
    delivered: integer().notNull(),
    failed: integer().notNull(),
    noticed: integer().notNull().default(0),
    retried: integer().notNull().default(0),
    answers: text({ mode: 'json' }).$type<Record<string, number>>().notNull().default({}),
  },
  (t) => [
    primaryKey({ columns: [t.webhookId, t.slot] }),
    index('webhook_hours_newly_failed').on(t.webhookId, t.slot),
  ],
);

/** What there is to tell an account's people of a webhook, and when they were last told. */
export const alerts = sqliteTable(
  'alerts',
  {
    webhookId: text('webhook_id').primaryKey(),
    accountId: text('account_id').notNull(),
    pausedFrom: integer('paused_from'),
    pausedTo: integer('paused_to'),
    failed: integer().notNull().default(0),
    failedFrom: integer('failed_from'),
    toldPausedAt: integer('told_paused_at'),
    toldFailedAt: integer('told_failed_at'),
    toldWorkingAt: integer('told_working_at'),
    dueAt: integer('due_at'),
  },
  (t) => [index('alerts_due').on(t.dueAt)],
);

export const webhookConnections = sqliteTable(
  'webhook_connections',
  {
    connectionId: text('connection_id').notNull(),
    webhookId: text('webhook_id').notNull(),
    notificationTypes: integer('notification_types').notNull().default(3),
  },
  (t) => [
    primaryKey({ columns: [t.connectionId, t.webhookId] }),
    index('webhook_connections_by_webhook').on(t.webhookId, t.connectionId),
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

export const notifications = sqliteTable(
  'notifications',
  {
    eventId: text('event_id').notNull(),
    level: integer().notNull(),
    type: integer().notNull(),
    accountId: text('account_id').notNull(),
    connectionId: text('connection_id').notNull(),
    data: text().notNull(),
    createdAt: integer('created_at').notNull(),
    requestId: text('request_id'),
  },
  (t) => [primaryKey({ columns: [t.eventId, t.level] })],
);

export const deliveries = sqliteTable(
  'deliveries',
  {
    webhookId: text('webhook_id').notNull(),
    id: text().notNull(),
    accountId: text('account_id').notNull(),
    eventId: text('event_id').notNull(),
    level: integer().notNull(),
    status: text({ enum: ['pending', 'delivered', 'failed', 'cancelled'] }).notNull(),
    attempts: integer().notNull().default(0),
    nextAttemptAt: integer('next_attempt_at').notNull(),
    claimedUntil: integer('claimed_until').notNull().default(0),
    finishedAt: integer('finished_at'),
    giveUpAt: integer('give_up_at').notNull().default(0),
    log: text({ mode: 'json' }).$type<unknown[]>().notNull(),
    priority: integer().notNull().default(3),
    attemptsOmitted: integer('attempts_omitted').notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.webhookId, t.id] }),
    index('deliveries_due').on(t.webhookId, t.priority, t.nextAttemptAt),
    index('deliveries_failed').on(t.webhookId, t.id),
    index('deliveries_cancelled').on(t.webhookId, t.id),
    index('deliveries_retrying').on(t.webhookId, t.id),
  ],
);

export const fanOuts = sqliteTable('fan_outs', {
  id: text().primaryKey(),
  accountId: text('account_id').notNull(),
  connectionId: text('connection_id').notNull(),
  type: integer().notNull(),
  notifications: text({ mode: 'json' }).$type<unknown[]>().notNull(),
  expandedTo: text('expanded_to').notNull(),
  createdAt: integer('created_at').notNull(),
});

/** What changed, in the order in which the service learned it: a row a transaction, with the ids of its records by kind. */
export const changes = sqliteTable(
  'changes',
  {
    accountId: text('account_id').notNull(),
    seq: integer().notNull(),
    connectionId: text('connection_id').notNull(),
    action: text({ enum: ['changed', 'deleted'] }).notNull(),
    records: text({ mode: 'json' }).$type<Record<string, string[]>>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.seq] })],
);

/** How many safety events an hour and a day of an account had, by what the overview shows. */
export const eventCounts = sqliteTable(
  'event_counts',
  {
    accountId: text('account_id').notNull(),
    hours: integer().notNull(),
    start: integer().notNull(),
    risk1: integer('risk_1').notNull(),
    risk2: integer('risk_2').notNull(),
    risk3: integer('risk_3').notNull(),
    risk4: integer('risk_4').notNull(),
    risk5: integer('risk_5').notNull(),
    types: text().notNull(),
    vehicles: text().notNull(),
    drivers: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.hours, t.start] })],
);

/** Hours that are to be counted again. */
export const eventCountsDue = sqliteTable(
  'event_counts_due',
  {
    accountId: text('account_id').notNull(),
    day: integer().notNull(),
    hours: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.day] })],
);

/** Up to when an account's events have been counted. */
export const eventCounting = sqliteTable(
  'event_counting',
  { accountId: text('account_id').primaryKey(), countedTo: integer('counted_to').notNull() },
  (t) => [index('event_counting_by_time').on(t.countedTo)],
);

/** Connections that pull from a provider. */
export const pulls = sqliteTable(
  'pulls',
  {
    connectionId: text('connection_id').primaryKey(),
    accountId: text('account_id').notNull(),
    secrets: text({ mode: 'json' }).$type<{ key: string; iv: string; data: string }>().notNull(),
    webhookSecret: text('webhook_secret', { mode: 'json' }).$type<{
      key: string;
      iv: string;
      data: string;
    }>(),
    credentialHash: text('credential_hash').notNull(),
    session: text({ mode: 'json' }).$type<{ key: string; iv: string; data: string }>(),
    baseUrl: text('base_url').notNull(),
    organisation: text().notNull(),
    historyDays: integer('history_days').notNull(),
    connectedAt: integer('connected_at').notNull(),
    feeds: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
    dueAt: integer('due_at'),
    claim: text(),
    claimedUntil: integer('claimed_until').notNull().default(0),
    pausedAt: integer('paused_at'),
    refusedAt: integer('refused_at'),
    health: integer().notNull().default(1),
    healthAt: integer('health_at').notNull().default(0),
    toldHealth: integer('told_health').notNull().default(1),
    toldAt: integer('told_at').notNull().default(0),
  },
  (t) => [
    index('pulls_due').on(t.dueAt),
    index('pulls_to_tell').on(t.healthAt),
    uniqueIndex('pulls_by_credential').on(t.accountId, t.credentialHash),
  ],
);

/** Why the last records that a connection pulled were refused. */
export const pullRefusals = sqliteTable(
  'pull_refusals',
  {
    connectionId: text('connection_id').notNull(),
    kind: text().notNull(),
    sourceId: text('source_id').notNull(),
    reason: text().notNull(),
    at: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.connectionId, t.kind, t.sourceId] }),
    index('pull_refusals_by_time').on(t.connectionId, t.at),
  ],
);

export const sweeps = sqliteTable('sweeps', {
  id: integer().primaryKey(),
  at: integer().notNull(),
  oldestDueAt: integer('oldest_due_at'),
});

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

/** Accounts and connections that are being deleted, and drivers that are being erased. */
export const deletions = sqliteTable(
  'deletions',
  {
    id: text().primaryKey(),
    kind: text({ enum: ['account', 'connection', 'driver'] }).notNull(),
    accountId: text('account_id').notNull(),
    connectionId: text('connection_id'),
    requestedAt: integer('requested_at').notNull(),
    dueAt: integer('due_at').notNull(),
    step: text(),
    cursor: text().notNull().default(''),
    email: text(),
  },
  (t) => [index('deletions_by_account').on(t.accountId, t.kind), index('deletions_due').on(t.dueAt)],
);

/** Drivers that were erased, by the id that their records would have. */
export const erasedDrivers = sqliteTable(
  'erased_drivers',
  {
    id: text().primaryKey(),
    accountId: text('account_id').notNull(),
    connectionId: text('connection_id').notNull(),
    erasedAt: integer('erased_at').notNull(),
  },
  (t) => [index('erased_drivers_by_connection').on(t.connectionId)],
);

/** Which days of a connection lie in the archive, and in which files. */
export const archivedDays = sqliteTable(
  'archived_days',
  {
    kind: text().notNull(),
    accountId: text('account_id').notNull(),
    connectionId: text('connection_id').notNull(),
    day: integer().notNull(),
    state: text({ enum: ['writing', 'moving', 'done'] }).notNull(),
    parts: text({ mode: 'json' }).$type<unknown[]>().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.kind, t.connectionId, t.day] }),
    index('archived_days_by_account').on(t.accountId, t.kind, t.day, t.connectionId),
    index('archived_days_open').on(t.kind, t.connectionId, t.day),
  ],
);

export const archivedLately = sqliteTable(
  'archived_lately',
  {
    kind: text().notNull(),
    id: text().notNull(),
    accountId: text('account_id').notNull(),
    connectionId: text('connection_id').notNull(),
    day: integer().notNull(),
    changedAt: integer('changed_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.kind, t.id] }),
    index('archived_lately_by_age').on(t.changedAt),
    index('archived_lately_by_owner').on(t.accountId, t.connectionId),
  ],
);

export const archiveTurns = sqliteTable('archive_turns', {
  id: integer().primaryKey(),
  holder: text().notNull(),
  until: integer().notNull(),
});

export const databaseSizes = sqliteTable('database_sizes', {
  day: integer().primaryKey(),
  bytes: integer().notNull(),
});

/** What people look for by its beginning; triggers keep it. */
export const names = sqliteTable(
  'names',
  {
    accountId: text('account_id').notNull(),
    kind: text({ enum: ['vehicle', 'plate', 'driver'] }).notNull(),
    name: text().notNull(),
    id: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.kind, t.name, t.id] })],
);

/** A table whose rows belong to an account. */
export type AccountTable = SQLiteTable & { id: SQLiteColumn; accountId: SQLiteColumn };
