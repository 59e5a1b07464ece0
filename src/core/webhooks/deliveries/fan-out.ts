import { type SQL, sql } from 'drizzle-orm';
import type { Database, Results } from '../../platform/db/database.ts';
import { dumpedBytes } from '../../platform/db/dump.ts';
import { uuidV7Sql } from '../../platform/db/id-sql.ts';
import { deliveries } from '../../platform/db/schema/webhooks.ts';
import { maxWebhooks } from '../fields.ts';
import {
  insertNew,
  isNew,
  type NewNotification,
  type NotificationSource,
  ofFirst,
  subscribersOf,
} from '../notifications/insert.ts';
import { filterable, isLetThrough } from '../notifications/pass.ts';
import { ACCIDENT, type NotificationType } from '../notifications/types.ts';
import { dueDeliveries } from './due.ts';
import { priorityOf } from './policy.ts';
import { type DeliveryMessage, wakeOf } from './queue.ts';
import { holdLevels } from './send/accident-order.ts';

/** The most deliveries that the transaction of an ingest call creates. */
const maxInFirst = 2000;

/** The most bytes of notifications in a row, as in a dump. There are several rows for more. */
export const maxNotificationBytes = 40_000;

/** How many webhooks a transaction serves that creates so many deliveries. */
export const webhooksIn = (deliveries: number, notifications: number): number =>
  Math.max(1, Math.floor(deliveries / Math.max(1, notifications)));

/** New notifications of one type, of which the transaction has `ofType` in all. */
type New = { type: NotificationType; notifications: NewNotification[]; ofType: number };

/**
 * The statements, before those of the records, that give subscribing webhooks a delivery of each
 * new notification, and write these. One transaction creates a bounded number; a fan-out remembers
 * the rest.
 */
export function fanOut(db: Database, source: NotificationSource, news: New) {
  const { type, notifications, ofType } = news;
  const { accountId, connectionId, now } = source;
  const keys = keysOf(news);
  const unseen = unseenOf(news);
  const perRow = Math.max(
    1,
    Math.floor(
      maxNotificationBytes / Math.max(1, ...keys.map((key) => dumpedBytes(JSON.stringify(key)))),
    ),
  );
  const first = firstWebhooks(source, news);
  const servedAtOnce = webhooksIn(maxInFirst, ofType);
  // Deliveries have just been made, unless nothing passes these webhooks' filters.
  const hasRest = sql`
    exists (select 1 from webhook_connections where ${subscribersOf(connectionId, type)}
      limit 1 offset ${servedAtOnce})
    and (changes() > 0 or ${ofFirst(connectionId, type, sql`c.filtered and exists ${unseen}`)})`;
  const rest = () =>
    // Set-based: as many rows as the notifications need.
    db.all<{ id: string }>(sql`
      insert into fan_outs
        (id, account_id, connection_id, type, notifications, expanded_to, created_at)
      select ${uuidV7Sql(now)}, ${accountId}, ${connectionId}, ${type},
        json_group_array(json(value)), (select max(webhook_id) from ${first}), ${now}
      from ${unseenOf(news, hasRest)} group by key / cast(${perRow} as integer) returning id`);
  return {
    idle: selectIdle(db, source, type, first, unseen),
    deliveries: insertDeliveries(db, source, now, unseen, first),
    rest: servedAtOnce < maxWebhooks ? rest() : undefined,
    notifications: type === ACCIDENT ? insertNew(db, source, notifications) : undefined,
  };
}

/** What the statements need of notifications. */
const keysOf = ({ type, notifications }: New) =>
  notifications.map(({ data, ...key }) => ({
    ...key,
    data: filterable(data),
    priority: priorityOf(type, 'eventRisk' in data ? data.eventRisk : 0),
  }));

/** SQL for those that are new, before the records are written. */
const unseenOf = (news: New, condition = sql`true`): SQL => sql`(
  select n.key, n.value from json_each(iif(${condition}, ${JSON.stringify(keysOf(news))}, '[]')) n
  where ${isNew(news.type)})`;

/** The work that a fan-out has made. */
export const workOf = (
  { accountId }: NotificationSource,
  { type }: New,
  { idle, rest = [] }: Results<ReturnType<typeof fanOut>>,
): DeliveryMessage[] => [
  ...wakeOf(accountId, idsOf(idle), type),
  ...rest.map(({ id }) => ({ fanOut: id })),
];

export const idsOf = (idle: { webhookId: string }[]): string[] =>
  idle.map(({ webhookId }) => webhookId);

/** Makes later levels wait for earlier ones, once their notifications are written. */
export function holdNewLevels(db: Database, source: NotificationSource, news: New) {
  const levels = JSON.stringify(
    news.notifications.map(({ eventId, level }) => ({ eventId, level })),
  );
  const { now } = source;
  return holdLevels(
    db,
    sql`(select value from json_each(${levels}))`,
    firstWebhooks(source, news),
    now,
    now,
  );
}

/** The webhooks that the call's own transaction serves. */
const firstWebhooks = ({ connectionId }: NotificationSource, { type, ofType }: New): SQL => sql`(
  select webhook_id, filtered from webhook_connections where ${subscribersOf(connectionId, type)}
  order by webhook_id limit ${webhooksIn(maxInFirst, ofType)})`;

/** The webhooks to wake. Accidents have workers of their own, and due events have some already. */
export const selectIdle = (
  db: Database,
  source: NotificationSource,
  type: NotificationType,
  webhooks: SQL,
  notifications: SQL,
  hasSome = sql`exists ${notifications}`,
) =>
  // Set-based.
  db.all<{ webhookId: string }>(sql`
    select webhook_id as webhookId from ${webhooks} w where ${hasSome}
      and iif(w.filtered, exists (
        select 1 from ${notifications} n where ${isLetThrough()}), 1)
      ${
        type === ACCIDENT
          ? undefined
          : sql`and not exists (
              select 1 from ${dueDeliveries(sql`w.webhook_id`, source.now, 'events')} limit 1)`
      }`);

/** Each notification for each webhook. */
export const insertDeliveries = (
  db: Database,
  source: NotificationSource,
  createdAt: number,
  notifications: SQL,
  webhooks: SQL,
) =>
  // Set-based.
  db.run(sql`
    insert into deliveries
      (webhook_id, id, account_id, event_id, level, status, priority, next_attempt_at)
    select w.webhook_id, ${uuidV7Sql(createdAt)}, ${source.accountId},
      n.value->>'eventId', n.value->>'level', 'pending', n.value->>'priority', ${source.now}
    from ${notifications} n cross join ${webhooks} w where ${isLetThrough()}`);

/** Adds deliveries of made-up notifications. */
export const insertTests = (db: Database, tests: (typeof deliveries.$inferInsert)[]) =>
  db.insert(deliveries).values(tests);
