import { sql } from 'drizzle-orm';
import { selectLatest } from '../../fleet/changes/feed.ts';
import * as trends from '../../fleet/trends/read.ts';
import { eventsOf, quarterMs, recountLive } from '../../fleet/trends/recount.ts';
import { type Database, int, read } from '../../platform/db/database.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';
import { leads } from '../../platform/db/leads.ts';
import { hourMs } from '../../platform/durations.ts';
import { isWithdrawn, needsCover } from '../../providers/connect.ts';
import { isCovered, recipientOf } from '../../webhooks/coverage.ts';
import { circuitAfter } from '../../webhooks/deliveries/policy.ts';
import { maxTimed, selectTimes, waitsIn } from '../../webhooks/deliveries/read/times.ts';
import { ailingWebhooks, failedOf, maxCounted } from './attention.ts';

/** All data of the overview in one round trip. Counts the last hours first; a job counts earlier ones. */
export async function readOverview(env: Env, caller: Caller, span: trends.Span) {
  const now = Date.now();
  const today = span.starts[2 * span.days - 1] ?? 0;
  const select = (db: Database) => ({
    recounted: recountLive(db, caller.accountId),
    setup: selectSetup(env, db, caller),
    problems: {
      connections: selectConnectionProblems(db, caller),
      webhooks: selectWebhookProblems(db, caller, now),
      uncovered: selectUncovered(env, db, caller),
    },
    accidents: selectOpenAccidents(db, caller),
    high: trends.selectToday(db, caller, today, 4 * (Math.floor(now / hourMs) + 1)),
    latestHigh: selectLatestHigh(db, caller, today * quarterMs),
    days: trends.selectDays(db, caller, span),
    types: trends.selectTypes(db, caller, span),
    vehicles: trends.selectAffected(db, caller, 'vehicles', span),
    drivers: trends.selectAffected(db, caller, 'drivers', span),
    arrivals: selectLatestEvents(db, caller),
    changed: selectLatest(db, caller),
    times: selectTimes(
      db,
      sql`select id from webhooks where account_id = ${caller.accountId} limit ${maxTimed}`,
    ),
  });
  const found = await asCaller(env, caller, select);
  const { setup, high, latestHigh, changed, times } = found;
  return {
    ...found,
    setup: setup[0] ?? { connection: null, sent: 0, notified: '[]', webhook: 0, token: 0 },
    today: { ...(high[0] ?? { risk4: 0, risk5: 0, typical: 0 }), latest: latestHigh },
    days: found.days.map(trends.asDay),
    /** When something last changed; 0: not within 30 days. */
    changedAt: changed[0]?.seq ?? 0,
    waits: waitsIn(times, now),
  };
}

/**
 * How far an account is set up; `connection` is the name of its first one, `notified` the people and channels that are
 * notified of accidents, as JSON.
 */
export type Setup = {
  connection: string | null;
  sent: number;
  notified: string;
  webhook: number;
  token: number;
};

/** One record of each kind is looked for, connection by connection. */
const selectSetup = (env: Env, db: Database, { accountId }: Caller) =>
  read<Setup>(db)`
    select
      (select coalesce(name, tsp) from connections where account_id = ${accountId} order by created_at, id limit 1)
        as connection,
      exists (
        select 1 from connections c where account_id = ${accountId} and (
          exists (select 1 from vehicles where connection_id = c.id)
          or exists (select 1 from safety_events where ${leads(sql`connection_id`, sql`c.id`)})
          or exists (select 1 from accidents where connection_id = c.id)
          or exists (select 1 from drivers where connection_id = c.id))) as sent,
      (select json_group_array(name) from (
        select ${recipientOf(env)} as name from mail_rules r where account_id = ${accountId} and levels > 0
        limit ${maxShown + 1}) where name is not null) as notified,
      exists (select 1 from webhooks where account_id = ${accountId}) as webhook,
      exists (
        select 1 from tokens indexed by tokens_active
        where account_id = ${accountId} and scope = 'api' and revoked_at is null) as token`;

const maxShown = 5;

/** A connection that is not healthy. `refused`: its provider refuses the credential. */
export type ConnectionProblem = {
  id: string;
  name: string;
  tsp: string;
  healthStatus: number;
  refused: number;
  lastEventAt: number | null;
};

/** A webhook that is paused or has failed deliveries. `lastFailure` is JSON; counts stop at `maxCounted`. */
export type WebhookProblem = {
  id: string;
  name: string | null;
  url: string;
  failures: number;
  paused: number;
  openUntil: number | null;
  lastFailure: string | null;
  waiting: number;
  failed: number;
};

export type Uncovered = { id: string; name: string };

/** How many of the account's connections, newest first, are checked for who is notified. */
const maxChecked = 200;

/** Some connections whose accidents nobody is notified of. Reads some four rows for each of 200. */
export const selectUncovered = (env: Env, db: Database, { accountId }: Caller) =>
  read<Uncovered>(db)`
    select c.id, coalesce(c.name, c.tsp) as name from (
      select * from connections where account_id = ${accountId} order by created_at desc, id desc limit ${maxChecked}) c
    where not ${isCovered(env)} and ${needsCover} limit ${maxShown + 1}`;

/** The account's connections that are not healthy: one event and one pull are read for each. */
const selectConnectionProblems = (db: Database, { accountId }: Caller) =>
  read<ConnectionProblem>(db)`
    select id, coalesce(name, tsp) as name, tsp, health_status as healthStatus,
      exists (select 1 from pulls where connection_id = connections.id and refused_at is not null) as refused,
      (select max(started_at) from safety_events where ${leads(sql`connection_id`, sql`connections.id`)}) as lastEventAt
    from connections indexed by connections_with_problems
    where account_id = ${accountId} and health_status <> 1 and not ${isWithdrawn(sql`connections.id`)} order by created_at, id limit ${maxShown}`;

const selectWebhookProblems = (db: Database, { accountId }: Caller, now: number) =>
  read<WebhookProblem>(db)`
    select w.id, w.name, w.url, coalesce(h.failures, 0) as failures, coalesce(h.failures >= ${circuitAfter}, 0) as paused,
      h.open_until as openUntil, h.last_failure as lastFailure,
      (select count(*) from (select 1 from deliveries indexed by deliveries_due
        where webhook_id = w.id and status = 'pending' limit ${maxCounted})) as waiting,
      (select count(*) from (${failedOf(now)} limit ${maxCounted})) as failed
    from ${ailingWebhooks(sql`${accountId}`, now)} order by paused desc, w.created_at limit ${maxShown}`;

const latestShown = { accidents: 4, high: 3, arrivals: 6 };

/** How many connections, oldest first, are read for the latest events. */
const maxConnections = 100;

/** How many hours with events of risk 4 and 5 are read for the latest ones. */
const maxHours = 3;

export type OpenAccident = {
  id: string;
  vin: string;
  vehicleName: string | null;
  eventTime: number;
  notificationLevel: number;
  tsp: string;
  address: string | null;
};

/** The newest accidents that are neither false alarms nor have their report. */
const selectOpenAccidents = (db: Database, { accountId }: Caller) =>
  read<OpenAccident>(db)`
    select a.id, a.vin, v.name as vehicleName, a.event_time as eventTime, a.notification_level as notificationLevel, a.tsp,
      a.location->>'address' as address
    from accidents a indexed by accidents_open left join vehicles v on v.id = a.vehicle_id
    where a.account_id = ${accountId} and a.dismissed = 0 and a.notification_level < 3 and a.closed is null
    order by a.event_time desc, a.id desc limit ${latestShown.accidents}`;

/** A safety event on the overview; `types` are incident types as JSON. */
export type LatestEvent = {
  id: string;
  risk: number;
  types: string;
  vehicleName: string;
  tsp: string;
  startedAt: number;
  address: string | null;
  withdrawn: number | null;
};

const columns = sql`e.id, e.event_risk as risk, e.withdrawn, e.translated_incident_types as types, e.vehicle_name as vehicleName,
  e.tsp, e.started_at as startedAt, e.location->>'address' as address`;

/** The newest events: six are read of each connection. */
const selectLatestEvents = (db: Database, { accountId }: Caller) =>
  read<LatestEvent>(db)`
    select ${columns}
    from (select id from connections where account_id = ${accountId} order by created_at, id limit ${maxConnections}) c
    cross join safety_events e on e.id in (
      select id from safety_events where ${leads(sql`connection_id`, sql`c.id`)}
      order by started_at desc, id desc limit ${latestShown.arrivals})
    order by e.started_at desc, e.id desc limit ${latestShown.arrivals}`;

/** The newest events of risk 4 and 5 since a time in milliseconds, of the latest three hours with any. */
const selectLatestHigh = (db: Database, { accountId }: Caller, since: number) =>
  read<LatestEvent>(db)`
    select ${columns} from (
      select start from event_counts where account_id = ${accountId} and hours = 1 and start >= ${int(since / hourMs)}
        and risk_4 + risk_5 > 0 order by start desc limit ${maxHours}) h
    cross join safety_events e on e.id in (${eventsOf(sql`${accountId}`, sql`h.start`)})
    where e.event_risk >= 4 and e.started_at >= ${since} and e.withdrawn is not 1
    order by e.started_at desc, e.id desc limit ${latestShown.high}`;
