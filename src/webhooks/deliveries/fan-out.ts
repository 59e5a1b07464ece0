import { type SQL, sql } from 'drizzle-orm';
import { type Database, read, transaction, write, writeReturning } from '../../platform/db/database.ts';
import { notMoving } from '../../platform/db/guard.ts';
import { uuidV7Sql } from '../../platform/db/id-sql.ts';
import { firstIdAt } from '../../platform/db/ids.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { largeTransactions } from '../../platform/fair-queue.ts';
import { send } from '../../platform/queue.ts';
import {
  isNew,
  type NewNotification,
  type NotificationSource,
  ofFirst,
  ownPayload,
  subscribersOf,
} from '../notifications/insert.ts';
import { filterable, isLetThrough } from '../notifications/pass.ts';
import { ACCIDENT, type NotificationType } from '../notifications/types.ts';
import { dueDeliveries } from './due.ts';
import { claimsForMs, priorityOf } from './policy.ts';
import { type FanOut, wakeOf } from './queue.ts';
import { holdLevels } from './send/accident-order.ts';
import { dueAndClaimed, readyWebhook, selectClaimedAtOnce } from './send/first-claim.ts';

/** The most deliveries that the transaction of an ingest call creates, and each that follows it. */
const maxInFirst = 2000;
const maxInNext = 500;

/** How long a fan-out waits when too many of the account's large transactions do. */
const tooManyWaitMs = 500;

/** Sorts after every id. */
const END = '~';

/** How many bytes of notifications a row of a fan-out has, as in a dump: there are several rows for more. */
export const maxNotificationBytes = 40_000;

/** The bytes of a value as JSON in a dump, where quotes are doubled. */
const dumpedBytes = (value: object): number =>
  new TextEncoder().encode(JSON.stringify(value).replaceAll("'", "''")).length;

const webhooksIn = (deliveries: number, notifications: number): number =>
  Math.max(1, Math.floor(deliveries / Math.max(1, notifications)));

/**
 * The statements that give each subscribing webhook a pending delivery of each new notification, up to the limit of one
 * transaction; a fan-out remembers the rest, for `continueFanOut`. They run in this order, before the notifications and
 * records are written. The notifications are all of one type, of which the transaction has `inAll`. With `claims`, the
 * first deliveries are claimed at once, if a webhook is ready for them.
 */
export function fanOut(
  db: Database,
  source: NotificationSource,
  type: NotificationType,
  notifications: NewNotification[],
  { inAll, claims }: { inAll: number; claims: boolean },
) {
  const whole = notifications.map(({ data, ...key }) => ({
    ...key,
    data,
    priority: priorityOf(type, 'eventRisk' in data ? data.eventRisk : 0),
  }));
  const keys = whole.map((one) => ({ ...one, data: filterable(one.data) }));
  const newOf = (all: object[], condition = sql`true`): SQL =>
    sql`select n.key, n.value from json_each(iif(${condition}, ${JSON.stringify(all)}, '[]')) n where ${isNew}`;
  const unseen = newOf(keys);
  const perRow = Math.max(1, Math.floor(maxNotificationBytes / Math.max(1, ...keys.map(dumpedBytes))));
  const subscribers = subscribersOf(source.connectionId, type);
  const first = firstWebhooks(source, type, inAll);
  // Deliveries have just been made of what is new, unless nothing of it passes the filters of these webhooks.
  const hasRest = sql`
    exists (select 1 from webhook_connections where ${subscribers}
      limit 1 offset ${webhooksIn(maxInFirst, inAll)})
    and (changes() > 0 or ${ofFirst(source.connectionId, type, sql`c.filtered and exists (${unseen})`)})`;
  return {
    idle: selectIdle(db, source, type, first, unseen),
    deliveries: write(db)`${insertDeliveries(
      source,
      source.now,
      newOf(whole),
      first,
      claims ? readyWebhook(first, source.now) : sql`null`,
      ownPayload(source, type),
    )}`,
    claimed: claims ? [selectClaimedAtOnce(db, first, unseen, source.now)] : [],
    rest: writeReturning<{ id: string }>(db)`
      insert into fan_outs (id, account_id, connection_id, type, notifications, expanded_to, created_at)
      select ${uuidV7Sql(source.now)}, ${source.accountId}, ${source.connectionId}, ${type},
        json_group_array(json(value)), (select max(webhook_id) from ${first}), ${source.now}
      from (${newOf(keys, hasRest)}) group by key / cast(${perRow} as integer) returning id`,
  };
}

/** The statement that makes later levels wait for earlier ones, once the accidents' notifications are written. */
export const holdNewLevels = (
  db: Database,
  source: NotificationSource,
  notifications: NewNotification[],
  inAll: number,
) =>
  holdLevels(
    db,
    sql`select value from json_each(${JSON.stringify(notifications.map(({ eventId, level }) => ({ eventId, level })))})`,
    firstWebhooks(source, ACCIDENT, inAll),
    source.now,
    source.now,
  );

/** The webhooks that the call's own transaction serves. */
const firstWebhooks = (
  { connectionId }: NotificationSource,
  type: NotificationType,
  inAll: number,
): SQL => sql`(
  select webhook_id, filtered from webhook_connections where ${subscribersOf(connectionId, type)}
  order by webhook_id limit ${webhooksIn(maxInFirst, inAll)})`;

type FanOutRow = {
  accountId: string;
  connectionId: string;
  type: NotificationType;
  notifications: number;
  createdAt: number;
};

/**
 * Continues a fan-out, in small transactions that alternate with others of the account, and sends its message again if
 * an invocation does not suffice. Each begins at the fan-out's mark and advances it, so that repeating one, or running
 * two at a time, creates no delivery twice. Leaves that of an account that is being moved to the new cell.
 */
export async function continueFanOut(env: Env, message: FanOut): Promise<void> {
  const db = openDatabase(env);
  const until = Date.now() + claimsForMs;
  const { fanOut: id } = message;
  const [row] = await read<FanOutRow>(db)`
    select account_id as accountId, connection_id as connectionId, type, created_at as createdAt,
      json_array_length(notifications) as notifications
    from fan_outs where id = ${id} and expanded_to < ${END} and ${notMoving(sql`fan_outs.account_id`)}`;
  for (let more = true; row && more; ) {
    if (Date.now() >= until) return void (await send(env.DELIVERIES, [message]));
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
  const [idle, , , [moved]] = await transaction(db, [
    selectIdle(db, source, type, next, keys, sql`1`),
    write(db)`${insertDeliveries(source, createdAt, keys, next)}`,
    type === ACCIDENT ? holdLevels(db, keys, next, createdAt, now) : undefined,
    writeReturning<{ mark: string }>(db)`
      update fan_outs set expanded_to = coalesce((select max(webhook_id) from ${next}), ${END})
      where id in (select id from ${fanOut}) returning expanded_to as mark`,
    writeReturning(db)`delete from fan_outs where id = ${id} and expanded_to = ${END}`,
  ]);
  await send(
    env.DELIVERIES,
    wakeOf(
      accountId,
      idle.map(({ webhookId }) => webhookId),
      type,
    ),
  );
  return moved !== undefined && moved.mark < END;
}

/**
 * The webhooks to wake. For events, those with due deliveries already have a worker. Accidents have workers of their
 * own, so that they need not wait for long calls.
 */
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
      and iif(w.filtered, exists (select 1 from (${notifications}) n where ${isLetThrough(source)}), 1)
      ${
        type === ACCIDENT
          ? sql.empty()
          : sql`and not exists (select 1 from ${dueDeliveries(sql`w.webhook_id`, source.now, 'events')} limit 1)`
      }`;

/**
 * Each of the notifications, created at `createdAt`, for each of the webhooks, with the `payload` unless that is null.
 * The limit keeps SQLite from evaluating it three times.
 */
const insertDeliveries = (
  source: NotificationSource,
  createdAt: number,
  notifications: SQL,
  webhooks: SQL,
  ready: SQL = sql`null`,
  payload: SQL = sql`null`,
): SQL => sql`
  with claims as materialized (select ${ready} as webhook_id)
  insert into deliveries (webhook_id, id, account_id, event_id, level, status, priority, next_attempt_at, claimed_until,
    connection_id, request_id, data)
  select w.webhook_id, ${uuidV7Sql(createdAt)}, ${source.accountId}, n.value->>'eventId', n.value->>'level', 'pending',
    n.value->>'priority', ${dueAndClaimed(source.now)},
    iif(n.data is null, null, ${source.connectionId}), iif(n.data is null, null, ${source.requestId}), n.data
  from (select n.key, n.value, ${payload} as data from (${notifications}) n limit -1) n cross join claims c cross join ${webhooks} w
  where ${isLetThrough(source)}`;

/** A delivery of a made-up notification; due at a time in milliseconds since 1970. */
export type TestDelivery = { id: string; eventId: string; level: number; priority: number; dueAt: number };

export const insertTests = (db: Database, accountId: string, webhookId: string, deliveries: TestDelivery[]) =>
  writeReturning(db)`
    insert into deliveries (webhook_id, id, account_id, event_id, level, status, priority, next_attempt_at, is_test)
    select ${webhookId}, value->>'id', ${accountId}, value->>'eventId', value->>'level', 'pending',
      value->>'priority', value->>'dueAt', 1
    from json_each(${JSON.stringify(deliveries)})`;
