import { sql } from 'drizzle-orm';
import { type Database, statement } from '../db/database.ts';
import { isUntold, type NewNotification, type NotificationSource } from '../notifications/insert.ts';
import { giveUpAfterMs } from './policy.ts';
import type { DeliveryKey } from './queue.ts';

/** One pending delivery for each untold notification and each webhook that subscribes to it (spec 6.1). */
export const fanOut = (db: Database, source: NotificationSource, notifications: NewNotification[]) =>
  statement<DeliveryKey>(
    db,
    sql`
    insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at,
      give_up_at)
    select wc.webhook_id, ${uuidV7(source.now)}, ${source.accountId}, n.value->>'eventId',
      n.value->>'level', 'pending', ${source.now}, ${source.now + giveUpAfterMs}
    from json_each(${JSON.stringify(notifications.map(({ data, ...key }) => key))}) n
    cross join webhook_connections wc
      on wc.connection_id = ${source.connectionId} and wc.notification_types & (n.value->>'type')
    where ${isUntold}
    returning webhook_id as webhookId, id`,
  );

/** A delivery for one webhook, whatever it subscribes to; due at a time in milliseconds since 1970. */
export type SingleDelivery = { id: string; eventId: string; level: number; dueAt: number };

/** Deliveries for one webhook alone. */
export const deliverTo = (
  db: Database,
  { accountId, now }: NotificationSource,
  webhookId: string,
  deliveries: SingleDelivery[],
) =>
  statement(
    db,
    sql`
    insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at, give_up_at)
    select ${webhookId}, value->>'id', ${accountId}, value->>'eventId', value->>'level', 'pending',
      value->>'dueAt', ${now + giveUpAfterMs}
    from json_each(${JSON.stringify(deliveries)})`,
  );

/** SQL for a new UUIDv7 of the time `now`, random from row to row. */
function uuidV7(now: number) {
  const time = now.toString(16).padStart(12, '0');
  const prefix = `${time.slice(0, 8)}-${time.slice(8)}-7`;
  return sql`${prefix} || substr(lower(hex(randomblob(2))), 2) || '-' ||
    substr('89ab', 1 + (random() & 3), 1) || substr(lower(hex(randomblob(2))), 2) || '-' ||
    lower(hex(randomblob(6)))`;
}
