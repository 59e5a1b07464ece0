import { type SQL, sql } from 'drizzle-orm';
import { notifiedAfter, notifiedBefore } from '../../fleet/accidents/notified.ts';
import { knownVinAfter } from '../../fleet/accidents/vehicle.ts';
import { type Database, write } from '../../platform/db/database.ts';
import { firstIdAt } from '../../platform/db/ids.ts';
import { isLetThrough, ownerOf } from './pass.ts';
import type { AccidentNotification, EventNotification } from './payloads.ts';
import { ACCIDENT, EVENT, type NotificationType } from './types.ts';

/** Where and when notifications come from. */
export type NotificationSource = {
  accountId: string;
  connectionId: string;
  requestId: string;
  now: number;
};

/** A notification: its key and payload. The vehicle adds to an event's; `accident` decides the level. */
export type NewNotification = {
  eventId: string;
  level: number;
  type: NotificationType;
  vehicleId?: string;
  accident?: AccidentContent;
  data: EventNotification | AccidentNotification;
};

/** What a record says of its accident. `vehicleId` is the vehicle that it names. */
type AccidentContent = {
  notificationLevel: number;
  dismissed: boolean;
  sourceUpdatedAt?: number | null | undefined;
  vin: string;
  vehicleId: string | null;
};

/** SQL for whether the notification `n` is new, evaluated before records are written: repeats notify once. */
export const isNew = (type: NotificationType): SQL =>
  type === EVENT
    ? sql`(not exists (select 1 from safety_events where id = n.value->>'eventId')
      and exists (select 1 from vehicles where id = n.value->>'vehicleId'))`
    : sql`(select ${notifiedAfter(sql`n.value->'accident'`)} <> ${notifiedBefore}
        from (select 1) left join accidents a on a.id = n.value->>'eventId')`;

/** SQL for how many of these notifications of events are new. */
export const newAmong = (notifications: NewNotification[]): SQL => {
  const keys = notifications.map(({ eventId, level, vehicleId }) => ({
    eventId,
    level,
    vehicleId,
  }));
  return sql`(select count(*) from json_each(${JSON.stringify(keys)}) n where ${isNew(EVENT)})`;
};

/** SQL for an accident's payload. Without a VIN it gets that of the vehicle. */
const accidentPayload = (source: NotificationSource): SQL => sql`
  iif(n.value->>'$.data.vin' <> '', n.value->>'data', (
    select json_set(n.value->>'data', '$.vin', ${knownVinAfter(sql`n.value->'accident'`, ownerOf(source))})
    from (select 1) left join accidents a on a.id = n.value->>'eventId'))`;

/** Writes new notifications of accidents that some webhook gets. */
export function insertNew(
  db: Database,
  source: NotificationSource,
  notifications: NewNotification[],
) {
  const { connectionId, now } = source;
  const isFiltered = ofFirst(connectionId, ACCIDENT, sql`c.filtered`);
  const hasSome = sql`c.filtered or exists (
    select 1 from deliveries d where d.id >= ${firstIdAt(now)} and d.webhook_id = c.webhook_id)`;
  const all = sql`json_each(iif(${ofFirst(connectionId, ACCIDENT, hasSome)}, ${JSON.stringify(notifications)}, '[]'))`;
  const isWanted = sql`iif(${isFiltered}, exists (
    select 1 from webhook_connections w
    where ${subscribersOf(connectionId, ACCIDENT)} and ${isLetThrough(source, ACCIDENT)}), 1)`;
  const wanted = sql`${all} n where ${isNew(ACCIDENT)} and ${isWanted}`;
  return insertFrom(db, source, accidentPayload(source), wanted);
}

/** Writes notifications without a record, such as those of tests. */
export function insertNotifications(
  db: Database,
  source: NotificationSource,
  all: NewNotification[],
) {
  return insertFrom(
    db,
    source,
    sql`n.value->>'data'`,
    sql`json_each(${JSON.stringify(all)}) n where true`,
  );
}

/** SQL for the webhooks that subscribe to a type of notifications of a connection. */
export const subscribersOf = (connectionId: string, type: NotificationType): SQL =>
  sql`connection_id = ${connectionId} and notification_types & ${type}`;

/** SQL for a value of the first webhook `c` that subscribes. */
export const ofFirst = (connectionId: string, type: NotificationType, value: SQL): SQL =>
  sql`(select ${value} from webhook_connections c where ${subscribersOf(connectionId, type)} limit 1)`;

const insertFrom = (db: Database, source: NotificationSource, data: SQL, notifications: SQL) =>
  write(db)`
    insert into notifications (event_id, level, type, account_id, connection_id, data, created_at, request_id)
    select n.value->>'eventId', n.value->>'level', n.value->>'type', ${source.accountId}, ${source.connectionId},
      ${data}, ${source.now}, ${source.requestId}
    from ${notifications} on conflict do nothing`;
