import { type SQL, sql } from 'drizzle-orm';
import { operatorIn } from '../core/accounts/accounts.ts';
import { vinOf } from '../core/fleet/lists/vin.ts';
import { transaction } from '../core/platform/db/database.ts';
import { hasId } from '../core/platform/db/has-id.ts';
import { openDatabase } from '../core/platform/db/system.ts';
import { dayMs } from '../core/platform/durations.ts';
import { type DeliveryOfEvent, deliveriesOf } from '../core/webhooks/deliveries/read/find.ts';

/** How many events and accidents of a VIN are followed, and how far back. */
const maxEvents = 20;
const backMs = 30 * dayMs;

type Notified = { accountId: string; account: string; eventId: string };

/** A delivery with its account. Times are milliseconds since 1970. */
export type FoundDelivery = Notified & DeliveryOfEvent;

/** The deliveries of an event, accident or VIN in all accounts, newest first. */
export async function findDeliveries(
  env: Env,
  by: { eventId: string } | { vin: string },
  now = Date.now(),
): Promise<FoundDelivery[]> {
  const db = openDatabase(env);
  const events =
    'eventId' in by
      ? sql`(select ${by.eventId} as event_id, 0 as at)`
      : withVin(vinOf(by.vin) || by.vin, now - backMs);
  // Raw: records of two kinds in one order, found by an index on an expression.
  const select = db.all<Notified>(sql`
    select a.id as accountId, a.name as account, e.event_id as eventId
    from (select * from ${events} order by at desc limit ${maxEvents}) e
    cross join accounts a on a.id = coalesce(
      (select account_id from safety_events where id = e.event_id),
      (select account_id from notifications where event_id = e.event_id limit 1))`);
  const notified = await transaction(db, select);
  const found = await Promise.all(
    notified.map(async (one) => {
      const { deliveries } = await deliveriesOf(env, operatorIn(one.accountId), one.eventId);
      return deliveries.map((delivery) => ({ ...one, ...delivery }));
    }),
  );
  return found.flat().sort((a, b) => b.createdAt - a.createdAt);
}

const withVin = (vin: string, since: number): SQL => sql`(
  select e.id as event_id, e.started_at as at
  from accounts a
  cross join vehicles v on v.account_id = a.id and v.vin = ${vin}
  cross join safety_events e
    on ${hasId(sql`e.vehicle_id`, sql`v.id`)} and e.started_at >= ${since}
  union all
  select d.id, d.event_time
  from accounts a
  cross join accidents d
    on d.account_id = a.id and d.event_time >= ${since} and d.vin = ${vin})`;
