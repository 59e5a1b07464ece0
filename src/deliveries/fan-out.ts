import { type SQL, sql } from 'drizzle-orm';
import { change, type Database, openDatabase, statement, transaction } from '../db/database.ts';
import { firstIdAt, newId, uuidV7Sql } from '../db/ids.ts';
import { isUntold, type NewNotification, type NotificationSource } from '../notifications/insert.ts';
import { ACCIDENT, type NotificationType } from '../notifications/types.ts';
import { priorityOf } from './policy.ts';
import { send, wakeOf } from './queue.ts';

/** The most deliveries that the transaction of an ingest call makes, and each that follows it. */
const maxInFirst = 2000;
const maxInNext = 500;

/** Sorts after every id. */
const END = '~';

const webhooksIn = (deliveries: number, notifications: number): number =>
  Math.max(1, Math.floor(deliveries / Math.max(1, notifications)));

/**
 * The statements that give each webhook that subscribes to them a pending delivery of each untold notification
 * (spec 6.1), as far as one transaction goes; a fan-out remembers the rest, for `continueFanOut`. They run in this
 * order, before the notifications and events are written. The notifications are all of one type.
 */
export function fanOut(
  db: Database,
  source: NotificationSource,
  type: NotificationType,
  notifications: NewNotification[],
) {
  const keys = notifications.map(({ data, ...key }) => ({
    ...key,
    priority: priorityOf(type, 'eventRisk' in data ? data.eventRisk : 0),
  }));
  const untold = sql`select n.value from json_each(${JSON.stringify(keys)}) n where ${isUntold}`;
  const subscribers = subscribersOf(source.connectionId, type);
  const count = webhooksIn(maxInFirst, keys.length);
  const last = lastOf(subscribers, '', count);
  return {
    idle: selectIdle(db, source, type, sql`${subscribers} and webhook_id <= ${last} and exists (${untold})`),
    deliveries: change(db, insertDeliveries(source, untold, sql`${subscribers} and webhook_id <= ${last}`)),
    rest: statement<{ id: string }>(
      db,
      sql`
      insert into fan_outs (id, account_id, connection_id, type, notifications, expanded_to, created_at)
      select ${newId()}, ${source.accountId}, ${source.connectionId}, ${type},
        (select json_group_array(json(value)) from (${untold})), ${last}, ${source.now}
      where ${last} < ${END}
        -- The first of them has just been given a delivery of each that is untold.
        and exists (select 1 from deliveries where id >= ${firstIdAt(source.now)}
          and webhook_id = (select webhook_id from webhook_connections where ${subscribers} limit 1))
      returning id`,
    ),
  };
}

type Row = {
  accountId: string;
  connectionId: string;
  type: NotificationType;
  count: number;
  expandedTo: string;
  createdAt: number;
};

/**
 * Goes on with a fan-out, in small transactions with room for others between them, while it is `inTime`. Each moves
 * the fan-out's mark, so that repeating one, or two at a time, makes no delivery twice. Returns whether it is done.
 */
export async function continueFanOut(env: Env, id: string, inTime: () => boolean): Promise<boolean> {
  const db = openDatabase(env);
  const [row] = await db.all<Row>(sql`
    select account_id as accountId, connection_id as connectionId, type, created_at as createdAt,
      json_array_length(notifications) as count, expanded_to as expandedTo
    from fan_outs where id = ${id}`);
  for (let mark = row?.expandedTo; row && mark !== undefined && mark < END; ) {
    if (!inTime()) return false;
    const began = Date.now();
    mark = await expandNext(env, db, id, row, mark);
    await scheduler.wait(Date.now() - began);
  }
  return true;
}

/** Serves the webhooks that follow `mark`, unless somebody else just has; returns where the fan-out now stands. */
async function expandNext(
  env: Env,
  db: Database,
  id: string,
  row: Row,
  mark: string,
): Promise<string | undefined> {
  const { accountId, connectionId, type, count, createdAt } = row;
  const now = Date.now();
  const source = { accountId, connectionId, now, requestId: '' };
  // Webhooks that were created later are not told of what came before.
  const subscribers = sql`${subscribersOf(connectionId, type)} and webhook_id < ${firstIdAt(createdAt + 1)}`;
  const last = lastOf(subscribers, mark, webhooksIn(maxInNext, count));
  const ours = sql`exists (select 1 from fan_outs where id = ${id} and expanded_to = ${mark})`;
  const range = sql`${subscribers} and webhook_id > ${mark} and webhook_id <= ${last} and ${ours}`;
  const notifications = sql`select n.value from json_each((select notifications from fan_outs where id = ${id})) n`;
  const [idle, , [moved]] = await transaction(db, [
    selectIdle(db, source, type, range),
    change(db, insertDeliveries(source, notifications, range)),
    statement<{ mark: string }>(
      db,
      sql`update fan_outs set expanded_to = ${last} where id = ${id} and expanded_to = ${mark}
        returning expanded_to as mark`,
    ),
    statement(db, sql`delete from fan_outs where id = ${id} and expanded_to = ${END}`),
  ]);
  await send(
    env.DELIVERIES,
    wakeOf(
      accountId,
      idle.map(({ webhookId }) => webhookId),
    ),
  );
  if (moved) return moved.mark;
  const [there] = await db.all<{ mark: string }>(
    sql`select expanded_to as mark from fan_outs where id = ${id}`,
  );
  return there?.mark;
}

const subscribersOf = (connectionId: string, type: NotificationType): SQL =>
  sql`connection_id = ${connectionId} and notification_types & ${type}`;

/** The last of the `count` webhooks that follow `mark`, in the order of their ids; END if there are no more after it. */
const lastOf = (subscribers: SQL, mark: string, count: number): SQL => sql`
  iif(exists (select 1 from webhook_connections where ${subscribers} and webhook_id > ${mark}
      order by webhook_id limit 1 offset ${count}),
    (select webhook_id from webhook_connections where ${subscribers} and webhook_id > ${mark}
      order by webhook_id limit 1 offset ${count - 1}),
    ${END})`;

/**
 * Those of the webhooks that have to be woken: the ones with something due are being worked for already. An accident
 * wakes all of them, so that it need not wait for a lane whose calls take long.
 */
const selectIdle = (db: Database, { now }: NotificationSource, type: NotificationType, which: SQL) =>
  statement<{ webhookId: string }>(
    db,
    sql`
    select webhook_id as webhookId from webhook_connections where ${which}
      ${
        type === ACCIDENT
          ? sql.empty()
          : sql`and not exists (select 1 from deliveries indexed by deliveries_due
              where deliveries.webhook_id = webhook_connections.webhook_id and status = 'pending'
                and priority in (0, 1, 2, 3) and next_attempt_at <= ${now})`
      }`,
  );

const insertDeliveries = ({ accountId, now }: NotificationSource, notifications: SQL, which: SQL): SQL => sql`
  insert into deliveries (webhook_id, id, account_id, event_id, level, status, priority, next_attempt_at)
  select webhook_id, ${uuidV7Sql(now)}, ${accountId}, n.value->>'eventId', n.value->>'level', 'pending',
    n.value->>'priority', ${now}
  from (${notifications}) n cross join webhook_connections where ${which}`;

/** A delivery for one webhook, whatever it subscribes to; due at a time in milliseconds since 1970. */
export type SingleDelivery = { id: string; eventId: string; level: number; priority: number; dueAt: number };

/** Deliveries for one webhook alone. */
export const deliverTo = (db: Database, accountId: string, webhookId: string, deliveries: SingleDelivery[]) =>
  statement(
    db,
    sql`
    insert into deliveries (webhook_id, id, account_id, event_id, level, status, priority, next_attempt_at)
    select ${webhookId}, value->>'id', ${accountId}, value->>'eventId', value->>'level', 'pending',
      value->>'priority', value->>'dueAt'
    from json_each(${JSON.stringify(deliveries)})`,
  );
