import { and, type SQL, sql } from 'drizzle-orm';
import { alias, type SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { hasId } from '../../platform/db/has-id.ts';
import { trips, vehicles } from '../../platform/db/schema/fleet.ts';
import { dayMs, minuteMs } from '../../platform/durations.ts';
import type { Within } from './filters.ts';

/** How long a trip without an end lasts at most, and how soon after the end of one an accident still counts. */
const longestTripMs = dayMs;
const justEndedMs = 15 * minuteMs;

/** SQL for whether an accident needs attention: until somebody acknowledges or closes it. An index has those. */
export const needsAttention = sql`dismissed = 0 and acknowledged is null and closed is null`;

const among = (values: string[]) => sql`(select value from json_each(${JSON.stringify(values)}))`;

/** Accidents of these vehicles, or with these VINs or those of the vehicles, which may have become known later. */
export const ofVehicles = (column: SQLiteColumn, ids: string[], within: Within): SQL => {
  const seen = and(sql`id in ${among(ids)}`, within(vehicles));
  return sql`(${column} in (select id from vehicles where ${seen}) or accidents.vin in ${among(ids)}
    or accidents.vin in (select vin from vehicles where ${seen}))`;
};

/** Accidents that name one of these drivers; of those that name none, those on a trip of one, unless it is archived. */
export const ofDrivers = (column: SQLiteColumn, ids: string[], within: Within): SQL => {
  const isTheirs = and(
    sql`t.driver_id in ${among(ids)}`,
    within(alias(trips, 't')),
    sql`coalesce(t.ended_at, t.started_at + ${longestTripMs}) >= accidents.event_time - ${justEndedMs}`,
  );
  return sql`(${column} in ${among(ids)} or ${column} is null and exists (
    select 1 from vehicles v cross join trips t on t.id = (
      select id from trips where ${hasId(sql`vehicle_id`, sql`v.id`)} and started_at <= accidents.event_time
      order by started_at desc limit 1)
    where v.id in (select accidents.vehicle_id union all
        select id from vehicles where account_id = accidents.account_id and vin = accidents.vin)
      and ${isTheirs}))`;
};
