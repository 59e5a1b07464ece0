import { type SQL, sql } from 'drizzle-orm';
import { vinOf } from '../../core/fleet/lists/vin.ts';
import { transaction } from '../../core/platform/db/database.ts';
import { hasId } from '../../core/platform/db/has-id.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { dayMs } from '../../core/platform/durations.ts';

/** How many events and accidents are followed, and how far back without a time. */
const maxIncidents = 20;
const backMs = 30 * dayMs;

/** Which events and accidents are meant: one, or those of a VIN, vehicle or driver. */
export type Sought =
  | { eventId: string }
  | ({ from?: number | undefined; to?: number | undefined; limit?: number | undefined } & (
      | { vin: string }
      | { vehicleId: string }
      | { driverId: string }
    ));

export type Incident = { accountId: string; account: string; eventId: string };

/** Events and accidents of all accounts, newest first, at most 20. */
export async function findIncidents(
  env: Env,
  sought: Sought,
  now = Date.now(),
): Promise<Incident[]> {
  const db = openDatabase(env);
  const limit = ('limit' in sought ? sought.limit : undefined) ?? maxIncidents;
  // Raw: records of two kinds in one order, found by an index on an expression.
  const select = db.all<Incident>(sql`
    select a.id as accountId, a.name as account, e.event_id as eventId
    from (select * from ${recordsOf(sought, now)} order by at desc limit ${limit}) e
    cross join accounts a on a.id = coalesce(
      (select account_id from safety_events where id = e.event_id),
      (select account_id from accidents where id = e.event_id),
      (select account_id from notifications where event_id = e.event_id limit 1))
    order by e.at desc`);
  return transaction(db, select);
}

function recordsOf(sought: Sought, now: number): SQL {
  if ('eventId' in sought) return sql`(select ${sought.eventId} as event_id, 0 as at)`;
  const { from = now - backMs, to = Number.MAX_SAFE_INTEGER } = sought;
  const during = (at: SQL) => sql`${at} >= ${from} and ${at} < ${to}`;
  return sql`(
    select e.id as event_id, e.started_at as at
    from ${eventsOf(sought)} and ${during(sql`e.started_at`)}
    union all
    select d.id, d.event_time from ${accidentsOf(sought)} and ${during(sql`d.event_time`)})`;
}

type OfSome = Exclude<Sought, { eventId: string }>;

function eventsOf(sought: OfSome): SQL {
  if ('driverId' in sought)
    return sql`safety_events e where ${hasId(sql`e.driver_id`, sql`${sought.driverId}`)}`;
  if ('vehicleId' in sought)
    return sql`safety_events e where ${hasId(sql`e.vehicle_id`, sql`${sought.vehicleId}`)}`;
  return sql`accounts a
    cross join vehicles v on v.account_id = a.id and v.vin = ${stored(sought.vin)}
    cross join safety_events e where ${hasId(sql`e.vehicle_id`, sql`v.id`)}`;
}

function accidentsOf(sought: OfSome): SQL {
  if ('driverId' in sought) return sql`accidents d where d.driver_id = ${sought.driverId}`;
  if ('vehicleId' in sought)
    return sql`vehicles v cross join accidents d on d.account_id = v.account_id and d.vehicle_id = v.id
      where v.id = ${sought.vehicleId}`;
  return sql`accounts a cross join accidents d on d.account_id = a.id where d.vin = ${stored(sought.vin)}`;
}

const stored = (vin: string): string => vinOf(vin) || vin;
