import { and, type SQL, sql } from 'drizzle-orm';
import { validate as isUuid } from 'uuid';
import { type Database, statement } from '../../platform/db/database.ts';
import type { Caller } from '../../platform/db/guard.ts';
import { firstIdAtSql } from '../../platform/db/ids.ts';
import { cutScan, maxScanned, type Scanned, scan } from '../../platform/db/pages.ts';
import { notifiedOf } from '../notifications/of-delivery.ts';
import { type NotificationType, typeOfLevel } from '../notifications/types.ts';
import { type About, aboutOf, type Delivery, dueAt, hasType, lastAttempt } from './queries.ts';
import type { Attempt } from './record.ts';

/** The views of a webhook's deliveries. Retrying ones are also among the waiting ones. */
export const views = ['retrying', 'failed', 'waiting', 'delivered', 'cancelled'] as const;
export type View = (typeof views)[number];

/** A delivery in a list. Times are milliseconds since 1970. */
export type ListedDelivery = Pick<
  Delivery,
  'id' | 'webhookId' | 'eventId' | 'type' | 'level' | 'status' | 'nextAttemptAt' | 'finishedAt'
> & {
  /** Its attempts, including those before a replay, and those since. */
  made: number;
  attempts: number;
  /** Its last attempt, without the text of the response. */
  last: Attempt | null;
  /** Null when its notification is past retention, or of a connection that is being deleted. */
  about: About | null;
};

/** A part of a webhook's deliveries; `before` is where the previous part ended. */
export type BrowseQuery = {
  view?: View | undefined;
  type?: NotificationType | undefined;
  before?: string | undefined;
  limit: number;
};

/** `next` is where the next part starts. A part can be short and still have a next one: see `selectPart`. */
export type Part = { deliveries: ListedDelivery[]; next?: string };

export type BrowsedRow = Scanned &
  Omit<ListedDelivery, 'type' | 'last' | 'about'> & {
    last: string | null;
    about: string | null;
    place: string;
  };

/**
 * The statement that reads a part of a webhook's deliveries, newest first; of waiting ones, in the order they are due.
 * All views but two are ranges of an index. For these, at most 1,000 rows are scanned: then the part is short.
 */
export function selectPart(db: Database, ownWebhook: SQL, { view, type, before, limit }: BrowseQuery) {
  const { source, where, order, place } = orders[view ?? 'all'](before);
  const passes = and(
    view === 'delivered' ? sql`d.status = 'delivered'` : undefined,
    type ? hasType(type) : undefined,
  );
  return statement<BrowsedRow>(db)`${scan({
    columns: sql`${listed(passes ?? sql`true`)}, ${place} as place`,
    source: sql`${source} where d.webhook_id = ${ownWebhook} ${where}`,
    order,
    passes,
    limit,
  })}`;
}

export function partOf(rows: BrowsedRow[], limit: number): Part {
  const { page, end } = cutScan(rows, limit);
  return { deliveries: page.map(asListed), ...(end && { next: end.place }) };
}

export const asListed = ({ place, hit, nth, last, about, ...row }: BrowsedRow): ListedDelivery => ({
  ...row,
  type: typeOfLevel(row.level),
  last: last === null ? null : JSON.parse(last),
  about: about === null ? null : JSON.parse(about),
});

/** Where the rows of a view come from, in which order, and what names a place in it. */
type ViewOrder = { source: SQL; where: SQL; order: SQL; place: SQL };

const newestFirst =
  (index: SQL, condition: SQL) =>
  (before: string | undefined): ViewOrder => ({
    source: sql`deliveries d ${index}`,
    where: sql`${condition} ${before ? sql`and d.id < ${before}` : sql.empty()}`,
    order: sql`order by d.id desc`,
    place: sql`d.id`,
  });

const orders: { [view in View | 'all']: (before: string | undefined) => ViewOrder } = {
  all: newestFirst(sql.empty(), sql.empty()),
  delivered: newestFirst(sql.empty(), sql.empty()),
  failed: newestFirst(sql`indexed by deliveries_failed`, sql`and d.status = 'failed'`),
  cancelled: newestFirst(sql`indexed by deliveries_cancelled`, sql`and d.status = 'cancelled'`),
  retrying: newestFirst(
    sql`indexed by deliveries_retrying`,
    sql`and d.status = 'pending' and d.attempts > 0`,
  ),
  waiting: (before) => ({
    source: sql`deliveries d indexed by deliveries_due`,
    where: sql`and d.status = 'pending' and d.next_attempt_at is not null ${before ? afterDue(before) : sql.empty()}`,
    order: sql`order by d.priority, d.next_attempt_at, d.id`,
    place: sql`d.priority || ' ' || d.next_attempt_at || ' ' || d.id`,
  }),
};

/** The rows due after a place `<priority> <time> <id>`; from the beginning if it is invalid. */
function afterDue(place: string): SQL {
  const [, priority, dueAt, id] = /^(\d) (\d{1,15}) (\S{1,40})$/.exec(place) ?? [];
  if (!id) return sql.empty();
  return sql`and (d.priority, d.next_attempt_at, d.id) > (${Number(priority)}, ${Number(dueAt)}, ${id})`;
}

/** The columns of a `ListedDelivery`; those that are not `shown` are not looked up. */
export const listed = (shown: SQL): SQL => sql`
  d.id, d.webhook_id as webhookId, d.event_id as eventId, d.level, d.status, d.attempts,
  ${dueAt} as nextAttemptAt, d.finished_at as finishedAt,
  json_array_length(d.log) + d.attempts_omitted as made,
  iif(${shown}, ${lastAttempt}, null) as last,
  iif(${shown}, ${aboutOf}, null) as about`;

/** How many deliveries a search finds, and how many of the newest events and accidents of a VIN it looks for. */
export const maxFound = 60;
const maxOfVin = 20;
const maxVehicles = 50;

/**
 * The statement that finds a webhook's deliveries by Delivery-Id, event id or VIN. An event's deliveries are found in
 * the millisecond in which its notification was written, which holds at most the 500 of one call. Accidents of a VIN
 * are looked for among the account's newest 1,000.
 */
export function selectFound(db: Database, caller: Caller, ownWebhook: SQL, text: string) {
  const query = text.trim();
  return statement<BrowsedRow>(db)`
    with events (id) as (${isUuid(query) ? sql`select ${query.toLowerCase()}` : eventsOfVin(caller, query)}),
    found (id) as (
      select d.id from ${notifiedOf(caller.accountId, sql`select id from events`)} n
      cross join deliveries d on d.webhook_id = ${ownWebhook}
        and d.id >= ${firstIdAtSql(sql`n.created_at`)} and d.id < ${firstIdAtSql(sql`(n.created_at + 1)`)}
        and d.event_id = n.event_id and d.level = n.level
      union select ${query.toLowerCase()})
    select ${listed(sql`1`)}, d.id as place, 1 as hit, 0 as nth
    from found f cross join deliveries d on d.webhook_id = ${ownWebhook} and d.id = f.id
    order by d.id desc limit ${maxFound}`;
}

/** The newest events of each of the account's vehicles with a VIN, and its newest accidents. */
const eventsOfVin = ({ accountId }: Caller, vin: string): SQL => sql`
  select e.value as id from (
    select id from vehicles where account_id = ${accountId} and vin = ${vin} limit ${maxVehicles}) v
  cross join json_each((select json_group_array(id) from (
    select id from safety_events where vehicle_id = v.id order by started_at desc limit ${maxOfVin}))) e
  union all
  select * from (select id from (
    select id, vin from accidents where account_id = ${accountId} order by event_time desc limit ${maxScanned})
  where vin = ${vin} limit ${maxOfVin})`;
