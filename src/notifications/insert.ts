import { sql } from 'drizzle-orm';
import { change, type Database, statement } from '../db/database.ts';
import { firstIdAt } from '../db/ids.ts';
import type { AccidentNotification, EventNotification } from './payloads.ts';
import { EVENT, type NotificationType } from './types.ts';

/** What notifications come from: a connection of an account, in a request, at a time in milliseconds since 1970. */
export type NotificationSource = { accountId: string; connectionId: string; requestId: string; now: number };

/**
 * One notification to be told, if it has not been: its key, and its payload. An event's payload lacks what its
 * vehicle adds, which the database fills in from the row of `vehicleId` as it writes.
 */
export type NewNotification = {
  eventId: string;
  level: number;
  type: NotificationType;
  vehicleId?: string;
  data: EventNotification | AccidentNotification;
};

/**
 * Whether `n`, a notification as JSON, has not been told yet: an event that is not there yet, of a known vehicle,
 * or a level of an accident without a notification. Everything that asks this runs before either the events or the
 * notifications are written, so that repeating the batch tells nobody twice.
 */
export const isUntold = sql`
  case when n.value->>'level' = 0
    then not exists (select 1 from safety_events where id = n.value->>'eventId')
      and exists (select 1 from vehicles where id = n.value->>'vehicleId')
    else not exists (select 1 from notifications
      where event_id = n.value->>'eventId' and level = n.value->>'level')
  end`;

/**
 * Writes the notifications of untold events, if some webhook subscribes to events: otherwise nobody needs them.
 * Each such webhook has just been given a delivery of each: when one of them has none, no notification is looked at.
 */
export const insertEventNotifications = (
  db: Database,
  source: NotificationSource,
  notifications: NewNotification[],
) =>
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
      ${JSON.stringify(notifications)}, '[]')) n
    cross join vehicles v on v.id = n.value->>'vehicleId'
    where not exists (select 1 from safety_events where id = n.value->>'eventId')
    on conflict do nothing`,
  );

/** Writes the notifications of untold levels of accidents. They are always kept: nothing else records an accident. */
export const insertAccidentNotifications = (
  db: Database,
  source: NotificationSource,
  notifications: NewNotification[],
) => change(db, insertAll(source, notifications));

/** Writes notifications that exist nowhere else, such as those of a test. */
export const insertNotifications = (
  db: Database,
  source: NotificationSource,
  notifications: NewNotification[],
) => statement(db, insertAll(source, notifications));

const insertAll = (source: NotificationSource, notifications: NewNotification[]) => sql`
    insert into notifications (event_id, level, type, account_id, connection_id, data, created_at, request_id)
    select n.value->>'eventId', n.value->>'level', n.value->>'type', ${source.accountId},
      ${source.connectionId}, n.value->>'data', ${source.now}, ${source.requestId}
    from json_each(${JSON.stringify(notifications)}) n
    where true
    on conflict do nothing`;
