import { type SQL, sql } from 'drizzle-orm';
import { type Database, statement } from '../../platform/db/database.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';
import { following, type Slice, type SliceQuery, sliceOf } from '../../platform/db/slices.ts';
import { webhooks } from '../../platform/db/tables.ts';
import { lets } from '../notifications/pass.ts';
import { ACCIDENT, EVENT } from '../notifications/types.ts';
import { asListed, type BrowseQuery, type Part, partOf, selectFound, selectPart } from './browse.ts';
import { countedHours, type HourTally, inHours, selectHours, selectLastDay, shownHours } from './counts.ts';
import { type AilingReceiver, asReceiver, selectReceivers } from './receivers.ts';
import { ownWebhook } from './replay.ts';

/** How many deliveries of a webhook are in each state; `maxCounted` means that many or more. */
export type StateCounts = {
  retrying: number;
  failed: number;
  waiting: number;
  /** When the next one is due (milliseconds since 1970), or was; null if none waits. */
  nextAt: number | null;
};
export const maxCounted = 500;
export const maxCountedInList = 100;

/** The deliveries of a webhook's page; hours are those of 30 days, oldest first. */
export type WebhookActivity = {
  hours: HourTally[];
  receiver: AilingReceiver | undefined;
  counts: StateCounts;
  part: Part;
  /** The names of its first connections; more than five means that there are more. */
  connections: string[];
};

const namedConnections = 6;

/**
 * The activity of one of the account's webhooks, in one round trip: at most 720 counters, 500 index entries for each of
 * three states, and a part of its deliveries, or those that `search` finds.
 */
export async function webhookActivity(
  env: Env,
  caller: Caller,
  webhookId: string,
  { search, ...query }: BrowseQuery & { search?: string | undefined },
): Promise<WebhookActivity> {
  const now = Date.now();
  const own = ownWebhook(caller, webhookId);
  const [rows, hours, [receiver], [counts], connections] = await asCaller(env, caller, (db) => [
    search ? selectFound(db, caller, own, search) : selectPart(db, own, query),
    selectHours(db, own, now),
    selectReceivers(db, sql`w.account_id = ${caller.accountId} and w.id = ${webhookId}`, now),
    selectCounts(db, own),
    statement<{ name: string }>(db)`select coalesce(c.name, c.tsp) as name from webhook_connections wc
            cross join connections c on c.id = wc.connection_id
            where wc.webhook_id = ${own} and c.account_id = ${caller.accountId} limit ${namedConnections}`,
  ]);
  return {
    hours: inHours(hours, countedHours, now),
    receiver: receiver && asReceiver(receiver),
    connections: connections.map(({ name }) => name),
    counts: counts ?? { retrying: 0, failed: 0, waiting: 0, nextAt: null },
    part: search ? { deliveries: rows.map(asListed) } : partOf(rows, query.limit),
  };
}

/** How many safety events, or levels of accidents, the filters let through. */
export type Passed = { level: number; all: number; letThrough: number };

/** How many connections are sampled, and how many of the latest records of each. */
const [lookedIn, lookedAt] = [20, 50];

/** How much of what a webhook subscribes to its filters let through. */
export async function letThrough(env: Env, caller: Caller, webhookId: string): Promise<Passed[]> {
  const latest = (table: SQL, time: SQL) => sql`
    (select id from ${table} where connection_id = c.connection_id order by ${time} desc, id desc limit ${lookedAt})`;
  const [passed] = await asCaller(env, caller, (db) => [
    statement<Passed>(db)`
      with hook as (
        select id, filters, notification_types as types from webhooks
        where id = ${webhookId} and account_id = ${caller.accountId}),
      conns as (select connection_id from webhook_connections where webhook_id = (select id from hook) limit ${lookedIn}),
      latest as (
        select 0 as level, event_risk as risk, translated_incident_types as types, vehicle_groups as groups
        from conns c cross join safety_events e on e.id in ${latest(sql`safety_events`, sql`started_at`)}
        where (select types from hook) & ${EVENT}
        union all
        select l.value->>'notificationLevel', null, null, v.groups
        from conns c cross join accidents a on a.id in ${latest(sql`accidents`, sql`event_time`)}
        cross join json_each(a.levels) l left join vehicles v on v.id = a.vehicle_id
        where (select types from hook) & ${ACCIDENT})
      select min(1, level) as level, count(*) as "all", sum(${lets(sql`hook.filters`, {
        level: sql`l.level`,
        risk: sql`l.risk`,
        types: sql`l.types`,
        groups: sql`l.groups`,
      })}) as letThrough
      from hook cross join latest l group by min(1, level) order by 1`,
  ]);
  return passed;
}

const selectCounts = (db: Database, ownWebhook: SQL) =>
  statement<StateCounts>(db)`
    select
      (select count(*) from (select 1 from deliveries indexed by deliveries_retrying
        where webhook_id = w.id and status = 'pending' and attempts > 0 limit ${maxCounted})) as retrying,
      (select count(*) from (select 1 from deliveries indexed by deliveries_failed
        where webhook_id = w.id and status = 'failed' limit ${maxCounted})) as failed,
      ${waitingOf(maxCounted)} as waiting,
      ${firstDueOf(sql`w.id`)} as nextAt
    from (select ${ownWebhook} as id) w`;

/** SQL for when the first pending delivery of a webhook is due, or was; null if none is pending. */
export const firstDueOf = (webhookId: SQL): SQL => sql`
  (select min((select next_attempt_at from deliveries indexed by deliveries_due
    where webhook_id = ${webhookId} and status = 'pending' and next_attempt_at is not null and priority = p.value order by next_attempt_at limit 1))
    from json_each('[0, 1, 2, 3]') p)`;

const waitingOf = (most: number): SQL => sql`
  (select count(*) from (select 1 from deliveries indexed by deliveries_due
    where webhook_id = w.id and status = 'pending' and next_attempt_at is not null limit ${most}))`;

/** A webhook in the list; hours are the last 24, oldest first. A count of 100 means that or more. */
export type WebhookSummary = {
  id: string;
  createdAt: number;
  name: string | null;
  url: string;
  connections: number;
  receiver: AilingReceiver;
  waiting: number;
  hours: HourTally[];
};

type SummaryRow = Omit<WebhookSummary, 'receiver' | 'hours'>;

/** A part of the account's webhooks, oldest first, in one round trip: some 130 rows for each. */
export async function listActivity(
  env: Env,
  caller: Caller,
  slice: SliceQuery,
): Promise<Slice<WebhookSummary>> {
  const now = Date.now();
  const after = following(webhooks, slice);
  const which = sql`select id, created_at from webhooks where account_id = ${caller.accountId}
    ${after ? sql`and ${after}` : sql.empty()} order by created_at, id limit ${slice.limit + 1}`;
  const [found, receivers, hours] = await asCaller(env, caller, (db) => [
    statement<SummaryRow>(db)`
        select w.id, w.created_at as createdAt, w.name, w.url, ${waitingOf(maxCountedInList)} as waiting,
          (select count(*) from (select 1 from webhook_connections where webhook_id = w.id limit 2)) as connections
        from (${which}) s cross join webhooks w on w.id = s.id order by w.created_at, w.id`,
    selectReceivers(db, sql`w.id in (select id from (${which}))`, now),
    selectLastDay(db, which, now),
  ]);
  const byId = new Map(receivers.map((row) => [row.id, asReceiver(row)]));
  const summaries = found.flatMap((row) => {
    const receiver = byId.get(row.id);
    const own = hours.filter(({ webhookId }) => webhookId === row.id);
    return receiver ? [{ ...row, receiver, hours: inHours(own, shownHours, now) }] : [];
  });
  return sliceOf(summaries, slice);
}
