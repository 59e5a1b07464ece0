import { type SQL, sql } from 'drizzle-orm';
import { type Database, statement } from '../db/database.ts';
import { asCaller, type Caller } from '../db/guard.ts';
import { firstIdAt } from '../db/ids.ts';
import { asDelivery, type Delivery, type DeliveryFilter, selectDeliveries } from './queries.ts';

/** How many deliveries of one hour were delivered, and how many failed for good. */
export type HourCount = { delivered: number; failed: number };

/** The circuit of a webhook's receiver: attempts that failed in a row, and until when it is open (milliseconds). */
export type Circuit = { failures: number; openUntil: number };

/** The last 24 hours, oldest first, and the circuits of webhooks by their id. One that never failed has none. */
export type Activity = { hours: HourCount[]; circuits: Map<string, Circuit> };

/** The activity of all the account's webhooks together, in one round trip. */
export async function accountActivity(env: Env, caller: Caller): Promise<Activity> {
  const all = sql`account_id = ${caller.accountId}`;
  const [hours, circuits] = await asCaller(env, caller, (db) => activityOf(db, all, Date.now()), {
    repeatable: true,
  });
  return { hours, circuits: byId(circuits) };
}

/** The activity of one of the account's webhooks, with some of its deliveries, in one round trip. */
export async function webhookActivity(
  env: Env,
  caller: Caller,
  filter: DeliveryFilter,
): Promise<Activity & { deliveries: Delivery[] }> {
  const one = sql`account_id = ${caller.accountId} and id = ${filter.webhookId}`;
  const [deliveries, hours, circuits] = await asCaller(
    env,
    caller,
    (db) => [selectDeliveries(db, caller, filter), ...activityOf(db, one, Date.now())] as const,
    { repeatable: true },
  );
  return { hours, circuits: byId(circuits), deliveries: deliveries.map(asDelivery) };
}

const activityOf = (db: Database, which: SQL, now: number) =>
  [countByHour(db, which, now), selectCircuits(db, which)] as const;

const byId = (rows: (Circuit & { id: string })[]): Activity['circuits'] =>
  new Map(rows.map(({ id, ...circuit }) => [id, circuit]));

const hourMs = 3_600_000;

/** A delivery's id tells when it began. */
function countByHour(db: Database, which: SQL, now: number) {
  const first = Math.floor(now / hourMs) * hourMs - 23 * hourMs;
  const starts = Array.from({ length: 24 }, (_, i) => [
    firstIdAt(first + i * hourMs),
    firstIdAt(first + (i + 1) * hourMs),
  ]);
  const ended = (status: SQL) => sql`(
    select count(*) from (select id from webhooks where ${which}) hook
    cross join deliveries d on d.webhook_id = hook.id and d.id >= hour.value->>0 and d.id < hour.value->>1
      and d.status = ${status})`;
  return statement<HourCount>(
    db,
    sql`
    select ${ended(sql`'delivered'`)} as delivered, ${ended(sql`'failed'`)} as failed
    from json_each(${JSON.stringify(starts)}) hour`,
  );
}

const selectCircuits = (db: Database, which: SQL) =>
  statement<Circuit & { id: string }>(
    db,
    sql`
    select webhook_id as id, failures, open_until as openUntil from webhook_health
    where webhook_id in (select id from webhooks where ${which})`,
  );
