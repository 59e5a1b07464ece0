import { and, eq, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import type { CursorKeys } from '../../core/platform/db/cursor.ts';
import type { Database } from '../../core/platform/db/database.ts';
import { type Caller, isWithin } from '../../core/platform/db/guard.ts';
import { createdAtOf, firstIdAt } from '../../core/platform/db/ids.ts';
import { scan } from '../../core/platform/db/pages.ts';
import { webhooks } from '../../core/platform/db/schema/webhooks.ts';
import { type Attempt, fromStored, type statuses } from '../../core/webhooks/deliveries/policy.ts';
import { notificationOf } from '../../core/webhooks/notifications/of-delivery.ts';
import {
  EVENT,
  EVENT_LEVEL,
  type NotificationType,
  typeOfLevel,
} from '../../core/webhooks/notifications/types.ts';
import { isOwned } from '../../core/webhooks/stored.ts';
import { isAfter, type Ordered, orderOf } from './order.ts';

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

/** The field `about`. Only its accident knows the vehicle of an accident's notification. */
export const about: SQL = sql`'about', json((
  select json_object(
    'types', json(coalesce(n.data -> '$.translatedIncidentTypes', '[]')),
    'risk', n.data ->> '$.eventRisk',
    'vehicle', coalesce(n.data ->> '$.vehicleName',
      (select v.name from accidents a cross join vehicles v on v.id = a.vehicle_id
        where a.id = d.event_id), ''),
    'vin', coalesce(n.data ->> '$.vehicleVin', n.data ->> '$.vin', ''))
  from ${notificationOf()} n
  where not exists (select 1 from deletions where id = n.connection_id)))`;

/** A delivery as read: `rest` is JSON. */
export type StoredDelivery = Omit<ListedDelivery, 'type' | 'createdAt' | 'last'> & {
  rest: string | null;
};

/** SQL for the delivery `d`, with its latest attempt and more fields if `shown`. */
export const deliveryColumns = (more?: SQL, shown: SQL = sql`true`): SQL => sql`
  d.id, d.webhook_id as webhookId, d.event_id as eventId, d.level, d.status, d.attempts,
  json_array_length(d.log) + d.attempts_omitted as made,
  iif(d.status = 'pending', d.next_attempt_at, null) as nextAttemptAt,
  d.finished_at as finishedAt,
  iif(${shown}, json_object('last', json(json_remove(d.log -> '$[#-1]', '$.answer'))
    ${more && sql`, ${more}`}), null) as rest`;

/** The delivery in a row; `More` are the fields that were asked for. */
export function asListed<More = unknown>({ rest, ...row }: StoredDelivery): ListedDelivery & More {
  const { last, log, ...more } = JSON.parse(rest ?? '{}'); // as `deliveryColumns` selects it
  return {
    ...row,
    type: typeOfLevel(row.level),
    createdAt: createdAtOf(row.id),
    ...more,
    last: last && fromStored(last),
    ...(log && { log: log.map(fromStored) }),
  };
}

/** A row of a list; `at` is its place in the order, as JSON. */
type ListedRow = StoredDelivery & { at: string };

/** Which deliveries to read, of all webhooks of the account or of one. */
export type ListQuery = Ordered & {
  webhookId?: string | undefined;
  type?: number | undefined;
  from?: number | undefined;
  to?: number | undefined;
  /** Where the page before ended. */
  place?: CursorKeys | undefined;
  limit: number;
  /** How many are scanned at most: `maxScanned` by default. */
  most?: number;
  /** More fields, for `deliveryColumns`. */
  more?: SQL;
};

const w = alias(webhooks, 'w');

/** Reads a part of the deliveries, for `cutScan`. @throws Refusal: invalid, for another list's place */
export function selectDeliveries(db: Database, caller: Caller, query: ListQuery) {
  const { webhookId, type, from, to, place, limit, most, more } = query;
  const order = orderOf(caller.accountId, query);
  const keys = sql.join(order.keys, sql`, `);
  const range = and(
    from === undefined ? undefined : sql`d.id >= ${firstIdAt(from)}`,
    to === undefined ? undefined : sql`d.id < ${firstIdAt(to)}`,
  );
  const passes = and(
    order.filter,
    type === undefined
      ? undefined
      : sql.raw(`d.level ${type === EVENT ? '=' : '>'} ${EVENT_LEVEL}`),
    order.byTime ? undefined : range,
    isOfOwn(caller),
  );
  const where = and(
    isOwned(caller, w),
    webhookId === undefined ? undefined : eq(w.id, webhookId),
    place && isAfter(order, place),
    order.byTime ? range : undefined,
  );
  return scan<ListedRow>(db, {
    columns: sql`${deliveryColumns(more, passes)}, json_array(w.id, ${keys}) as at`,
    source: sql`webhooks w indexed by webhooks_by_id cross join ${order.deliveries} where ${where}`,
    order: sql`order by w.id, ${keys} ${order.descending ? sql`desc` : undefined}`,
    passes,
    limit,
    ...(most !== undefined && { most }),
  });
}

/** The condition that the delivery `d` is of a connection of a limited token: its webhook may have had others. */
export function isOfOwn(caller: Caller): SQL | undefined {
  const within = isWithin(caller, sql`n.connection_id`);
  return within && sql`exists (select 1 from ${notificationOf()} n where ${within})`;
}
