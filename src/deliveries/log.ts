import { type SQL, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { firstIdAt } from '../db/ids.ts';
import { invalid } from '../errors.ts';
import type { LogEntry } from './claims.ts';

/** The states of a delivery. */
export const statuses = ['pending', 'delivered', 'failed', 'cancelled'] as const;

/** A delivery with what became of each attempt. Times are milliseconds since 1970. */
export type Delivery = {
  id: string;
  webhookId: string;
  eventId: string;
  type: number;
  level: number;
  status: (typeof statuses)[number];
  attempts: number;
  nextAttemptAt: number;
  finishedAt: number | null;
  /** The request that its notification came in by; null when that is past retention. */
  requestId: string | null;
  log: LogEntry[];
};

/** Which deliveries of a webhook: `before` is the id at which the page before ended. */
export type DeliveryFilter = {
  webhookId: string;
  status?: Delivery['status'] | undefined;
  /** 1 accidents, 2 events. */
  type?: 1 | 2 | undefined;
  since?: number | undefined;
  before?: string | undefined;
  limit: number;
};

/** The deliveries of a webhook, newest first, at most 500. */
export const listDeliveries = (db: Database, filter: DeliveryFilter): Promise<Delivery[]> => {
  const { webhookId, status, type, since, before, limit } = filter;
  return select(
    db,
    sql`webhook_id = ${webhookId}
      ${status ? sql`and status = ${status}` : sql.empty()}
      ${type ? sql.raw(type === 1 ? 'and level > 0' : 'and level = 0') : sql.empty()}
      ${since ? sql`and id >= ${firstIdAt(since)}` : sql.empty()}
      ${before ? sql`and id < ${before}` : sql.empty()}
      order by id desc limit ${Math.min(limit, 500)}`,
  );
};

/**
 * One delivery by its Delivery-Id alone: one seek for each webhook that has deliveries.
 *
 * @throws Refusal: invalid, when there is none
 */
export async function findDelivery(db: Database, id: string): Promise<Delivery> {
  const [found] = await select(
    db,
    sql`(webhook_id, id) in (
      with recursive hooks (webhook) as (
        select min(webhook_id) from deliveries
        union all
        select (select min(webhook_id) from deliveries where webhook_id > webhook)
        from hooks where webhook is not null)
      select webhook, ${id} from hooks)`,
  );
  if (!found) throw invalid('Unknown delivery');
  return found;
}

async function select(db: Database, which: SQL): Promise<Delivery[]> {
  const rows = await db.all<Omit<Delivery, 'log' | 'type'> & { log: string }>(sql`
    select id, webhook_id as webhookId, event_id as eventId, level, status, attempts,
      next_attempt_at as nextAttemptAt, finished_at as finishedAt, log,
      (select request_id from notifications n where n.event_id = deliveries.event_id
        and n.level = deliveries.level) as requestId
    from deliveries where ${which}`);
  return rows.map((row) => ({ ...row, type: row.level === 0 ? 2 : 1, log: JSON.parse(row.log) }));
}

/** The webhooks of an account with the health of their receivers, without their headers. */
export const listHealth = (db: Database, accountId: string) =>
  db.all<{ id: string; url: string; failures: number; openUntil: string | null }>(sql`
    select w.id, w.url, coalesce(h.failures, 0) as failures,
      iif(h.open_until > ${Date.now()}, strftime('%FT%H:%M:%fZ', h.open_until / 1000.0, 'unixepoch'), null)
        as openUntil
    from webhooks w left join webhook_health h on h.webhook_id = w.id
    where w.account_id = ${accountId} order by w.created_at, w.id`);

/** How the receivers of webhooks have been doing; one that never failed is not in the answer. */
export async function healthOf(
  db: Database,
  webhookIds: string[],
): Promise<Map<string, { failures: number; openUntil: number }>> {
  const rows = await db.all<{ id: string; failures: number; openUntil: number }>(sql`
    select webhook_id as id, failures, open_until as openUntil from webhook_health
    where webhook_id in (select value from json_each(${JSON.stringify(webhookIds)}))`);
  return new Map(rows.map(({ id, ...health }) => [id, health]));
}

/** The payload of a delivery's notification; undefined once it is past retention. */
export async function payloadOf(db: Database, { eventId, level }: Delivery): Promise<unknown> {
  const [row] = await db.all<{ data: string }>(
    sql`select data from notifications where event_id = ${eventId} and level = ${level}`,
  );
  return row && JSON.parse(row.data);
}

/** How many deliveries began in an hour and have arrived, or failed for good. */
export type Hour = { delivered: number; failed: number };

const hourMs = 3_600_000;

/** The last 24 hours of some webhooks together, oldest first. A delivery's id tells when it began. */
export async function deliveriesByHour(db: Database, webhookIds: string[], now: number): Promise<Hour[]> {
  const first = Math.floor(now / hourMs) * hourMs - 23 * hourMs;
  const starts = Array.from({ length: 24 }, (_, i) => [
    firstIdAt(first + i * hourMs),
    firstIdAt(first + (i + 1) * hourMs),
  ]);
  const ended = (status: SQL) => sql`(
    select count(*) from json_each(${JSON.stringify(webhookIds)}) hook
    cross join deliveries d on d.webhook_id = hook.value and d.id >= hour.value->>0 and d.id < hour.value->>1
      and d.status = ${status})`;
  return db.all<Hour>(sql`
    select ${ended(sql`'delivered'`)} as delivered, ${ended(sql`'failed'`)} as failed
    from json_each(${JSON.stringify(starts)}) hour`);
}
