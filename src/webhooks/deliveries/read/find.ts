import { sql } from 'drizzle-orm';
import { statement } from '../../../platform/db/database.ts';
import { asCaller, type Caller } from '../../../platform/db/guard.ts';
import { cutScan } from '../../../platform/db/pages.ts';
import { openDatabase } from '../../../platform/db/system.ts';
import { isCovered } from '../../coverage.ts';
import { notificationOf } from '../../notifications/of-delivery.ts';
import type { DeliveryKey } from '../delivery.ts';
import { allWebhooks } from '../due.ts';
import type { Attempt } from '../policy.ts';
import type { Receiver } from '../receiver/health.ts';
import {
  type About,
  aboutOf,
  asListed,
  deliveryColumns,
  type ListedDelivery,
  type ListQuery,
  type StoredDelivery,
  selectDeliveries,
} from './list.ts';

/** A delivery with all its attempts. */
export type Delivery = ListedDelivery & {
  /** The request that brought its notification; null past retention. */
  requestId: string | null;
  /** The first attempt and the latest 20; `attemptsOmitted` counts those between them. */
  log: Attempt[];
  attemptsOmitted: number;
};

/** The columns of a `Delivery` beyond those of a list. */
const details = sql`d.log, d.attempts_omitted as attemptsOmitted,
  (select request_id from ${notificationOf()}) as requestId`;

type Details = { log: string; attemptsOmitted: number; requestId: string | null };

const asDelivery = <T extends StoredDelivery & Details>({ log, ...row }: T) => ({
  ...asListed(row),
  log: JSON.parse(log) as Attempt[], // as it was recorded
});

/** The deliveries of one of the account's webhooks, newest first, and pending ones as due. */
export async function listDeliveries(
  env: Env,
  caller: Caller,
  query: Omit<ListQuery, 'newestFirst' | 'most'>,
): Promise<Delivery[]> {
  const [rows] = await asCaller(env, caller, (db) => [
    selectDeliveries<Details>(db, caller, { ...query, newestFirst: true }, () => sql`, ${details}`),
  ]);
  return cutScan(rows, query.limit).page.map(asDelivery);
}

/** A delivery of an event or accident, with its receiver. */
export type DeliveryOfEvent = ListedDelivery & ReceiverOf;

type ReceiverOf = Pick<Receiver, 'url' | 'openUntil' | 'pausedAt'> & { name: string | null };

const receiverOf = (now: number) => sql`w.name, w.url, w.paused_at as pausedAt,
  (select open_until from webhook_health h where h.webhook_id = w.id and open_until > ${now}) as openUntil`;

export const maxOfEvent = 300;

/** How many deliveries of the same millisecond are scanned to find them. */
const maxLookedAt = 5000;

/**
 * The deliveries of a retained event or accident by level, whether these are all, the event's recipients, and whether
 * anybody is notified of the accident's next levels. Reads a row for each webhook and level, and those of other events
 * of the same call.
 */
export async function deliveriesOf(
  env: Env,
  caller: Caller,
  eventId: string,
): Promise<{ deliveries: DeliveryOfEvent[]; complete: boolean; recipients: string[]; isCovered: boolean }> {
  const query = { events: sql`${eventId}`, limit: maxOfEvent, most: maxLookedAt };
  const [rows, [covered]] = await asCaller(env, caller, (db) => [
    selectDeliveries<ReceiverOf & { recipients: string | null }>(
      db,
      caller,
      query,
      () =>
        sql`, ${receiverOf(Date.now())}, (select data->'recipients' from ${notificationOf()}) as recipients`,
    ),
    statement<{ isCovered: number }>(db)`
      select ${isCovered(env)} as isCovered from accidents a cross join connections c on c.id = a.connection_id
      where a.id = ${eventId} and a.account_id = ${caller.accountId}`,
  ]);
  const { page, end } = cutScan(rows, maxOfEvent, maxLookedAt);
  return {
    deliveries: page.map(asListed).sort((a, b) => a.level - b.level || (a.url < b.url ? -1 : 1)),
    complete: !end,
    recipients: JSON.parse(page[0]?.recipients ?? '[]'),
    isCovered: covered?.isCovered !== 0,
  };
}

export type DeliveryDetail = Delivery & {
  /** Null past retention. */
  payload: unknown;
  about: About | null;
  /** Null if it was deleted. */
  webhook: ReceiverOf | null;
};

/** One of the account's deliveries, with what it is about, what is sent, and its receiver. */
export async function findDelivery(
  env: Env,
  caller: Caller,
  { webhookId, id }: DeliveryKey,
): Promise<DeliveryDetail | undefined> {
  const [[row], [webhook]] = await asCaller(env, caller, (db) => [
    statement<StoredDelivery & Details & { payload: string | null; about: string | null }>(db)`
      select ${deliveryColumns()}, ${details}, ${aboutOf} as about,
        (select n.data from ${notificationOf()} n
          where not exists (select 1 from deletions where id = n.connection_id)) as payload
      from deliveries d where webhook_id = ${webhookId} and id = ${id} and account_id = ${caller.accountId}`,
    statement<ReceiverOf>(db)`
      select ${receiverOf(Date.now())} from webhooks w
      where w.id = ${webhookId} and w.account_id = ${caller.accountId}`,
  ]);
  return (
    row && {
      ...asDelivery(row),
      payload: JSON.parse(row.payload ?? 'null'),
      about: JSON.parse(row.about ?? 'null'),
      webhook: webhook ?? null,
    }
  );
}

/** How long to wait for an attempt that somebody has asked for, and the first wait between two checks. */
const timeoutMs = 3000;
const firstWaitMs = 60;

/**
 * A delivery once an attempt `since` a time (milliseconds since 1970) has ended, or as it is three seconds later. Checks
 * some seven times, waiting twice as long each time.
 */
export async function afterAttempt(env: Env, caller: Caller, key: DeliveryKey, since: number) {
  const until = Date.now() + timeoutMs;
  for (let waitMs = firstWaitMs; ; waitMs *= 2) {
    const found = await findDelivery(env, caller, key);
    const left = until - Date.now();
    if (left <= 0 || (found?.log.at(-1)?.at ?? 0) >= since) return found;
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
  const [[found]] = await asCaller(env, caller, (db) => [
    statement<{ webhookId: string }>(db)`
      select d.webhook_id as "webhookId" from webhooks w
      cross join deliveries d on d.webhook_id = w.id and d.id = ${id}
      where w.account_id = ${caller.accountId} and d.account_id = ${caller.accountId} limit 1`,
  ]);
  return found?.webhookId;
}

/**
 * Finds a delivery by its Delivery-Id alone, for operators: one seek for each webhook that has deliveries. Returns its
 * key and its account.
 */
export async function locateDelivery(
  env: Env,
  id: string,
): Promise<(DeliveryKey & { accountId: string }) | undefined> {
  const [found] = await openDatabase(env).all<DeliveryKey & { accountId: string }>(sql`
    with ${allWebhooks}
    select d.webhook_id as webhookId, d.id, d.account_id as accountId
    from hooks cross join deliveries d on d.webhook_id = hooks.id and d.id = ${id}`);
  return found;
}
