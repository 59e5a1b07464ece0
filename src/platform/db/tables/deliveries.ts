import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';

/* Webhooks, what they are told, and how their receivers take it. */

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
    signing: text(),
    oauth: text({ mode: 'json' }).$type<{ key: string; iv: string; data: string }>(),
    oauthToken: text('oauth_token'),
    notificationTypes: integer('notification_types').notNull(),
    filters: text(),
    createdAt: integer('created_at').notNull(),
    maxInFlight: integer('max_in_flight'),
    maxPerSecond: integer('max_per_second'),
    stoppedAt: integer('stopped_at'),
    pausedAt: integer('paused_at'),
    name: text(),
    description: text(),
  },
  (t) => [
    uniqueIndex('webhooks_by_url').on(t.accountId, t.normalisedUrl),
    index('webhooks_by_account').on(t.accountId, t.createdAt, t.id),
    uniqueIndex('webhooks_by_id').on(t.accountId, t.id),
    index('webhooks_paused').on(t.id),
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
    waits: text({ mode: 'json' }).$type<Record<string, number>>().notNull().default({}),
  },
  (t) => [
    primaryKey({ columns: [t.webhookId, t.slot] }),
    index('webhook_hours_newly_failed').on(t.webhookId, t.slot),
  ],
);

/** How long an account's deliveries waited, by hour and by day. */
export const serviceLevels = sqliteTable(
  'service_levels',
  {
    accountId: text('account_id').notNull(),
    hours: integer().notNull(),
    start: integer().notNull(),
    waits: text({ mode: 'json' }).$type<Record<string, number>>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.hours, t.start] })],
);

export const alertEmails = sqliteTable(
  'alert_emails',
  {
    accountId: text('account_id').notNull(),
    day: integer().notNull(),
    sent: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.day] })],
);

/** Channels of teams, and other endpoints, that alerts are sent to. */
export const alertChannels = sqliteTable(
  'alert_channels',
  {
    id: text().primaryKey(),
    accountId: text('account_id').notNull(),
    kind: text({ enum: ['slack', 'teams', 'https'] }).notNull(),
    name: text().notNull(),
    address: text({ mode: 'json' }).$type<{ key: string; iv: string; data: string }>().notNull(),
    host: text().notNull(),
    lastFour: text('last_four').notNull(),
    getsAlerts: integer('gets_alerts', { mode: 'boolean' }).notNull(),
    createdAt: integer('created_at').notNull(),
    problem: text(),
    problemAt: integer('problem_at'),
  },
  (t) => [index('alert_channels_by_account').on(t.accountId, t.createdAt, t.id)],
);

export const channelMessages = sqliteTable(
  'channel_messages',
  {
    accountId: text('account_id').notNull(),
    channelId: text('channel_id').notNull(),
    id: text().notNull(),
    message: text().notNull(),
    dueAt: integer('due_at').notNull(),
    attempts: integer().notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.accountId, t.channelId, t.id] }),
    index('channel_messages_due').on(t.dueAt),
    index('channel_messages_by_channel').on(t.channelId),
  ],
);

/** What there is to notify an account's users of about a webhook, and when they were last notified. */
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
    place: integer().notNull().default(0),
    filtered: integer().notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.connectionId, t.webhookId] }),
    index('webhook_connections_by_webhook').on(t.webhookId, t.connectionId),
  ],
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
    nextAttemptAt: integer('next_attempt_at'),
    claimedUntil: integer('claimed_until').notNull().default(0),
    finishedAt: integer('finished_at'),
    giveUpAt: integer('give_up_at').notNull().default(0),
    log: text({ mode: 'json' }).$type<unknown[]>().notNull(),
    priority: integer().notNull().default(3),
    attemptsOmitted: integer('attempts_omitted').notNull().default(0),
    connectionId: text('connection_id'),
    requestId: text('request_id'),
    data: text(),
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
