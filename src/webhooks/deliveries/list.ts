import { and, type SQL, sql } from 'drizzle-orm';
import * as v from 'valibot';
import { type CursorKeys, decodeCursor, encodeCursor, invalidCursor } from '../../platform/db/cursor.ts';
import { type Database, refuseUnless, statement } from '../../platform/db/database.ts';
import type { Caller } from '../../platform/db/guard.ts';
import { createdAtOf, firstIdAt, firstIdAtSql } from '../../platform/db/ids.ts';
import { cutScan, type Scanned, scan } from '../../platform/db/pages.ts';
import { bookmarkOf, continueFrom, readAsCaller } from '../../platform/db/replica-reads.ts';
import { parse, timestamp } from '../../platform/fields.ts';
import { rangeOf } from '../../platform/query.ts';
import { notifiedOf } from '../notifications/of-delivery.ts';
import { accidentLevels, typeOfLevel } from '../notifications/types.ts';
import { type Delivery, dueAt, hasType, lastAttempt } from './queries.ts';
import type { Attempt } from './record.ts';
import { DeliveryListQuery, type DeliverySummary } from './schema.ts';

/**
 * Reads one page of the deliveries for the account's webhooks, webhook by webhook. Returns its items and the cursor of
 * the next page, if there is one. A page is short and has a next one if too few of `maxScanned` deliveries pass its
 * filters. 500 items stay far below `maxPageBytes`.
 *
 * @throws Refusal: invalid, naming the parameter; unauthenticated; forbidden
 */
export async function readDeliveries(
  env: Env,
  caller: Caller,
  query: Record<string, string[]>,
): Promise<{ items: DeliverySummary[]; next?: string }> {
  const { limit, cursor, from, to, ...filters } = parse(DeliveryListQuery, query);
  const range = rangeOf(from, to);
  const identity = JSON.stringify(['/deliveries', caller.accountId, range, filters]);
  const order = orderFor(caller, filters);
  const place = cursor === undefined ? undefined : decodeCursor(cursor, identity);
  const after = place && order.after(place);
  if (cursor !== undefined && !after) throw invalidCursor();

  continueFrom(env, caller, cursor);
  const [, rows] = await readAsCaller(env, caller, (db) => [
    refuseUnless(db, ownsWebhook(caller, filters.webhookId), 'unknown webhook'),
    selectPage(db, caller, { order, after, limit, ...filters, ...range }),
  ]);
  const { page, end } = cutScan(rows, limit);
  const next: CursorKeys | undefined = end && JSON.parse(end.at); // as `selectPage` made it
  return {
    items: page.map(present),
    ...(next && { next: encodeCursor(next, identity, bookmarkOf(env, caller)) }),
  };
}

type Filters = Pick<DeliveryListQuery, 'webhookId' | 'status' | 'type' | 'eventId'>;

/** The order that reads the least: by event, otherwise by status. */
function orderFor({ accountId }: Caller, { eventId, status }: Filters): ReadOrder {
  if (eventId) return ofEvent(accountId, eventId);
  if (status === 'pending') return pendingAsDue;
  return status === 'failed' ? failedOldestFirst : oldestFirst;
}

const ownsWebhook = ({ accountId }: Caller, id: string | undefined): SQL =>
  id === undefined
    ? sql`true`
    : sql`exists (select 1 from webhooks where id = ${id} and account_id = ${accountId})`;

type PageRequest = Filters & {
  order: ReadOrder;
  after: SQL | undefined;
  limit: number;
  from?: number;
  to?: number;
};

/** A delivery as read. `last` is its latest attempt, `at` its place in the order, both as JSON. */
type ScannedDelivery = Scanned &
  Omit<Delivery, 'type' | 'finishedAt' | 'requestId' | 'log' | 'attemptsOmitted'> & {
    last: string | null;
    at: string;
  };

function selectPage(
  db: Database,
  { accountId }: Caller,
  { order, after, limit, webhookId, status, type, from, to }: PageRequest,
) {
  const range = and(
    from === undefined ? undefined : sql`d.id >= ${firstIdAt(from)}`,
    to === undefined ? undefined : sql`d.id < ${firstIdAt(to)}`,
  );
  const passes = and(
    order.filter,
    status === undefined || status === order.status ? undefined : sql`d.status = ${status}`,
    type === undefined ? undefined : hasType(type),
    order.byTime ? undefined : range,
  );
  const where = and(
    sql`w.account_id = ${accountId}`,
    webhookId === undefined ? undefined : sql`w.id = ${webhookId}`,
    after,
    order.byTime ? range : undefined,
  );
  return statement<ScannedDelivery>(db)`${scan({
    columns: sql`d.webhook_id as webhookId, d.id, d.event_id as eventId, d.level, d.status, d.attempts,
        ${dueAt} as nextAttemptAt, json_array(w.id, ${order.columns}) as at,
        iif(${passes ?? sql`true`}, ${lastAttempt}, null) as last`,
    source: sql`webhooks w indexed by webhooks_by_id cross join ${order.deliveries} where ${where}`,
    order: sql`order by w.id, ${order.columns}`,
    passes,
    limit,
  })}`;
}

function present({ last, ...row }: ScannedDelivery): DeliverySummary {
  return summaryOf(row, last === null ? undefined : JSON.parse(last));
}

type Listed = Pick<
  Delivery,
  'id' | 'webhookId' | 'eventId' | 'level' | 'status' | 'attempts' | 'nextAttemptAt'
>;

/** A delivery as clients list it, with its latest attempt if there is one. */
export function summaryOf(
  { id, webhookId, eventId, level, status, attempts, nextAttemptAt }: Listed,
  last: Attempt | undefined,
): DeliverySummary {
  return {
    id,
    webhookId,
    eventId,
    type: typeOfLevel(level),
    level: accidentLevels.find((known) => known === level) ?? null,
    status,
    attempts,
    nextAttemptAt: status === 'pending' ? timestamp(nextAttemptAt) : null,
    createdAt: timestamp(createdAtOf(id)),
    lastAnswer: last ? answerOf(last) : null,
  };
}

const answerOf = ({ status, result, at }: Attempt): DeliverySummary['lastAnswer'] => ({
  status: status ?? null,
  kind: result,
  at: timestamp(at),
});

/**
 * An order in which an index has the deliveries `d` of the webhooks `w`: webhook by webhook, and in each by `columns`.
 * So nothing is sorted, and little more is read than a page shows.
 */
export type ReadOrder = {
  /** What is joined to the webhooks. */
  deliveries: SQL;
  /** Their order after the webhook. */
  columns: SQL;
  /** The condition that a delivery comes after a place; undefined if this order has no such place. */
  after: (place: CursorKeys) => SQL | undefined;
  /** Checked for each delivery. */
  filter?: SQL;
  status?: 'pending' | 'failed';
  /** Whether a range of time is a range of the index, as ids are ordered by time. */
  byTime: boolean;
};

const ById = v.strictTuple([v.string(), v.string()]);

const byId = {
  columns: sql`d.id`,
  byTime: true,
  after: (place: CursorKeys) => {
    if (!v.is(ById, place)) return undefined;
    const [webhookId, id] = place;
    return sql`w.id >= ${webhookId} and d.id > iif(w.id = ${webhookId}, ${id}, '')`;
  },
};

/** All of them, oldest first. */
export const oldestFirst: ReadOrder = {
  ...byId,
  deliveries: sql`deliveries d on d.webhook_id = w.id`,
};

/** Those that failed, oldest first. */
export const failedOldestFirst: ReadOrder = {
  ...byId,
  deliveries: sql`deliveries d indexed by deliveries_failed on d.webhook_id = w.id and d.status = 'failed'`,
  status: 'failed',
};

const Due = v.strictTuple([v.string(), v.number(), v.number(), v.string()]);

/** Pending ones: accidents first, then events of risk 5, of risk 4, and the rest, each as due. */
export const pendingAsDue: ReadOrder = {
  deliveries: sql`deliveries d indexed by deliveries_due
    on d.webhook_id = w.id and d.status = 'pending' and d.next_attempt_at is not null`,
  columns: sql`d.priority, d.next_attempt_at, d.id`,
  after: (place) => {
    if (!v.is(Due, place)) return undefined;
    const [webhookId, priority, dueAt, id] = place;
    return sql`w.id >= ${webhookId} and
      (d.priority, d.next_attempt_at, d.id) > (iif(w.id = ${webhookId}, ${priority}, -1), ${dueAt}, ${id})`;
  },
  status: 'pending',
  byTime: false,
};

const OfEvent = v.strictTuple([v.string(), v.number(), v.string()]);

/**
 * Those of one event or accident, by level. Their ids are of the millisecond in which their notification was written,
 * so few others are scanned.
 */
export const ofEvent = (accountId: string, eventId: string): ReadOrder => ({
  deliveries: sql`${notifiedOf(accountId, sql`${eventId}`)} n
    cross join deliveries d on d.webhook_id = w.id
      and d.id >= ${firstIdAtSql(sql`n.created_at`)} and d.id < ${firstIdAtSql(sql`(n.created_at + 1)`)}`,
  columns: sql`n.level, d.id`,
  after: (place) => {
    if (!v.is(OfEvent, place)) return undefined;
    const [webhookId, level, id] = place;
    return sql`w.id >= ${webhookId} and n.level >= iif(w.id = ${webhookId}, ${level}, 0)
      and d.id > iif(w.id = ${webhookId} and n.level = ${level}, ${id}, '')`;
  },
  filter: sql`(d.event_id = n.event_id and d.level = n.level)`,
  byTime: true,
});
