import { and, eq, type SQL, sql } from 'drizzle-orm';
import { validate as isUuid } from 'uuid';
import { vinOf } from '../../core/fleet/lists/vin.ts';
import { decodeCursor, encodeCursor } from '../../core/platform/db/cursor.ts';
import type { Database } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { hasId } from '../../core/platform/db/has-id.ts';
import { cutScan, maxScanned } from '../../core/platform/db/pages.ts';
import { countedHours } from '../../core/webhooks/deliveries/counts.ts';
import { firstDueOf } from '../../core/webhooks/deliveries/due.ts';
import { h, w } from '../../core/webhooks/deliveries/receiver/store.ts';
import type { NotificationType } from '../../core/webhooks/notifications/types.ts';
import { type HourTally, inHours, selectHours } from './hours.ts';
import { type Receiver, receiverColumns } from './receivers.ts';
import { ownWebhookId } from './replayable.ts';
import {
  type About,
  about,
  asListed,
  type ListedDelivery,
  type ListQuery,
  selectDeliveries,
} from './select.ts';
import { type ReceiverResponse, responsesIn, selectTimes } from './times.ts';

/** How many deliveries of a webhook are in each state; `maxCounted` means that many or more. */
export type StateCounts = {
  retrying: number;
  failed: number;
  waiting: number;
  /** When the next one is due (milliseconds since 1970), or was; null if none waits. */
  nextAt: number | null;
};
export const maxCounted = 500;

/** The deliveries of a webhook's page; hours are those of 30 days, oldest first. */
export type WebhookActivity = {
  hours: HourTally[];
  /** Those of its last 1,000 deliveries. */
  responses: ReceiverResponse[];
  receiver: Receiver | undefined;
  counts: StateCounts;
  /** A part of them. It can be short and still have a `next` one. */
  part: { deliveries: BrowsedDelivery[]; next?: string };
};

/** A delivery of its page; `about` is null past retention. */
export type BrowsedDelivery = ListedDelivery & { about: About | null };

/** Which of them: in a state, of a type, from a place on, or those found by a text. */
export type BrowseQuery = Pick<ListQuery, 'state' | 'limit'> & {
  type?: NotificationType | undefined;
  before?: string | undefined;
  search?: string | undefined;
};

export const maxFound = 60;
const maxLookedAt = 5000;

/** How many of the newest events and accidents of a VIN a search looks for. */
const maxOfVin = 20;
const maxVehicles = 50;

/** A webhook's activity in one round trip: counters, states, and a part of its deliveries. */
export async function webhookActivity(
  env: Env,
  caller: Caller,
  webhookId: string,
  { search, state, before, type, limit }: BrowseQuery,
): Promise<WebhookActivity> {
  const now = Date.now();
  const own = ownWebhookId(caller, webhookId);
  const identity = JSON.stringify([webhookId, state, type]);
  const part = search
    ? {
        events: eventsFoundBy(caller, webhookId, search.trim()),
        limit: maxFound,
        most: maxLookedAt,
      }
    : {
        state,
        type,
        place: before === undefined ? undefined : decodeCursor(before, identity),
        limit,
      };
  const { rows, hours, times, receivers, counts } = await asCaller(env, caller, (db) => ({
    rows: selectDeliveries(db, caller, { webhookId, newestFirst: true, more: about, ...part }),
    hours: selectHours(db, sql`(select ${own} as id)`, countedHours, now),
    times: selectTimes(db, sql`(select ${own} as id)`),
    receivers: db
      .select(receiverColumns(now))
      .from(w)
      .leftJoin(h, eq(h.webhookId, w.id))
      .where(and(eq(w.accountId, caller.accountId), eq(w.id, webhookId))),
    counts: selectCounts(db, own),
  }));
  const { page, end } = cutScan(rows, part.limit, search ? maxLookedAt : maxScanned);
  return {
    hours: inHours(hours, countedHours, now),
    responses: responsesIn(times),
    receiver: receivers[0],
    counts: counts[0] ?? { retrying: 0, failed: 0, waiting: 0, nextAt: null },
    part: {
      deliveries: page.map(asListed<{ about: About | null }>),
      ...(end && !search && { next: encodeCursor(JSON.parse(end.at), identity) }),
    },
  };
}

/** SQL for what a Delivery-Id, an event id or a VIN finds; a VIN finds its newest events. */
function eventsFoundBy({ accountId }: Caller, webhookId: string, text: string): SQL {
  const id = text.toLowerCase();
  const vin = vinOf(text) || text;
  if (isUuid(id))
    return sql`(
      select ${id}
      union select event_id from deliveries where webhook_id = ${webhookId} and id = ${id})`;
  return sql`(
    select e.value from (
      select id from vehicles
      where account_id = ${accountId} and vin = ${vin} limit ${maxVehicles}) v
    cross join json_each((select json_group_array(id) from (
      select id from safety_events where ${hasId(sql`vehicle_id`, sql`v.id`)}
      order by started_at desc limit ${maxOfVin}))) e
    union all
    select * from (select id from (
      select id, vin from accidents where account_id = ${accountId}
      order by event_time desc limit ${maxScanned})
    where vin = ${vin} limit ${maxOfVin}))`;
}

const selectCounts = (db: Database, webhookId: SQL) =>
  // It names indexes.
  db.all<StateCounts>(sql`
    select
      (select count(*) from (select 1 from deliveries indexed by deliveries_retrying
        where webhook_id = w.id and status = 'pending' and attempts > 0
        limit ${maxCounted})) as retrying,
      (select count(*) from (select 1 from deliveries indexed by deliveries_failed
        where webhook_id = w.id and status = 'failed' limit ${maxCounted})) as failed,
      ${waitingOf(maxCounted)} as waiting,
      ${firstDueOf(sql`w.id`)} as nextAt
    from (select ${webhookId} as id) w`);

/** SQL for how many deliveries of the webhook `w` wait, as far as that is counted. */
export const waitingOf = (most: number) => sql<number>`
  (select count(*) from (select 1 from deliveries indexed by deliveries_due
    where webhook_id = w.id and status = 'pending' limit ${most}))`;
