import { type SQL, sql } from 'drizzle-orm';
import {
  type Database,
  type Results,
  read,
  transaction,
  write,
  writeReturning,
} from '../../platform/db/database.ts';
import { dumpedBytes } from '../../platform/db/dump.ts';
import { notMoving } from '../../platform/db/guard.ts';
import { uuidV7Sql } from '../../platform/db/id-sql.ts';
import { afterAllIds, firstIdAt } from '../../platform/db/ids.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { largeTransactions } from '../../platform/fair-queue.ts';
import { isLeft, newBudget, within } from '../../platform/jobs/budget.ts';
import { send } from '../../platform/queue.ts';
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
import { claimsForMs, priorityOf } from './policy.ts';
import { type DeliveryMessage, type FanOut, wakeOf } from './queue.ts';
import { holdLevels } from './send/accident-order.ts';

/** The most deliveries that the transaction of an ingest call creates, and each that follows it. */
const maxInFirst = 2000;
const maxInNext = 500;

/** How long a fan-out waits when too many of the account's large transactions do. */
const tooManyWaitMs = 500;

/** The most bytes of notifications in a row, as in a dump. There are several rows for more. */
export const maxNotificationBytes = 40_000;

const webhooksIn = (deliveries: number, notifications: number): number =>
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
    Math.floor(maxNotificationBytes / Math.max(1, ...keys.map((key) => dumpedBytes(JSON.stringify(key))))),
  );
  const first = firstWebhooks(source, news);
  const servedAtOnce = webhooksIn(maxInFirst, ofType);
  // Deliveries have just been made, unless nothing passes these webhooks' filters.
  const hasRest = sql`
    exists (select 1 from webhook_connections where ${subscribersOf(connectionId, type)} limit 1 offset ${servedAtOnce})
    and (changes() > 0 or ${ofFirst(connectionId, type, sql`c.filtered and exists (${unseen})`)})`;
  const rest = () =>
    writeReturning<{ id: string }>(db)`
      insert into fan_outs (id, account_id, connection_id, type, notifications, expanded_to, created_at)
      select ${uuidV7Sql(now)}, ${accountId}, ${connectionId}, ${type},
        json_group_array(json(value)), (select max(webhook_id) from ${first}), ${now}
      from (${unseenOf(news, hasRest)}) group by key / cast(${perRow} as integer) returning id`;
  return {
    idle: selectIdle(db, source, type, first, unseen),
    deliveries: write(db)`${insertDeliveries(source, type, now, unseen, first)}`,
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
const unseenOf = (news: New, condition = sql`true`): SQL => sql`
  select n.key, n.value from json_each(iif(${condition}, ${JSON.stringify(keysOf(news))}, '[]')) n
  where ${isNew(news.type)}`;

/** The work that a fan-out has made. */
export const workOf = (
  { accountId }: NotificationSource,
  { type }: New,
  { idle, rest = [] }: Results<ReturnType<typeof fanOut>>,
): DeliveryMessage[] => [...wakeOf(accountId, idsOf(idle), type), ...rest.map(({ id }) => ({ fanOut: id }))];

const idsOf = (idle: { webhookId: string }[]): string[] => idle.map(({ webhookId }) => webhookId);

/** Makes later levels wait for earlier ones, once their notifications are written. */
export function holdNewLevels(db: Database, source: NotificationSource, news: New) {
  const levels = JSON.stringify(news.notifications.map(({ eventId, level }) => ({ eventId, level })));
  const { now } = source;
  return holdLevels(db, sql`select value from json_each(${levels})`, firstWebhooks(source, news), now, now);
}

/** The webhooks that the call's own transaction serves. */
const firstWebhooks = ({ connectionId }: NotificationSource, { type, ofType }: New): SQL => sql`(
  select webhook_id, filtered from webhook_connections where ${subscribersOf(connectionId, type)}
  order by webhook_id limit ${webhooksIn(maxInFirst, ofType)})`;

type FanOutRow = {
  accountId: string;
  connectionId: string;
  type: NotificationType;
  notifications: number;
  createdAt: number;
};

/** Continues a fan-out in small transactions, which advance its mark: repeats create nothing twice. */
export async function continueFanOut(env: Env, message: FanOut): Promise<void> {
  const budget = newBudget({ ms: claimsForMs });
  const db = openDatabase(within(env, budget));
  const { fanOut: id } = message;
  const [row] = await read<FanOutRow>(db)`
    select account_id as accountId, connection_id as connectionId, type, created_at as createdAt,
      json_array_length(notifications) as notifications
    from fan_outs where id = ${id} and expanded_to < ${afterAllIds} and ${notMoving(sql`fan_outs.account_id`)}`;
  for (let more = true; row && more; ) {
    if (!isLeft(budget)) return void (await send(env.DELIVERIES, [message]));
    const step = await largeTransactions.run(row.accountId, () => expandNext(env, db, id, row));
    if (step) more = step.result;
    else await scheduler.wait(tooManyWaitMs);
  }
}

/** Serves the webhooks after the fan-out's mark. Returns whether there may be more. */
async function expandNext(env: Env, db: Database, id: string, row: FanOutRow): Promise<boolean> {
  const { accountId, connectionId, type, notifications, createdAt } = row;
  const now = Date.now();
  const source = { accountId, connectionId, now, requestId: '' };
  // Webhooks that were created later are not notified of what came before.
  const subscribers = sql`${subscribersOf(connectionId, type)} and webhook_id < ${firstIdAt(createdAt + 1)}`;
  const count = webhooksIn(maxInNext, notifications);
  const fanOut = sql`fan_outs where id = ${id} and ${notMoving(sql`fan_outs.account_id`)}`;
  const next = sql`(
    select webhook_id, filtered from webhook_connections
    where ${subscribers} and webhook_id > (select expanded_to from ${fanOut}) order by webhook_id limit ${count})`;
  const keys = sql`select n.key, n.value from json_each((select notifications from fan_outs where id = ${id})) n`;
  const { idle, moved } = await transaction(db, {
    idle: selectIdle(db, source, type, next, keys, sql`1`),
    deliveries: write(db)`${insertDeliveries(source, type, createdAt, keys, next)}`,
    held: type === ACCIDENT ? holdLevels(db, keys, next, createdAt, now) : undefined,
    moved: writeReturning<{ mark: string }>(db)`
      update fan_outs set expanded_to = coalesce((select max(webhook_id) from ${next}), ${afterAllIds})
      where id in (select id from ${fanOut}) returning expanded_to as mark`,
    deleted: write(db)`delete from fan_outs where id = ${id} and expanded_to = ${afterAllIds}`,
  });
  await send(env.DELIVERIES, wakeOf(accountId, idsOf(idle), type));
  return moved.some(({ mark }) => mark < afterAllIds);
}

/** The webhooks to wake. Accidents have workers of their own, and due events have some already. */
const selectIdle = (
  db: Database,
  source: NotificationSource,
  type: NotificationType,
  webhooks: SQL,
  notifications: SQL,
  hasSome = sql`exists (${notifications})`,
) =>
  read<{ webhookId: string }>(db)`
    select webhook_id as webhookId from ${webhooks} w where ${hasSome}
      and iif(w.filtered, exists (select 1 from (${notifications}) n where ${isLetThrough(source, type)}), 1)
      ${
        type === ACCIDENT
          ? undefined
          : sql`and not exists (select 1 from ${dueDeliveries(sql`w.webhook_id`, source.now, 'events')} limit 1)`
      }`;

/** Each notification for each webhook. */
const insertDeliveries = (
  source: NotificationSource,
  type: NotificationType,
  createdAt: number,
  notifications: SQL,
  webhooks: SQL,
): SQL => sql`
  insert into deliveries (webhook_id, id, account_id, event_id, level, status, priority, next_attempt_at)
  select w.webhook_id, ${uuidV7Sql(createdAt)}, ${source.accountId}, n.value->>'eventId', n.value->>'level', 'pending',
    n.value->>'priority', ${source.now}
  from (${notifications}) n cross join ${webhooks} w where ${isLetThrough(source, type)}`;

/** A delivery of a made-up notification; due at a time in milliseconds since 1970. */
export type TestDelivery = { id: string; eventId: string; level: number; priority: number; dueAt: number };

export const insertTests = (db: Database, accountId: string, webhookId: string, deliveries: TestDelivery[]) =>
  write(db)`
    insert into deliveries (webhook_id, id, account_id, event_id, level, status, priority, next_attempt_at, is_test)
    select ${webhookId}, value->>'id', ${accountId}, value->>'eventId', value->>'level', 'pending',
      value->>'priority', value->>'dueAt', 1
    from json_each(${JSON.stringify(deliveries)})`;
