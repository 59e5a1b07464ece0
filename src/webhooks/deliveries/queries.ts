import { type SQL, sql } from 'drizzle-orm';
import { type Database, openDatabase, statement } from '../../platform/db/database.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';
import { firstIdAt } from '../../platform/db/ids.ts';
import { invalid } from '../../platform/errors.ts';
import { EVENT, EVENT_LEVEL, type NotificationType, typeOfLevel } from '../notifications/types.ts';
import { type About, aboutOf } from './about.ts';
import type { DeliveryKey } from './queue.ts';
import type { Attempt } from './record.ts';

/** The states of a delivery. */
export const statuses = ['pending', 'delivered', 'failed', 'cancelled'] as const;

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
  /** The request that its notification came in by; null when that is past retention. */
  requestId: string | null;
  /** The first attempt and the latest 20; `attemptsOmitted` counts those between them. */
  log: Attempt[];
  attemptsOmitted: number;
};

/** Which deliveries of a webhook: `before` is the id at which the page before ended. */
export type DeliveryFilter = {
  webhookId: string;
  status?: Delivery['status'] | undefined;
  type?: NotificationType | undefined;
  since?: number | undefined;
  before?: string | undefined;
  limit: number;
};

/** The deliveries of one of the account's webhooks, newest first, at most 500. */
export async function listDeliveries(env: Env, caller: Caller, filter: DeliveryFilter): Promise<Delivery[]> {
  const [rows] = await asCaller(env, caller, (db) => [selectDeliveries(db, caller, filter)], {
    repeatable: true,
  });
  return rows.map(asDelivery);
}

/** The statement behind `listDeliveries`, for batches that read other things as well. */
export function selectDeliveries(
  db: Database,
  caller: Caller,
  { webhookId, status, type, since, before, limit }: DeliveryFilter,
) {
  const level = sql.raw(`${type === EVENT ? '=' : '>'} ${EVENT_LEVEL}`);
  return select(
    db,
    sql`webhook_id = ${webhookId} and account_id = ${caller.accountId}
      ${status ? sql`and status = ${status}` : sql.empty()}
      ${type ? sql`and level ${level}` : sql.empty()}
      ${since ? sql`and id >= ${firstIdAt(since)}` : sql.empty()}
      ${before ? sql`and id < ${before}` : sql.empty()}
      order by id desc limit ${Math.min(limit, 500)}`,
  );
}

/** A delivery with what its page shows besides. */
export type DeliveryDetail = Delivery & {
  /** Null once that is past retention. */
  payload: unknown;
  about: About | null;
  /** Its webhook, and until when that is paused; null if it has been deleted. */
  webhook: { name: string | null; url: string; openUntil: number | null } | null;
};

/** A delivery of one of the account's webhooks with its payload, what it is about, and its webhook. */
export async function findDelivery(
  env: Env,
  caller: Caller,
  { webhookId, id }: DeliveryKey,
): Promise<DeliveryDetail | undefined> {
  const key = sql`webhook_id = ${webhookId} and id = ${id} and account_id = ${caller.accountId}`;
  const [[row], [notification], [context]] = await asCaller(
    env,
    caller,
    (db) => [
      select(db, key),
      statement<{ data: string; about: string | null }>(
        db,
        sql`select n.data, ${aboutOf} as about from deliveries d
          join notifications n on n.event_id = d.event_id and n.level = d.level
          where d.webhook_id = ${webhookId} and d.id = ${id} and d.account_id = ${caller.accountId}
            and not exists (select 1 from deletions where id = n.connection_id)`,
      ),
      statement<NonNullable<DeliveryDetail['webhook']>>(
        db,
        sql`select w.name, w.url, iif(h.open_until > ${Date.now()}, h.open_until, null) as openUntil
          from webhooks w left join webhook_health h on h.webhook_id = w.id
          where w.id = ${webhookId} and w.account_id = ${caller.accountId}`,
      ),
    ],
    { repeatable: true },
  );
  return (
    row && {
      ...asDelivery(row),
      payload: notification ? JSON.parse(notification.data) : null,
      about: notification?.about ? JSON.parse(notification.about) : null,
      webhook: context ?? null,
    }
  );
}

/**
 * Finds a delivery by its Delivery-Id alone, for operators: one seek for each webhook that has deliveries.
 * Returns its key and its account.
 *
 * @throws Refusal: invalid, when there is none
 */
export async function locateDelivery(env: Env, id: string): Promise<LocatedDelivery> {
  const [found] = await deliveriesWithId(env, id);
  if (!found) throw invalid('Unknown delivery');
  return found;
}

/** Whether a home has a delivery with this id. */
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

type Row = Omit<Delivery, 'log' | 'type'> & { log: string };

const select = (db: Database, which: SQL) =>
  statement<Row>(
    db,
    sql`
    select id, webhook_id as webhookId, event_id as eventId, level, status, attempts,
      next_attempt_at as nextAttemptAt, finished_at as finishedAt, log,
      attempts_omitted as attemptsOmitted,
      (select request_id from notifications n where n.event_id = deliveries.event_id
        and n.level = deliveries.level) as requestId
    from deliveries where ${which}`,
  );

/** A row of `selectDeliveries`. */
export const asDelivery = (row: Row): Delivery => ({
  ...row,
  type: typeOfLevel(row.level),
  log: JSON.parse(row.log),
});
