import { index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { Sealed } from '../sealing.ts';

/** Mirrors `migrations/`, which hold; a test compares the two. Times are milliseconds since 1970, UTC. */
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
  },
  (t) => [index('connections_by_account').on(t.accountId, t.createdAt, t.id)],
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
    headers: text({ mode: 'json' }).$type<Sealed>().notNull(),
    notificationTypes: integer('notification_types').notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [
    uniqueIndex('webhooks_by_url').on(t.accountId, t.normalisedUrl),
    index('webhooks_by_account').on(t.accountId, t.createdAt, t.id),
  ],
);

export const webhookHealth = sqliteTable('webhook_health', {
  webhookId: text('webhook_id').primaryKey(),
  failures: integer().notNull(),
  openings: integer().notNull(),
  openUntil: integer('open_until').notNull(),
  probeId: text('probe_id'),
  window: integer(),
  timerAt: integer('timer_at'),
});

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
  },
  (t) => [
    uniqueIndex('portal_users_by_email').on(t.email),
    index('portal_users_by_account').on(t.accountId, t.createdAt, t.id),
  ],
);

export const signInLinks = sqliteTable('sign_in_links', {
  hash: text().primaryKey(),
  userId: text('user_id').notNull(),
  expiresAt: integer('expires_at').notNull(),
});

export const sessions = sqliteTable(
  'sessions',
  {
    hash: text().primaryKey(),
    userId: text('user_id').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [index('sessions_by_user').on(t.userId)],
);

/** What every record of a connector has. */
const record = {
  id: text().primaryKey(),
  accountId: text('account_id').notNull(),
  connectionId: text('connection_id').notNull(),
  sourceId: text('source_id').notNull(),
  sourceUpdatedAt: integer('source_updated_at'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
};

export const drivers = sqliteTable(
  'drivers',
  {
    ...record,
    name: text().notNull(),
    email: text(),
    phone: text(),
    licenseState: text('license_state'),
    licenseNumber: text('license_number'),
    status: integer().notNull(),
  },
  (t) => [
    index('drivers_by_account').on(t.accountId, t.createdAt, t.id),
    index('drivers_by_connection').on(t.connectionId, t.createdAt, t.id),
  ],
);

export const vehicles = sqliteTable(
  'vehicles',
  {
    ...record,
    name: text().notNull(),
    vin: text(),
    groups: text({ mode: 'json' }).$type<string[]>().notNull(),
    status: text({ enum: ['active', 'inactive'] }).notNull(),
    make: text(),
    model: text(),
    year: integer(),
    fuelType: text('fuel_type'),
    licensePlate: text('license_plate'),
    odometerKm: real('odometer_km'),
    lastLocation: text('last_location', { mode: 'json' }).$type<VehicleLocation>(),
  },
  (t) => [
    index('vehicles_by_connection').on(t.connectionId, t.createdAt, t.id),
    index('vehicles_by_vin').on(t.vin, t.createdAt, t.id),
  ],
);

export const trips = sqliteTable(
  'trips',
  {
    ...record,
    vehicleId: text('vehicle_id').notNull(),
    driverId: text('driver_id'),
    startedAt: integer('started_at').notNull(),
    endedAt: integer('ended_at'),
    startLocation: text('start_location', { mode: 'json' }).$type<Location>(),
    endLocation: text('end_location', { mode: 'json' }).$type<Location>(),
    distanceKm: real('distance_km'),
    durationSeconds: real('duration_seconds'),
  },
  (t) => [
    index('trips_by_account').on(t.accountId, t.startedAt, t.id),
    index('trips_by_connection').on(t.connectionId, t.startedAt, t.id),
    index('trips_by_vehicle').on(t.vehicleId, t.startedAt, t.id),
    index('trips_by_driver').on(t.driverId, t.startedAt, t.id),
  ],
);

export const safetyEvents = sqliteTable(
  'safety_events',
  {
    ...record,
    tsp: text().notNull(),
    incidentTypes: text('incident_types', { mode: 'json' }).$type<string[]>().notNull(),
    translatedIncidentTypes: text('translated_incident_types', { mode: 'json' }).$type<string[]>().notNull(),
    eventRisk: integer('event_risk').notNull(),
    issuedOn: integer('issued_on').notNull(),
    startedAt: integer('started_at').notNull(),
    endedAt: integer('ended_at'),
    location: text({ mode: 'json' }).$type<Location>(),
    vehicleId: text('vehicle_id').notNull(),
    vehicleName: text('vehicle_name').notNull(),
    vehicleVin: text('vehicle_vin'),
    vehicleGroups: text('vehicle_groups', { mode: 'json' }).$type<string[]>().notNull(),
    driverId: text('driver_id'),
    tripId: text('trip_id'),
    maxSpeedKph: real('max_speed_kph'),
    speedLimitKph: real('speed_limit_kph'),
  },
  (t) => [
    index('safety_events_by_connection').on(t.connectionId, t.startedAt, t.id),
    index('safety_events_by_vehicle').on(t.vehicleId, t.startedAt, t.id),
    index('safety_events_by_driver').on(t.driverId, t.startedAt, t.id),
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
    nextAttemptAt: integer('next_attempt_at').notNull(),
    claimedUntil: integer('claimed_until').notNull().default(0),
    finishedAt: integer('finished_at'),
    giveUpAt: integer('give_up_at').notNull().default(0),
    log: text({ mode: 'json' }).$type<unknown[]>().notNull(),
    priority: integer().notNull().default(3),
  },
  (t) => [
    primaryKey({ columns: [t.webhookId, t.id] }),
    index('deliveries_due').on(t.webhookId, t.priority, t.nextAttemptAt),
    index('deliveries_failed').on(t.webhookId, t.id),
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

export const sweeps = sqliteTable('sweeps', {
  id: integer().primaryKey(),
  at: integer().notNull(),
  oldestDueAt: integer('oldest_due_at'),
});

/** A place on earth, in decimal degrees. */
export type Location = { latitude: number; longitude: number };

/** Where a vehicle was last seen, and when (RFC 3339). */
export type VehicleLocation = Location & {
  altitudeMeters: number | null;
  speedKph: number | null;
  timestamp: string;
};
