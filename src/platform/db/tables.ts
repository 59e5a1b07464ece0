import { integer, type SQLiteColumn, type SQLiteTable, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { roles } from '../roles.ts';

/* Mirrors `migrations/`; a test compares them. Times are milliseconds since 1970, UTC. */

export type AccountTable = SQLiteTable & { id: SQLiteColumn; accountId: SQLiteColumn };

export const accounts = sqliteTable('accounts', {
  id: text().primaryKey(),
  name: text().notNull(),
  status: text({ enum: ['active', 'suspended', 'moving', 'moved'] })
    .notNull()
    .default('active'),
  createdAt: integer('created_at').notNull(),
  /** The cell of an account that has moved to another one. */
  cell: text(),
  /** The units in which the portal shows speeds and distances. */
  units: text({ enum: ['metric', 'imperial'] })
    .notNull()
    .default('metric'),
  /** What it may add a day, where operators have set that. */
  quotas: text({ mode: 'json' }).$type<Quotas>().notNull().default({}),
  /** Whether it may add nothing for now, because the database is nearly full. */
  held: integer({ mode: 'boolean' }).notNull().default(false),
  /** For how many days it keeps the evidence of accidents, and since when; null: it keeps none. */
  evidenceDays: integer('evidence_days'),
  evidenceSince: integer('evidence_since'),
});

export type Quotas = { records?: number; bytes?: number; deliveries?: number };

export const connections = sqliteTable('connections', {
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
  heldBack: integer('held_back').notNull().default(0),
  heldBackAt: integer('held_back_at'),
  externalId: text('external_id'),
  notifiesNobody: integer('notifies_nobody', { mode: 'boolean' }).notNull().default(false),
});

export const tokens = sqliteTable('tokens', {
  id: text().primaryKey(),
  accountId: text('account_id').notNull(),
  connectionId: text('connection_id'),
  connectionIds: text('connection_ids', { mode: 'json' }).$type<string[]>(),
  scope: text({ enum: ['api', 'ingest'] }).notNull(),
  readOnly: integer('read_only', { mode: 'boolean' }).notNull().default(false),
  name: text().notNull(),
  hash: text().notNull(),
  lastFour: text('last_four').notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at'),
  lastUsedAt: integer('last_used_at'),
  revokedAt: integer('revoked_at'),
});

export const portalUsers = sqliteTable('portal_users', {
  id: text().primaryKey(),
  accountId: text('account_id').notNull(),
  email: text().notNull(),
  createdAt: integer('created_at').notNull(),
  lastSignInAt: integer('last_sign_in_at'),
  confirmedAt: integer('confirmed_at'),
  getsAlerts: integer('gets_alerts', { mode: 'boolean' }).notNull().default(true),
  role: text({ enum: roles }).notNull().default('admin'),
  timeZone: text('time_zone'),
  linksAt: text('links_at').notNull().default('[]'),
  subject: text(),
});

export const webhooks = sqliteTable('webhooks', {
  id: text().primaryKey(),
  accountId: text('account_id').notNull(),
  url: text().notNull(),
  normalisedUrl: text('normalised_url').notNull(),
  httpVerb: text('http_verb', { enum: ['POST', 'PUT'] }).notNull(),
  // `Sealed` of crypto.ts, which Node programs cannot import.
  headers: text({ mode: 'json' }).$type<{ key: string; iv: string; data: string }>().notNull(),
  signing: text(),
  oauth: text({ mode: 'json' }).$type<{ key: string; iv: string; data: string }>(),
  oauthToken: text('oauth_token'),
  notificationTypes: integer('notification_types').notNull(),
  filters: text(),
  allConnections: integer('all_connections', { mode: 'boolean' }).notNull().default(false),
  createdAt: integer('created_at').notNull(),
  maxInFlight: integer('max_in_flight'),
  maxPerSecond: integer('max_per_second'),
  stoppedAt: integer('stopped_at'),
  pausedAt: integer('paused_at'),
  name: text(),
  description: text(),
});
