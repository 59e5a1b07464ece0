import { type SQL, sql } from 'drizzle-orm';
import { hourMs, int } from '../../fleet/trends/recount.ts';
import { type Database, statement } from '../../platform/db/database.ts';
import type { Caller } from '../../platform/db/guard.ts';

/** How many of each the overview shows. */
export const latestShown = { accidents: 4, high: 3, arrivals: 6 };

/** How many connections are looked at for the latest events: the account's oldest. */
const maxConnections = 100;

/** How many hours with events of risk 4 and 5 are looked through for the latest of these, and events of each. */
const maxHours = 3;
const maxPerHour = 1000;

/** An accident that waits for its report. */
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
export const selectOpenAccidents = (db: Database, { accountId }: Caller) =>
  statement<OpenAccident>(
    db,
    sql`
    select a.id, a.vin, v.name as vehicleName, a.event_time as eventTime, a.notification_level as notificationLevel, a.tsp,
      a.location->>'address' as address
    from accidents a indexed by accidents_open left join vehicles v on v.id = a.vehicle_id
    where a.account_id = ${accountId} and a.dismissed = 0 and a.notification_level < 3
    order by a.event_time desc, a.id desc limit ${latestShown.accidents}`,
  );

/** A safety event as the overview shows it; `types` are normalised, as JSON. */
export type LatestEvent = {
  id: string;
  risk: number;
  types: string;
  vehicleName: string;
  tsp: string;
  startedAt: number;
  address: string | null;
};

const columns = sql`e.id, e.event_risk as risk, e.translated_incident_types as types, e.vehicle_name as vehicleName,
  e.tsp, e.started_at as startedAt, e.location->>'address' as address`;

/** The newest events: six are read of each connection. */
export const selectLatestEvents = (db: Database, { accountId }: Caller) =>
  statement<LatestEvent>(
    db,
    sql`
    select ${columns}
    from (select id from connections where account_id = ${accountId} order by created_at, id limit ${maxConnections}) c
    cross join safety_events e on e.id in (
      select id from safety_events where connection_id = c.id
      order by started_at desc, id desc limit ${latestShown.arrivals})
    order by e.started_at desc, e.id desc limit ${latestShown.arrivals}`,
  );

/** The newest events of risk 4 and 5 since an hour, counted since 1970: those of the latest three hours that had any. */
export const selectLatestHigh = (db: Database, { accountId }: Caller, since: number) =>
  statement<LatestEvent>(
    db,
    sql`
    select ${columns} from (
      select start from event_counts where account_id = ${accountId} and hours = 1 and start >= ${int(since)}
        and risk_4 + risk_5 > 0 order by start desc limit ${maxHours}) h
    cross join connections c on c.account_id = ${accountId}
    cross join safety_events e on e.id in (
      select id from safety_events where connection_id = c.id and ${within(sql`h.start`)}
      order by started_at desc limit ${maxPerHour})
    where e.event_risk >= 4
    order by e.started_at desc, e.id desc limit ${latestShown.high}`,
  );

const within = (hour: SQL): SQL =>
  sql`started_at >= ${hour} * ${int(hourMs)} and started_at < (${hour} + 1) * ${int(hourMs)}`;
