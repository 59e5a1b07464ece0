import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';

/* What is kept beside the records of the fleet: how they change, are counted and pulled. */

/** What changed, in the order in which the service learned it: a row a transaction, with the ids of its records by kind. */
export const changes = sqliteTable(
  'changes',
  {
    accountId: text('account_id').notNull(),
    seq: integer().notNull(),
    connectionId: text('connection_id').notNull(),
    action: text({ enum: ['changed', 'deleted'] }).notNull(),
    records: text({ mode: 'json' }).$type<Record<string, string[]>>().notNull(),
    quiet: integer().notNull().default(0),
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
  {
    accountId: text('account_id').primaryKey(),
    countedTo: integer('counted_to').notNull(),
    liveAt: integer('live_at').notNull().default(0),
  },
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
    organisationId: text('organisation_id').notNull(),
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
    notifiedHealth: integer('notified_health').notNull().default(1),
    notifiedAt: integer('notified_at').notNull().default(0),
  },
  (t) => [
    index('pulls_due').on(t.dueAt),
    index('pulls_to_notify').on(t.healthAt),
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
