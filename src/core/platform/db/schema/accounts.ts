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
