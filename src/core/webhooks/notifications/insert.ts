import { type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/database.ts';
import { firstIdAt } from '../../platform/db/ids.ts';
import { notifications as table } from '../../platform/db/schema/webhooks.ts';
import { isLetThrough } from './pass.ts';
import type { AccidentNotification, EventNotification } from './payloads.ts';
import { ACCIDENT, EVENT, type NotificationType } from './types.ts';

/** Where and when notifications come from. */
export type NotificationSource = {
  accountId: string;
  connectionId: string;
  requestId: string;
  now: number;
};

/** A notification: its key and payload. The vehicle adds to an event's, and is what options look at. */
export type NewNotification = {
  eventId: string;
  level: number;
  type: NotificationType;
  vehicleId?: string | null;
  data: EventNotification | AccidentNotification;
};

/**
 * SQL for whether the notification `n` is new, evaluated before events are written: repeats notify once. That of an
 * accident always is: whether to notify of a level was decided before.
 */
export const isNew = (type: NotificationType): SQL =>
  type === EVENT
    ? sql`(not exists (select 1 from safety_events where id = n.value->>'eventId')
      and exists (select 1 from vehicles where id = n.value->>'vehicleId'))`
    : sql`true`;

/** SQL for how many of these notifications of events are new. */
export const newAmong = (notifications: NewNotification[]): SQL => {
  const keys = notifications.map(({ eventId, level, vehicleId }) => ({
    eventId,
    level,
    vehicleId,
  }));
  return sql`(select count(*) from json_each(${JSON.stringify(keys)}) n where ${isNew(EVENT)})`;
};

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
    where ${subscribersOf(connectionId, ACCIDENT)} and ${isLetThrough()}), 1)`;
  // Raw: any number of rows by one parameter.
  return db.run(sql`
    insert into notifications
      (event_id, level, type, account_id, connection_id, data, created_at, request_id)
    select n.value->>'eventId', n.value->>'level', n.value->>'type', ${source.accountId},
      ${source.connectionId}, n.value->>'data', ${source.now}, ${source.requestId}
    from ${all} n where ${isWanted} on conflict do nothing`);
}

/** Writes a few notifications without a record: those of tests. */
export const insertNotifications = (
  db: Database,
  { accountId, connectionId, now, requestId }: NotificationSource,
  all: NewNotification[],
) =>
  db.insert(table).values(
    all.map(({ eventId, level, type, data }) => ({
      ...{ eventId, level, type, accountId, connectionId, createdAt: now, requestId },
      data: JSON.stringify(data),
    })),
  );

/** SQL for the webhooks that subscribe to a type of notifications of a connection. */
export const subscribersOf = (connectionId: string, type: NotificationType): SQL =>
  sql`connection_id = ${connectionId} and notification_types & ${type}`;

/** SQL for a value of the first webhook `c` that subscribes. */
export const ofFirst = (connectionId: string, type: NotificationType, value: SQL): SQL =>
  sql`(select ${value} from webhook_connections c where ${subscribersOf(connectionId, type)} limit 1)`;
