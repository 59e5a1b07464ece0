import { and, eq, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { type Database, type Results, transaction } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { cutScan } from '../../core/platform/db/pages.ts';
import { deliveries, webhooks } from '../../core/platform/db/schema/webhooks.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { allWebhooks } from '../../core/webhooks/deliveries/due.ts';
import type { Attempt, DeliveryKey } from '../../core/webhooks/deliveries/policy.ts';
import { notificationOf } from '../../core/webhooks/notifications/of-delivery.ts';
import { isOwned } from '../../core/webhooks/stored.ts';
import type { Receiver } from './receivers.ts';
import type { DeliveryDetails } from './schema.ts';
import {
  type About,
  about,
  asListed,
  deliveryColumns,
  isOfOwn,
  type ListedDelivery,
  type ListQuery,
  type StoredDelivery,
  selectDeliveries,
} from './select.ts';
import { selectCandidates, type Unnotified, whyUnnotified } from './unnotified.ts';

type Details = {
  /** The request that brought its notification; null past retention. */
  requestId: string | null;
  /** The first attempt and the latest 20; `attemptsOmitted` counts those between them. */
  log: Attempt[];
  attemptsOmitted: number;
};
const details = sql`'log', json(d.log), 'attemptsOmitted', d.attempts_omitted,
  'requestId', (select request_id from ${notificationOf()})`;

export type Delivery = ListedDelivery & Details;

/** The deliveries of one of the account's webhooks, newest first, and pending ones as due. */
export async function listDeliveries(
  env: Env,
  caller: Caller,
  query: Pick<ListQuery, 'webhookId' | 'state' | 'from' | 'place' | 'limit'>,
): Promise<Delivery[]> {
  const rows = await asCaller(env, caller, (db) =>
    selectDeliveries(db, caller, { ...query, newestFirst: true, more: details }),
  );
  return cutScan(rows, query.limit).page.map(asListed<Details>);
}

const d = alias(deliveries, 'd');

type ReceiverOf = Pick<Receiver, 'url' | 'openUntil' | 'pausedAt'> & { name: string | null };

const receiverOf = (
  now: number,
) => sql`'name', w.name, 'url', w.url, 'pausedAt', w.paused_at, 'openUntil',
  (select open_until from webhook_health h where h.webhook_id = w.id and open_until > ${now})`;

export type DeliveryOfEvent = ListedDelivery & ReceiverOf;

export const maxOfEvent = 300;

/** How many deliveries of the same millisecond are scanned to find them. */
const maxLookedAt = 5000;

/** Which webhooks were notified of an event or accident: the deliveries by level, and whether these are all. */
export type Notified = {
  deliveries: DeliveryOfEvent[];
  complete: boolean;
  /** The webhooks without any. */
  unnotified: Unnotified[];
  /** Whom the event names. */
  recipients: string[];
};

/** Which webhooks were notified of an event or accident. */
export const deliveriesOf = async (env: Env, caller: Caller, eventId: string): Promise<Notified> =>
  notifiedOf(env, await asCaller(env, caller, (db) => selectNotified(db, caller, eventId)));

/** The statements that find this, for `notifiedOf`. */
export function selectNotified(db: Database, caller: Caller, eventId: string) {
  const recipients = sql`'recipients', json((select data->'recipients' from ${notificationOf()}))`;
  const more = sql`${receiverOf(Date.now())}, ${recipients}`;
  const query = { events: sql`(${eventId})`, limit: maxOfEvent, most: maxLookedAt, more };
  return {
    rows: selectDeliveries(db, caller, query),
    candidates: selectCandidates(db, caller, eventId),
  };
}

/** What they find, with why webhooks were not notified. */
export function notifiedOf(
  env: Env,
  { rows, candidates }: Results<ReturnType<typeof selectNotified>>,
): Notified {
  const now = Date.now();
  const { page, end } = cutScan(rows, maxOfEvent, maxLookedAt);
  const found = page.map(asListed<ReceiverOf & { recipients: string[] | null }>);
  return {
    deliveries: found.sort((a, b) => a.level - b.level || (a.url < b.url ? -1 : 1)),
    complete: !end,
    unnotified: candidates
      .filter(({ id }) => !found.some(({ webhookId }) => webhookId === id))
      .map((one) => ({ ...one, why: whyUnnotified(env, one, now) })),
    recipients: found[0]?.recipients ?? [],
  };
}

export type More = {
  /** Null past retention. */
  payload: DeliveryDetails['payload'];
  about: About | null;
  /** Null if it was deleted. */
  webhook: ReceiverOf | null;
};

/** One of the account's deliveries, with what it is about, what is sent, and its receiver. */
export async function findDelivery(
  env: Env,
  caller: Caller,
  { webhookId, id }: DeliveryKey,
): Promise<(Delivery & More) | undefined> {
  const more = sql`${details}, ${about},
    'payload', json((select n.data from ${notificationOf()} n
      where not exists (select 1 from deletions where id = n.connection_id))),
    'webhook', (select json_object(${receiverOf(Date.now())}) from webhooks w
      where w.id = d.webhook_id and w.account_id = d.account_id)`;
  const which = sql`webhook_id = ${webhookId} and id = ${id} and account_id = ${caller.accountId}`;
  const [row] = await asCaller(env, caller, (db) =>
    // Its columns are those of the lists, which are raw.
    db.all<StoredDelivery>(sql`select ${deliveryColumns(more)} from deliveries d where ${which}`),
  );
  return row && asListed<Details & More>(row);
}

/** How long to wait for an attempt, and the first wait between two checks. */
const timeoutMs = 3000;
const firstWaitMs = 60;

/** A delivery once an attempt `since` a time has ended, or as it is three seconds later. */
export async function afterAttempt(env: Env, caller: Caller, key: DeliveryKey, since: number) {
  const until = Date.now() + timeoutMs;
  for (let waitMs = firstWaitMs; ; waitMs *= 2) {
    const found = await findDelivery(env, caller, key);
    const remaining = until - Date.now();
    if (remaining <= 0 || (found?.last?.at ?? 0) >= since) return found;
    await scheduler.wait(Math.min(waitMs, remaining));
  }
}

/** The webhook of a delivery: one seek for each. @throws Refusal: unauthenticated, forbidden */
export async function webhookOfDelivery(
  env: Env,
  caller: Caller,
  id: string,
): Promise<string | undefined> {
  const which = and(
    isOwned(caller),
    eq(d.webhookId, webhooks.id),
    eq(d.id, id),
    eq(d.accountId, caller.accountId),
    isOfOwn(caller),
  );
  const [found] = await asCaller(env, caller, (db) =>
    db.select({ webhookId: d.webhookId }).from(webhooks).crossJoin(d).where(which).limit(1),
  );
  return found?.webhookId;
}

/** The page of the delivery with this id. */
export async function pathOfId(env: Env, caller: Caller, id: string): Promise<string | undefined> {
  const webhook = await webhookOfDelivery(env, caller, id);
  return webhook && `/portal/webhooks/${webhook}/deliveries/${id}`;
}

/** Finds a delivery by its id alone, for operators: one seek for each webhook with deliveries. */
export async function locateDelivery(
  env: Env,
  id: string,
): Promise<(DeliveryKey & { accountId: string }) | undefined> {
  const db = openDatabase(env);
  // A recursive CTE.
  const rows = db.all<DeliveryKey & { accountId: string }>(sql`
    with ${allWebhooks}
    select d.webhook_id as webhookId, d.id, d.account_id as accountId
    from all_hooks cross join deliveries d on d.webhook_id = all_hooks.id and d.id = ${id}`);
  const [found] = await transaction(db, rows);
  return found;
}
