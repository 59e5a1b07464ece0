import { type SQL, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { asCaller, type Caller } from '../db/guard.ts';
import { type HourCount, selectHours } from './counts.ts';
import { asDelivery, type Delivery, type DeliveryFilter, selectDeliveries } from './queries.ts';
import { type Receiver, selectReceivers } from './receivers.ts';

/** The last 24 hours, oldest first, and the receivers of webhooks by the webhook's id. */
export type Activity = { hours: HourCount[]; receivers: Map<string, Receiver> };

/** The activity of all the account's webhooks together, in one round trip. */
export async function accountActivity(env: Env, caller: Caller): Promise<Activity> {
  const all = sql`account_id = ${caller.accountId}`;
  const [hours, receivers] = await asCaller(env, caller, (db) => activityOf(db, all, Date.now()), {
    repeatable: true,
  });
  return { hours, receivers: byId(receivers) };
}

/** The activity of one of the account's webhooks, with some of its deliveries, in one round trip. */
export async function webhookActivity(
  env: Env,
  caller: Caller,
  filter: DeliveryFilter,
): Promise<Activity & { deliveries: Delivery[] }> {
  const one = sql`account_id = ${caller.accountId} and id = ${filter.webhookId}`;
  const [deliveries, hours, receivers] = await asCaller(
    env,
    caller,
    (db) => [selectDeliveries(db, caller, filter), ...activityOf(db, one, Date.now())] as const,
    { repeatable: true },
  );
  return { hours, receivers: byId(receivers), deliveries: deliveries.map(asDelivery) };
}

const activityOf = (db: Database, which: SQL, now: number) =>
  [selectHours(db, which, now), selectReceivers(db, which, now)] as const;

const byId = (receivers: Receiver[]): Activity['receivers'] =>
  new Map(receivers.map((receiver) => [receiver.id, receiver]));
