import { sql } from 'drizzle-orm';
import { change, type Database, statement } from '../db/database.ts';
import { firstIdAt } from '../db/ids.ts';
import { drivers, safetyEvents, trips, vehicles } from '../db/tables.ts';
import { upsert } from '../db/upsert.ts';
import { giveUpAfterMs } from '../deliveries/policy.ts';
import { EVENT } from '../webhooks/schema.ts';
import type { EventRow, Notice, Source } from './rows.ts';

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

/**
 * A notice is news when nothing of the kind has been told: an event that is not there yet, of a known
 * vehicle, or a level of an accident that has no notification yet. Both statements below ask this before
 * either the events or the notifications are written, so that repeating the batch tells nobody twice.
 */
const isNews = sql`
  case when n.value->>'level' = 0
    then not exists (select 1 from safety_events where id = n.value->>'eventId')
      and exists (select 1 from vehicles where id = n.value->>'vehicleId')
    else not exists (select 1 from notifications
      where event_id = n.value->>'eventId' and level = n.value->>'level')
  end`;

/** One pending delivery for each notice that is news and each webhook that asked for it (spec 6.1). */
export const insertDeliveries = (db: Database, source: Source, notices: Notice[]) =>
  statement<{ webhookId: string; id: string }>(
    db,
    sql`
    insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at,
      give_up_at)
    select wc.webhook_id, ${uuidV7(source.now)}, ${source.accountId}, n.value->>'eventId',
      n.value->>'level', 'pending', ${source.now}, ${source.now + giveUpAfterMs}
    from json_each(${JSON.stringify(notices.map(({ data, ...key }) => key))}) n
    cross join webhook_connections wc
      on wc.connection_id = ${source.connectionId} and wc.notification_types & (n.value->>'type')
    where ${isNews}
    returning webhook_id as webhookId, id`,
  );

/**
 * The notifications of the events that are news, where some webhook asks for events: else nobody needs them.
 * Each such webhook has just been given a delivery of each: when one of them has none, no notice is looked at.
 */
export const insertEventNotifications = (db: Database, source: Source, notices: Notice[]) =>
  change(
    db,
    sql`
    insert into notifications (event_id, level, type, account_id, connection_id, data, created_at, request_id)
    select n.value->>'eventId', 0, n.value->>'type', ${source.accountId}, ${source.connectionId},
      json_set(n.value->>'data', '$.vehicleName', v.name, '$.vehicleVin', coalesce(v.vin, ''),
        '$.vehicleGroups', json(v.groups)),
      ${source.now}, ${source.requestId}
    from json_each(iif(
      exists (select 1 from deliveries
        where id >= ${firstIdAt(source.now)} and webhook_id = (select webhook_id from webhook_connections
          where connection_id = ${source.connectionId} and notification_types & ${EVENT} limit 1)),
      ${JSON.stringify(notices)}, '[]')) n
    cross join vehicles v on v.id = n.value->>'vehicleId'
    where not exists (select 1 from safety_events where id = n.value->>'eventId')
    on conflict do nothing`,
  );

/** The notifications of the accidents' levels that are news. They are kept always: all that is known of them. */
export const insertAccidentNotifications = (db: Database, source: Source, notices: Notice[]) =>
  change(
    db,
    sql`
    insert into notifications (event_id, level, type, account_id, connection_id, data, created_at, request_id)
    select n.value->>'eventId', n.value->>'level', n.value->>'type', ${source.accountId},
      ${source.connectionId}, n.value->>'data', ${source.now}, ${source.requestId}
    from json_each(${JSON.stringify(notices)}) n
    where true
    on conflict do nothing`,
  );

/** SQL for a new UUIDv7 of the time `now`, random from row to row. */
function uuidV7(now: number) {
  const time = now.toString(16).padStart(12, '0');
  const prefix = `${time.slice(0, 8)}-${time.slice(8)}-7`;
  return sql`${prefix} || substr(lower(hex(randomblob(2))), 2) || '-' ||
    substr('89ab', 1 + (random() & 3), 1) || substr(lower(hex(randomblob(2))), 2) || '-' ||
    lower(hex(randomblob(6)))`;
}
