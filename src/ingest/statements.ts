import { sql } from 'drizzle-orm';
import { type Database, statement } from '../db/database.ts';
import { drivers, safetyEvents, trips, vehicles } from '../db/tables.ts';
import { upsert } from '../db/upsert.ts';
import type { EventRow } from './rows.ts';

/** Which of these vehicles D1 knows, those of the same call included. */
export const knownVehicles = (db: Database, ids: string[]) =>
  statement<{ id: string }>(
    db,
    sql`select v.id from json_each(${JSON.stringify(ids)}) wanted cross join vehicles v on v.id = wanted.value`,
  );

/**
 * Writes safety events, each with its vehicle's name, VIN and groups as they are now; those of an unknown
 * vehicle are passed over.
 */
export const upsertEvents = (db: Database, rows: EventRow[]) =>
  upsert(db, safetyEvents, rows, {
    join: ofKnownVehicle,
    from: { vehicle_name: 'v.name', vehicle_vin: 'v.vin', vehicle_groups: 'v.groups' },
    fixed: ['tsp', 'vehicle_name', 'vehicle_vin', 'vehicle_groups'],
  });

/** Writes drivers. */
export const upsertDrivers = (db: Database, rows: (typeof drivers.$inferInsert)[]) =>
  upsert(db, drivers, rows);

/** Writes vehicles. */
export const upsertVehicles = (db: Database, rows: (typeof vehicles.$inferInsert)[]) =>
  upsert(db, vehicles, rows);

/** Writes trips; those of an unknown vehicle are passed over. */
export const upsertTrips = (db: Database, rows: (typeof trips.$inferInsert)[]) =>
  upsert(db, trips, rows, { join: ofKnownVehicle });

const ofKnownVehicle = "join vehicles v on v.id = r.value->>'vehicleId'";
