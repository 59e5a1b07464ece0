import { sql } from 'drizzle-orm';
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core';
import { accounts, connections } from './accounts.ts';
import type { Sealed } from './types.ts';

/** What webhooks have of options: each extra that is one adds what it stores. What is missing or null it does not have. */
// biome-ignore lint/suspicious/noEmptyInterface: extras add to it
export interface StoredOptions {}

export const webhooks = sqliteTable(
  'webhooks',
  {
    id: text().primaryKey(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    url: text().notNull(),
    normalisedUrl: text('normalised_url').notNull(),
    httpVerb: text('http_verb', { enum: ['POST', 'PUT'] }).notNull(),
    /** Encrypted. */
    headers: text({ mode: 'json' }).$type<Sealed>().notNull(),
    /** Bits: 1 accident, 2 event. */
    notificationTypes: integer('notification_types').notNull(),
    /** What it has of options, by name: secrets are encrypted. */
    options: text({ mode: 'json' }).$type<StoredOptions>().notNull().default({}),
    /** Whether new ones join by themselves. */
    allConnections: integer('all_connections', { mode: 'boolean' }).notNull().default(false),
    createdAt: integer('created_at').notNull(),
    maxInFlight: integer('max_in_flight'),
    maxPerSecond: integer('max_per_second'),
    /** While the account waits to be deleted, its webhooks are called no more. */
    stoppedAt: integer('stopped_at'),
    /** When its account paused it, or null: until it is resumed, what there is to send waits. */
    pausedAt: integer('paused_at'),
    name: text(),
    description: text(),
  },
  (t) => [
    uniqueIndex('webhooks_by_id').on(t.accountId, t.id),
    uniqueIndex('webhooks_by_url').on(t.accountId, t.normalisedUrl),
    index('webhooks_by_account').on(t.accountId, t.createdAt, t.id),
    index('webhooks_paused').on(t.id).where(sql`${t.pausedAt} is not null`),
  ],
);

export const webhookConnections = sqliteTable(
  'webhook_connections',
  {
    connectionId: text('connection_id')
      .notNull()
      .references(() => connections.id),
    webhookId: text('webhook_id')
      .notNull()
      .references(() => webhooks.id, { onDelete: 'cascade' }),
    notificationTypes: integer('notification_types').notNull().default(3),
    /** Among those of the webhook, as its account named them, or in the order in which all were added. */
    place: integer().notNull().default(0),
    /** Whether options of the webhook may hold notifications back: only then they are read. */
    filtered: integer({ mode: 'boolean' }).notNull().default(false),
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
    /** Of the request that it came in by, to follow it through the log. */
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
    /** When it is due, null only once it is no longer pending. */
    nextAttemptAt: integer('next_attempt_at'),
    claimedUntil: integer('claimed_until').notNull().default(0),
    finishedAt: integer('finished_at'),
    log: text().notNull().default('[]'),
    /** 0 accident, 1 risk 5, 2 risk 4, 3 the rest. */
    priority: integer().notNull().default(3),
    /** That `log` no longer holds. */
    attemptsOmitted: integer('attempts_omitted').notNull().default(0),
    isTest: integer('is_test', { mode: 'boolean' }).notNull().default(false),
  },
  (t) => [
    primaryKey({ columns: [t.webhookId, t.id] }),
    index('deliveries_due')
      .on(t.webhookId, t.priority, t.nextAttemptAt)
      .where(sql`${t.status} = 'pending'`),
    index('deliveries_failed').on(t.webhookId, t.id).where(sql`${t.status} = 'failed'`),
    index('deliveries_cancelled').on(t.webhookId, t.id).where(sql`${t.status} = 'cancelled'`),
    index('deliveries_retrying')
      .on(t.webhookId, t.id)
      .where(sql`${t.status} = 'pending' and ${t.attempts} > 0`),
  ],
);

export const fanOuts = sqliteTable('fan_outs', {
  id: text().primaryKey(),
  accountId: text('account_id').notNull(),
  connectionId: text('connection_id').notNull(),
  type: integer().$type<1 | 2>().notNull(),
  /** [{eventId, level, type, priority, data}], with as much data as options need. */
  notifications: text().notNull(),
  /** The last webhook that is done. */
  expandedTo: text('expanded_to').notNull(),
  createdAt: integer('created_at').notNull(),
});

export const webhookHealth = sqliteTable(
  'webhook_health',
  {
    webhookId: text('webhook_id')
      .primaryKey()
      .references(() => webhooks.id, { onDelete: 'cascade' }),
    /** Attempts that failed in a row. */
    failures: integer().notNull().default(0),
    /** How often in a row the circuit has opened. */
    openings: integer().notNull().default(0),
    /** Until then nothing is sent. */
    openUntil: integer('open_until').notNull().default(0),
    /** Calls it may have in flight. */
    window: integer().notNull().default(5),
    /** When the message comes that wakes the webhook for its retries. */
    timerAt: integer('timer_at'),
    /** When a receiver with a limit per second may be called next. */
    nextCallAt: integer('next_call_at').notNull().default(0),
    /** Since when the circuit has been open or half open, or null if it is closed. */
    pausedSince: integer('paused_since'),
    /** The last attempt that failed, as {"result", "status"}. */
    lastFailure: text('last_failure'),
    /** When users were last notified of each kind. */
    pausedAlertAt: integer('paused_alert_at').notNull().default(0),
    failedAlertAt: integer('failed_alert_at').notNull().default(0),
    workingAlertAt: integer('working_alert_at').notNull().default(0),
  },
  (t) => [
    index('webhook_health_news')
      .on(t.pausedSince)
      .where(sql`(${t.pausedSince} is null) = (${t.pausedAlertAt} > ${t.workingAlertAt})`),
  ],
);

export const webhookHours = sqliteTable(
  'webhook_hours',
  {
    webhookId: text('webhook_id')
      .notNull()
      .references(() => webhooks.id, { onDelete: 'cascade' }),
    /** The hour, of 30 days. */
    slot: integer().notNull(),
    /** Hours since 1970. */
    hour: integer().notNull(),
    delivered: integer().notNull(),
    failed: integer().notNull(),
    /** How many of the failed ones users were notified of. */
    noticed: integer().notNull().default(0),
    /** Attempts that failed and will be repeated. */
    retried: integer().notNull().default(0),
    /** Deliveries of accidents that were first attempted, or failed without an attempt. */
    accidents: integer().notNull().default(0),
    /** Of these, those attempted within 5 s. */
    accidentsInTime: integer('accidents_in_time').notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.webhookId, t.slot] }),
    index('webhook_hours_newly_failed')
      .on(t.webhookId, t.slot)
      .where(sql`${t.failed} > ${t.noticed}`),
    index('webhook_hours_of_accidents').on(t.hour).where(sql`${t.accidents} > 0`),
  ],
);
