import { type SQL, sql } from 'drizzle-orm';
import { type Database, statement } from '../db/database.ts';
import { asCaller, type Caller } from '../db/guard.ts';
import { type HourCount, selectHours } from './counts.ts';
import { asDelivery, type Delivery, type DeliveryFilter, selectDeliveries } from './queries.ts';

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
  [selectHours(db, which, now), selectCircuits(db, which)] as const;

const byId = (rows: (Circuit & { id: string })[]): Activity['circuits'] =>
  new Map(rows.map(({ id, ...circuit }) => [id, circuit]));

const selectCircuits = (db: Database, which: SQL) =>
  statement<Circuit & { id: string }>(
    db,
    sql`
    select webhook_id as id, failures, open_until as openUntil from webhook_health
    where webhook_id in (select id from webhooks where ${which})`,
  );
