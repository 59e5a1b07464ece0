import { sql } from 'drizzle-orm';
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core';
import { accounts, connections } from '../../core/platform/db/schema/accounts.ts';
import type { HealthStatus, Sealed } from '../../core/platform/db/schema/types.ts';

export const pulls = sqliteTable(
  'pulls',
  {
    connectionId: text('connection_id')
      .primaryKey()
      .references(() => connections.id, { onDelete: 'cascade' }),
    accountId: text('account_id').notNull(),
    /** Encrypted: the credential. */
    secrets: text({ mode: 'json' }).$type<Sealed>().notNull(),
    /** Encrypted: what the provider signs the calls of its webhook with. */
    webhookSecret: text('webhook_secret', { mode: 'json' }).$type<Sealed>(),
    /** So that an account does not connect the same credential twice. */
    credentialHash: text('credential_hash').notNull(),
    /** Encrypted, for providers that have sessions. */
    session: text({ mode: 'json' }).$type<Sealed>(),
    baseUrl: text('base_url').notNull(),
    /** As the provider calls who the credential belongs to. */
    organisation: text().notNull(),
    /** The provider's own id of it, or else the same: cursors are the organisation's. */
    organisationId: text('organisation_id').notNull(),
    historyDays: integer('history_days').notNull(),
    /** Of what happened before, nobody is notified. */
    connectedAt: integer('connected_at').notNull(),
    /** JSON: cursors, failures, how far the history has come. */
    feeds: text().notNull().default('{}'),
    /** Null: paused, or the provider refuses the credential. */
    dueAt: integer('due_at'),
    claim: text(),
    /** Without a claim: nothing is pulled before, because the provider limits the rate. */
    claimedUntil: integer('claimed_until').notNull().default(0),
    pausedAt: integer('paused_at'),
    refusedAt: integer('refused_at'),
    /** As the connection has it, and since when. */
    health: integer().$type<HealthStatus>().notNull().default(1),
    healthAt: integer('health_at').notNull().default(0),
    /** What users were last notified of, and when. */
    notifiedHealth: integer('notified_health').$type<HealthStatus>().notNull().default(1),
    notifiedAt: integer('notified_at').notNull().default(0),
  },
  (t) => [
    index('pulls_due').on(t.dueAt).where(sql`${t.dueAt} is not null`),
    index('pulls_to_notify').on(t.healthAt).where(sql`${t.health} <> ${t.notifiedHealth}`),
    uniqueIndex('pulls_by_credential').on(t.accountId, t.credentialHash),
  ],
);

export const pullRefusals = sqliteTable(
  'pull_refusals',
  {
    connectionId: text('connection_id')
      .notNull()
      .references(() => pulls.connectionId, { onDelete: 'cascade' }),
    kind: text().notNull(),
    sourceId: text('source_id').notNull(),
    /** Whether the record was accepted all the same. */
    accepted: integer({ mode: 'boolean' }).notNull(),
    reason: text().notNull(),
    at: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.connectionId, t.kind, t.sourceId] }),
    index('pull_refusals_by_time').on(t.connectionId, t.accepted, t.at),
  ],
);

export const connectLinks = sqliteTable(
  'connect_links',
  {
    id: text().primaryKey(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    /** Of its secret, which is kept nowhere. */
    hash: text().notNull(),
    /** Of who it is for. */
    name: text().notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    /** What was connected by it. */
    connectionId: text('connection_id').references(() => connections.id, { onDelete: 'cascade' }),
    withdrawnAt: integer('withdrawn_at'),
  },
  (t) => [
    uniqueIndex('connect_links_by_hash').on(t.hash),
    index('connect_links_by_account').on(t.accountId, t.createdAt, t.id),
    index('connect_links_by_connection')
      .on(t.connectionId)
      .where(sql`${t.connectionId} is not null`),
  ],
);
