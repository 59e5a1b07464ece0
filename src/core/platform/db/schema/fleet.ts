import { sql } from 'drizzle-orm';
import {
  index,
  integer,
  primaryKey,
  real,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core';
import { connections } from './accounts.ts';
import type { ReceivedLevel } from './types.ts';

export const vehicles = sqliteTable(
  'vehicles',
  {
    id: text().primaryKey(),
    accountId: text('account_id').notNull(),
    connectionId: text('connection_id')
      .notNull()
      .references(() => connections.id),
    sourceId: text('source_id').notNull(),
    name: text().notNull(),
    vin: text(),
    groups: text().notNull(),
    /** As they are compared, if lower(groups) is not. */
    groupKeys: text('group_keys'),
    status: text({ enum: ['active', 'inactive'] }).notNull(),
    make: text(),
    model: text(),
    year: integer(),
    fuelType: text('fuel_type'),
    licensePlate: text('license_plate'),
    odometerKm: real('odometer_km'),
    lastLocation: text('last_location'),
    /** The account's own identifier: no record sets it. */
    externalId: text('external_id'),
    sourceUpdatedAt: integer('source_updated_at'),
    /** What people find it by, in names. */
    searchKeys: text('search_keys').notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [
    index('vehicles_by_connection').on(t.connectionId, t.createdAt, t.id),
    index('vehicles_by_vin')
      .on(t.accountId, t.vin, t.createdAt, t.id)
      .where(sql`${t.vin} is not null`),
    uniqueIndex('vehicles_by_external')
      .on(t.accountId, t.externalId)
      .where(sql`${t.externalId} is not null`),
  ],
);

export const drivers = sqliteTable(
  'drivers',
  {
    id: text().primaryKey(),
    accountId: text('account_id').notNull(),
    connectionId: text('connection_id')
      .notNull()
      .references(() => connections.id),
    sourceId: text('source_id').notNull(),
    name: text().notNull(),
    email: text(),
    phone: text(),
    licenseState: text('license_state'),
    licenseNumber: text('license_number'),
    status: integer().notNull(),
    sourceUpdatedAt: integer('source_updated_at'),
    /** What people find it by, in names. */
    searchKeys: text('search_keys').notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [
    index('drivers_by_account').on(t.accountId, t.createdAt, t.id),
    index('drivers_by_connection').on(t.connectionId, t.createdAt, t.id),
  ],
);

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

export const trips = sqliteTable(
  'trips',
  {
    id: text().primaryKey(),
    accountId: text('account_id').notNull(),
    connectionId: text('connection_id').notNull(),
    sourceId: text('source_id').notNull(),
    vehicleId: text('vehicle_id').notNull(),
    driverId: text('driver_id'),
    startedAt: integer('started_at').notNull(),
    endedAt: integer('ended_at'),
    startLocation: text('start_location'),
    endLocation: text('end_location'),
    distanceKm: real('distance_km'),
    durationSeconds: real('duration_seconds'),
    sourceUpdatedAt: integer('source_updated_at'),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [
    index('trips_by_account').on(sql`unhex(substr(${t.accountId}, -12))`, t.startedAt, t.id),
    index('trips_by_connection').on(sql`unhex(substr(${t.connectionId}, -12))`, t.startedAt, t.id),
    index('trips_by_vehicle').on(sql`unhex(substr(${t.vehicleId}, -12))`, t.startedAt, t.id),
    index('trips_by_driver')
      .on(sql`unhex(substr(${t.driverId}, -12))`, t.startedAt, t.id)
      .where(sql`${t.driverId} is not null`),
  ],
);

export const safetyEvents = sqliteTable(
  'safety_events',
  {
    id: text().primaryKey(),
    accountId: text('account_id').notNull(),
    connectionId: text('connection_id').notNull(),
    sourceId: text('source_id').notNull(),
    tSP: text('tsp').notNull(),
    incidentTypes: text('incident_types').notNull(),
    translatedIncidentTypes: text('translated_incident_types').notNull(),
    eventRisk: integer('event_risk').notNull(),
    issuedOn: integer('issued_on').notNull(),
    startedAt: integer('started_at').notNull(),
    endedAt: integer('ended_at'),
    location: text(),
    vehicleId: text('vehicle_id').notNull(),
    vehicleName: text('vehicle_name').notNull(),
    vehicleVin: text('vehicle_vin'),
    vehicleGroups: text('vehicle_groups').notNull(),
    driverId: text('driver_id'),
    tripId: text('trip_id'),
    maxSpeedKph: real('max_speed_kph'),
    speedLimitKph: real('speed_limit_kph'),
    sourceUpdatedAt: integer('source_updated_at'),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    recipients: text(),
    withdrawn: integer(),
  },
  (t) => [
    index('safety_events_by_connection').on(
      sql`unhex(substr(${t.connectionId}, -12))`,
      t.startedAt,
      t.id,
    ),
    index('safety_events_by_vehicle').on(
      sql`unhex(substr(${t.vehicleId}, -12))`,
      t.startedAt,
      t.id,
    ),
    index('safety_events_by_driver')
      .on(sql`unhex(substr(${t.driverId}, -12))`, t.startedAt, t.id)
      .where(sql`${t.driverId} is not null`),
    index('safety_events_withdrawn').on(t.id).where(sql`${t.withdrawn} = 1`),
  ],
);

export const accidents = sqliteTable(
  'accidents',
  {
    /** The eventId of its notifications. */
    id: text().primaryKey(),
    accountId: text('account_id').notNull(),
    connectionId: text('connection_id')
      .notNull()
      .references(() => connections.id),
    tSP: text('tsp').notNull(),
    /** Empty if it is not known. */
    vin: text().notNull(),
    /** As decided at the last level: see src/core/fleet/accidents/decide.ts. */
    vehicleId: text('vehicle_id'),
    /** As the provider names it, whether or not it is known. */
    namedVehicleId: text('named_vehicle_id'),
    eventTime: integer('event_time').notNull(),
    location: text({ mode: 'json' }).$type<object>().notNull(),
    /** The highest. */
    notificationLevel: integer('notification_level').notNull(),
    reportReady: integer('report_ready', { mode: 'boolean' }).notNull(),
    isAccurate: integer('is_accurate', { mode: 'boolean' }).notNull(),
    dismissed: integer({ mode: 'boolean' }).notNull(),
    reportUrl: text('report_url'),
    levels: text({ mode: 'json' }).$type<ReceivedLevel[]>().notNull(),
    /** Bits 1, 2 and 4 of level 1, 2 and 3. */
    notified: integer().notNull(),
    sourceUpdatedAt: integer('source_updated_at'),
    /** By a user of the account: {"at", "by", "note"}. */
    acknowledged: text(),
    closed: text(),
    vehicleName: text('vehicle_name'),
    licensePlate: text('license_plate'),
    driverId: text('driver_id'),
    driverName: text('driver_name'),
    maxSpeedKph: real('max_speed_kph'),
    accelerationG: real('acceleration_g'),
    severity: text(),
    detectedAt: integer('detected_at'),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    assignedTo: text('assigned_to'),
    sourceId: text('source_id'),
    /** Of whoever takes care of it. */
    note: text(),
  },
  (t) => [
    index('accidents_by_driver')
      .on(t.driverId, t.eventTime, t.id)
      .where(sql`${t.driverId} is not null`),
    index('accidents_by_account').on(t.accountId, t.eventTime, t.id),
    index('accidents_by_connection').on(t.connectionId, t.eventTime, t.id),
    index('accidents_unattended')
      .on(t.accountId, t.eventTime, t.id)
      .where(sql`${t.dismissed} = 0 and ${t.acknowledged} is null and ${t.closed} is null`),
  ],
);

export const changes = sqliteTable(
  'changes',
  {
    accountId: text('account_id').notNull(),
    seq: integer().notNull(),
    lag: integer().notNull().default(0),
    connectionId: text('connection_id').notNull(),
    requestId: text('request_id'),
    action: text({ enum: ['changed', 'deleted'] }).notNull(),
    quiet: integer({ mode: 'boolean' }).notNull().default(false),
    archivedDay: integer('archived_day'),
    usage: text().notNull().default('[]'),
    records: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.seq] })],
);
