import { and, type SQL, sql } from 'drizzle-orm';
import * as v from 'valibot';
import { type CursorKeys, decodeCursor, encodeCursor, invalidCursor } from '../../../platform/db/cursor.ts';
import { type Database, refuseUnless, statement } from '../../../platform/db/database.ts';
import type { Caller } from '../../../platform/db/guard.ts';
import { firstIdAtSql } from '../../../platform/db/id-sql.ts';
import { createdAtOf, firstIdAt } from '../../../platform/db/ids.ts';
import { cutScan, type Scanned, scan } from '../../../platform/db/pages.ts';
import { bookmarkOf, continueFrom, readAsCaller } from '../../../platform/db/replica-reads.ts';
import { parseQuery, timestamp } from '../../../platform/fields.ts';
import { rangeOf } from '../../../platform/query.ts';
import { notificationOf, notifiedOf } from '../../notifications/of-delivery.ts';
import {
  accidentLevels,
  EVENT,
  EVENT_LEVEL,
  type NotificationType,
  typeOfLevel,
} from '../../notifications/types.ts';
import { dueAtOf, isWaiting } from '../due.ts';
import type { Attempt, statuses } from '../policy.ts';
import { DeliveryListQuery, type DeliverySummary } from './schema.ts';

/** A delivery as all lists have it. Times are milliseconds since 1970. */
export type ListedDelivery = {
  id: string;
  webhookId: string;
  eventId: string;
  type: NotificationType;
  level: number;
  status: (typeof statuses)[number];
  /** Its attempts since it was last replayed, and all of them. */
  attempts: number;
  made: number;
  /** Null unless it is pending. */
  nextAttemptAt: number | null;
  finishedAt: number | null;
  createdAt: number;
  /** Its latest attempt, without the text of the response. */
  last: Attempt | null;
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

/** A delivery as read: `last` is JSON. */
export type StoredDelivery = Omit<ListedDelivery, 'type' | 'createdAt' | 'last'> & { last: string | null };

/** SQL for the columns of the delivery `d`; the latest attempt only if it is `shown`. */
export const deliveryColumns = (shown: SQL = sql`true`): SQL => sql`
  d.id, d.webhook_id as webhookId, d.event_id as eventId, d.level, d.status, d.attempts,
  json_array_length(d.log) + d.attempts_omitted as made,
  iif(d.status = 'pending', ${dueAtOf}, null) as nextAttemptAt,
  d.finished_at as finishedAt,
  iif(${shown}, json_remove(d.log -> '$[#-1]', '$.answer'), null) as last`;

export const asListed = <T extends StoredDelivery>({ last, ...row }: T) => ({
  ...row,
  type: typeOfLevel(row.level),
  createdAt: createdAtOf(row.id),
  last: last === null ? null : (JSON.parse(last) as Attempt), // as `deliveryColumns` selects it
});

/** A row of a list; `at` is its place in the order, as JSON. */
type ListedRow = Scanned & StoredDelivery & { at: string };

/** The states that lists can be of; retrying deliveries are also pending. */
export type ListedState = ListedDelivery['status'] | 'retrying';

/** Which deliveries to read, of all webhooks of the account or of one. Times are milliseconds since 1970. */
export type ListQuery = {
  webhookId?: string | undefined;
  state?: ListedState | undefined;
  type?: number | undefined;
  from?: number | undefined;
  to?: number | undefined;
  /** Only those of events and accidents with these ids: a query, or one id. */
  events?: SQL | undefined;
  /** Instead of oldest first; for one webhook alone. Pending ones are always as due. */
  newestFirst?: boolean;
  /** Where the page before ended. */
  place?: CursorKeys | undefined;
  limit: number;
  /** How many are scanned at most: `maxScanned` by default. */
  most?: number;
};

/**
 * The statement that reads a part of the account's deliveries, for `cutScan`. `also` selects more columns, and gets the
 * condition that a row is shown.
 *
 * @throws Refusal: invalid, for a place of another list
 */
export function selectDeliveries<More = unknown>(
  db: Database,
  { accountId }: Caller,
  query: ListQuery,
  also: (shown: SQL) => SQL = () => sql.empty(),
) {
  const { webhookId, type, from, to, place, limit, most } = query;
  const order = orderOf(accountId, query);
  const after = place && order.after(place);
  if (place && !after) throw invalidCursor();
  const range = and(
    from === undefined ? undefined : sql`d.id >= ${firstIdAt(from)}`,
    to === undefined ? undefined : sql`d.id < ${firstIdAt(to)}`,
  );
  const passes = and(
    order.filter,
    type === undefined ? undefined : sql.raw(`d.level ${type === EVENT ? '=' : '>'} ${EVENT_LEVEL}`),
    order.byTime ? undefined : range,
  );
  const where = and(
    sql`w.account_id = ${accountId}`,
    webhookId === undefined ? undefined : sql`w.id = ${webhookId}`,
    after,
    order.byTime ? range : undefined,
  );
  const shown = passes ?? sql`true`;
  return statement<ListedRow & More>(db)`${scan({
    columns: sql`${deliveryColumns(shown)}, json_array(w.id, ${order.keys}) as at ${also(shown)}`,
    source: sql`webhooks w indexed by webhooks_by_id cross join ${order.deliveries} where ${where}`,
    order: sql`order by w.id, ${order.keys} ${order.descending ? sql`desc` : sql.empty()}`,
    passes,
    limit,
    ...(most !== undefined && { most }),
  })}`;
}

/**
 * An order in which an index has the deliveries `d` of the webhooks `w`: webhook by webhook, and in each by `keys`. So
 * nothing is sorted, and little more is read than a page shows.
 */
type ReadOrder = {
  /** What is joined to the webhooks. */
  deliveries: SQL;
  /** Their order after the webhook. */
  keys: SQL;
  descending?: boolean;
  /** The condition that a delivery comes after a place; undefined if this order has no such place. */
  after: (place: CursorKeys) => SQL | undefined;
  /** Checked for each delivery. */
  filter?: SQL | undefined;
  /** Whether a range of time is a range of the index, as ids are ordered by time. */
  byTime: boolean;
};

function orderOf(accountId: string, { events, state, newestFirst = false }: ListQuery): ReadOrder {
  if (events) return ofEvents(notifiedOf(accountId, events), state, newestFirst);
  return state === 'pending' ? pendingAsDue : asCreated(state, newestFirst);
}

const indexed: { [state in ListedState]?: SQL } = {
  failed: sql`indexed by deliveries_failed on d.webhook_id = w.id and d.status = 'failed'`,
  cancelled: sql`indexed by deliveries_cancelled on d.webhook_id = w.id and d.status = 'cancelled'`,
  retrying: sql`indexed by deliveries_retrying on d.webhook_id = w.id and d.status = 'pending' and d.attempts > 0`,
};

const Created = v.strictTuple([v.string(), v.string()]);

function asCreated(state: ListedState | undefined, descending: boolean): ReadOrder {
  const index = state && indexed[state];
  return {
    deliveries: sql`deliveries d ${index ?? sql`on d.webhook_id = w.id`}`,
    keys: sql`d.id`,
    descending,
    after: (place) => {
      if (!v.is(Created, place)) return undefined;
      const [webhookId, id] = place;
      return descending
        ? sql`d.id < ${id}`
        : sql`w.id >= ${webhookId} and d.id > iif(w.id = ${webhookId}, ${id}, '')`;
    },
    filter: state && !index ? sql`d.status = ${state}` : undefined,
    byTime: true,
  };
}

const Due = v.strictTuple([v.string(), v.number(), v.number(), v.string()]);

/** Accidents first, then events of risk 5, of risk 4, and the rest, each as due. */
const pendingAsDue: ReadOrder = {
  deliveries: sql`deliveries d indexed by deliveries_due
    on d.webhook_id = w.id and ${isWaiting('d')}`,
  keys: sql`d.priority, d.next_attempt_at, d.id`,
  after: (place) => {
    if (!v.is(Due, place)) return undefined;
    const [webhookId, priority, dueAt, id] = place;
    return sql`w.id >= ${webhookId} and
      (d.priority, d.next_attempt_at, d.id) > (iif(w.id = ${webhookId}, ${priority}, -1), ${dueAt}, ${id})`;
  },
  byTime: false,
};

const OfEvent = v.strictTuple([v.string(), v.number(), v.string()]);

/**
 * Those of which customers were `notified` (a table), by level. Their ids are of the millisecond in which the
 * notification was written, so few others are scanned.
 */
const ofEvents = (notified: SQL, state: ListedState | undefined, descending: boolean): ReadOrder => ({
  deliveries: sql`${notified} n
    cross join deliveries d on d.webhook_id = w.id
      and d.id >= ${firstIdAtSql(sql`n.created_at`)} and d.id < ${firstIdAtSql(sql`(n.created_at + 1)`)}`,
  keys: descending ? sql`d.id` : sql`n.level, d.id`,
  descending,
  after: (place) => {
    if (!v.is(OfEvent, place)) return undefined;
    const [webhookId, level, id] = place;
    return sql`w.id >= ${webhookId} and n.level >= iif(w.id = ${webhookId}, ${level}, 0)
      and d.id > iif(w.id = ${webhookId} and n.level = ${level}, ${id}, '')`;
  },
  filter: sql`(d.event_id = n.event_id and d.level = n.level ${state ? sql`and d.status = ${state}` : sql.empty()})`,
  byTime: true,
});

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
  const { limit, cursor, from, to, ...filters } = parseQuery(DeliveryListQuery, query);
  const { webhookId, eventId, status, type } = filters;
  const range = rangeOf(from, to);
  const identity = JSON.stringify(['/deliveries', caller.accountId, range, filters]);
  const place = cursor === undefined ? undefined : decodeCursor(cursor, identity);
  if (cursor !== undefined && !place) throw invalidCursor();
  continueFrom(env, caller, cursor);
  const [, rows] = await readAsCaller(env, caller, (db) => [
    refuseUnless(db, ownsWebhook(caller, webhookId), 'unknown webhook'),
    selectDeliveries(db, caller, {
      ...{ webhookId, state: status, type, place, limit, ...range },
      events: eventId === undefined ? undefined : sql`${eventId}`,
    }),
  ]);
  const { page, end } = cutScan(rows, limit);
  const next: CursorKeys | undefined = end && JSON.parse(end.at); // as `selectDeliveries` made it
  return {
    items: page.map((row) => summaryOf(asListed(row))),
    ...(next && { next: encodeCursor(next, identity, bookmarkOf(env, caller)) }),
  };
}

const ownsWebhook = ({ accountId }: Caller, id: string | undefined): SQL =>
  id === undefined
    ? sql`true`
    : sql`exists (select 1 from webhooks where id = ${id} and account_id = ${accountId})`;

/** A delivery as clients list it. */
export const summaryOf = ({
  level,
  nextAttemptAt,
  createdAt,
  last,
  ...delivery
}: ListedDelivery): DeliverySummary => ({
  id: delivery.id,
  webhookId: delivery.webhookId,
  eventId: delivery.eventId,
  type: delivery.type,
  level: accidentLevels.find((known) => known === level) ?? null,
  status: delivery.status,
  attempts: delivery.attempts,
  nextAttemptAt: nextAttemptAt === null ? null : timestamp(nextAttemptAt),
  createdAt: timestamp(createdAt),
  lastAnswer: last && {
    status: last.status ?? null,
    kind: last.result,
    at: timestamp(last.at),
    ...(last.reason !== undefined && { reason: last.reason }),
  },
});
