import { type SQL, sql } from 'drizzle-orm';
import { type Database, openDatabase, statement } from '../../platform/db/database.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';
import { firstIdAt } from '../../platform/db/ids.ts';
import { invalid } from '../../platform/errors.ts';
import { notificationOf } from '../notifications/of-delivery.ts';
import { EVENT, EVENT_LEVEL, type NotificationType, typeOfLevel } from '../notifications/types.ts';
import { leaseMs } from './claim.ts';
import type { statuses } from './policy.ts';
import type { DeliveryKey } from './queue.ts';
import type { Attempt } from './record.ts';

/** A delivery with all its attempts. Times are milliseconds since 1970. */
export type Delivery = {
  id: string;
  webhookId: string;
  eventId: string;
  type: NotificationType;
  level: number;
  status: (typeof statuses)[number];
  attempts: number;
  nextAttemptAt: number;
  finishedAt: number | null;
  /** The request that brought its notification; null past retention. */
  requestId: string | null;
  /** The first attempt and the latest 20; `attemptsOmitted` counts those between them. */
  log: Attempt[];
  attemptsOmitted: number;
};

/** What a delivery is about; `vehicle` and `vin` are empty if its notification names none. */
export type About = { types: string[]; risk: number | null; vehicle: string; vin: string };

/** SQL for what the delivery `d` is about. An accident's notification names no vehicle, but its accident may. */
export const aboutOf: SQL = sql`(
  select json_object(
    'types', json(coalesce(n.data -> '$.translatedIncidentTypes', '[]')),
    'risk', n.data ->> '$.eventRisk',
    'vehicle', coalesce(n.data ->> '$.vehicleName',
      (select v.name from accidents a cross join vehicles v on v.id = a.vehicle_id where a.id = d.event_id), ''),
    'vin', coalesce(n.data ->> '$.vehicleVin', n.data ->> '$.vin', ''))
  from ${notificationOf()} n
  where not exists (select 1 from deletions where id = n.connection_id))`;

/** SQL for whether the delivery `d` is of a type. */
export const hasType = (type: number): SQL => sql.raw(`d.level ${type === EVENT ? '=' : '>'} ${EVENT_LEVEL}`);

/** SQL for when the delivery `d` is due, or was. */
export const dueAt: SQL = sql`coalesce(d.next_attempt_at, d.claimed_until - ${leaseMs})`;

/** SQL for the latest attempt of the delivery `d` as JSON, without the text of the response. */
export const lastAttempt: SQL = sql`json_remove(d.log -> '$[#-1]', '$.answer')`;

/** Which deliveries of a webhook; `before` is the last id of the previous page. */
export type DeliveryFilter = {
  webhookId: string;
  status?: Delivery['status'] | undefined;
  type?: NotificationType | undefined;
  since?: number | undefined;
  before?: string | undefined;
  limit: number;
};

/** The deliveries of one of the account's webhooks, newest first, at most 500. */
export async function listDeliveries(
  env: Env,
  caller: Caller,
  { webhookId, status, type, since, before, limit }: DeliveryFilter,
): Promise<Delivery[]> {
  const which = sql`webhook_id = ${webhookId} and account_id = ${caller.accountId}
    ${status ? sql`and status = ${status}` : sql.empty()}
    ${type ? sql`and ${hasType(type)}` : sql.empty()}
    ${since ? sql`and id >= ${firstIdAt(since)}` : sql.empty()}
    ${before ? sql`and id < ${before}` : sql.empty()}
    order by id desc limit ${Math.min(limit, 500)}`;
  const [rows] = await asCaller(env, caller, (db) => [select(db, which)]);
  return rows.map(asDelivery);
}

export type DeliveryDetail = Delivery & {
  /** Null past retention. */
  payload: unknown;
  about: About | null;
  /** Its webhook, until when its circuit is open, and when it was paused; null if it was deleted. */
  webhook: { name: string | null; url: string; openUntil: number | null; pausedAt: number | null } | null;
};

export async function findDelivery(
  env: Env,
  caller: Caller,
  { webhookId, id }: DeliveryKey,
): Promise<DeliveryDetail | undefined> {
  const key = sql`webhook_id = ${webhookId} and id = ${id} and account_id = ${caller.accountId}`;
  const [[row], [notification], [context]] = await asCaller(env, caller, (db) => [
    select(db, key),
    statement<{ data: string | null; about: string | null }>(db)`
        select ${aboutOf} as about, (select n.data from ${notificationOf()} n
            where not exists (select 1 from deletions where id = n.connection_id)) as data
          from deliveries d where ${key}`,
    statement<NonNullable<DeliveryDetail['webhook']>>(db)`
        select w.name, w.url, w.paused_at as pausedAt, iif(h.open_until > ${Date.now()}, h.open_until, null) as openUntil
          from webhooks w left join webhook_health h on h.webhook_id = w.id
          where w.id = ${webhookId} and w.account_id = ${caller.accountId}`,
  ]);
  return (
    row && {
      ...asDelivery(row),
      payload: notification?.data ? JSON.parse(notification.data) : null,
      about: notification?.about ? JSON.parse(notification.about) : null,
      webhook: context ?? null,
    }
  );
}

/** How long to wait for an attempt that somebody has asked for, and the first wait between two checks. */
const timeoutMs = 3000;
const firstWaitMs = 60;

/**
 * Waits up to three seconds for a delivery's next attempt `since` a time (milliseconds since 1970). Undefined if none
 * has ended by then. Checks some seven times, waiting twice as long each time.
 */
export async function nextAttempt(
  env: Env,
  caller: Caller,
  key: DeliveryKey,
  since: number,
): Promise<Attempt | undefined> {
  const until = Date.now() + timeoutMs;
  for (let waitMs = firstWaitMs; ; waitMs *= 2) {
    const last = (await findDelivery(env, caller, key))?.log.at(-1);
    if (last && last.at >= since) return last;
    const left = until - Date.now();
    if (left <= 0) return undefined;
    await scheduler.wait(Math.min(waitMs, left));
  }
}

/**
 * The webhook of a delivery, found by its Delivery-Id alone: one seek for each of the account's webhooks, 1,000 at
 * most.
 *
 * @throws Refusal: unauthenticated, forbidden
 */
export async function webhookOfDelivery(env: Env, caller: Caller, id: string): Promise<string | undefined> {
  const [[found]] = await asCaller(
    env,
    caller,
    (db) =>
      [
        statement<{ webhookId: string }>(db)`select d.webhook_id as "webhookId" from webhooks w
            cross join deliveries d on d.webhook_id = w.id and d.id = ${id}
            where w.account_id = ${caller.accountId} and d.account_id = ${caller.accountId} limit 1`,
      ] as const,
  );
  return found?.webhookId;
}

/**
 * Finds a delivery by its Delivery-Id alone, for operators: one seek for each webhook that has deliveries. Returns its
 * key and its account.
 *
 * @throws Refusal: invalid, when there is none
 */
export async function locateDelivery(env: Env, id: string): Promise<LocatedDelivery> {
  const [found] = await deliveriesWithId(env, id);
  if (!found) throw invalid('Unknown delivery');
  return found;
}

export const hasDelivery = async (env: Env, id: string): Promise<boolean> =>
  (await deliveriesWithId(env, id)).length > 0;

type LocatedDelivery = DeliveryKey & { accountId: string };

const deliveriesWithId = (env: Env, id: string): Promise<LocatedDelivery[]> =>
  openDatabase(env).all<LocatedDelivery>(sql`
    select webhook_id as webhookId, id, account_id as accountId from deliveries
    where (webhook_id, id) in (
      with recursive hooks (webhook) as (
        select min(webhook_id) from deliveries
        union all
        select (select min(webhook_id) from deliveries where webhook_id > webhook)
        from hooks where webhook is not null)
      select webhook, ${id} from hooks)`);

type StoredDelivery = Omit<Delivery, 'log' | 'type'> & { log: string };

const select = (db: Database, which: SQL) =>
  statement<StoredDelivery>(db)`
    select id, webhook_id as webhookId, event_id as eventId, level, status, attempts,
      ${dueAt} as nextAttemptAt, finished_at as finishedAt, log,
      attempts_omitted as attemptsOmitted,
      (select request_id from ${notificationOf()}) as requestId
    from deliveries d where ${which}`;

const asDelivery = (row: StoredDelivery): Delivery => ({
  ...row,
  type: typeOfLevel(row.level),
  log: JSON.parse(row.log),
});
