import { type SQL, sql } from 'drizzle-orm';
import { statement } from '../db/database.ts';
import { asCaller, type Caller } from '../db/guard.ts';
import { firstIdAt } from '../db/ids.ts';

/** How many deliveries of one hour were delivered, and how many failed for good. */
export type HourCount = { delivered: number; failed: number };

const hourMs = 3_600_000;

/** The last 24 hours of some of the account's webhooks together, oldest first. A delivery's id tells when it began. */
export async function deliveriesByHour(
  env: Env,
  caller: Caller,
  webhookIds: string[],
  now: number,
): Promise<HourCount[]> {
  const first = Math.floor(now / hourMs) * hourMs - 23 * hourMs;
  const starts = Array.from({ length: 24 }, (_, i) => [
    firstIdAt(first + i * hourMs),
    firstIdAt(first + (i + 1) * hourMs),
  ]);
  const ended = (status: SQL) => sql`(
    select count(*) from json_each(${JSON.stringify(webhookIds)}) hook
    cross join deliveries d on d.webhook_id = hook.value and d.id >= hour.value->>0 and d.id < hour.value->>1
      and d.status = ${status} and d.account_id = ${caller.accountId})`;
  const [hours] = await asCaller(
    env,
    caller,
    (db) => [
      statement<HourCount>(
        db,
        sql`
        select ${ended(sql`'delivered'`)} as delivered, ${ended(sql`'failed'`)} as failed
        from json_each(${JSON.stringify(starts)}) hour`,
      ),
    ],
    { repeatable: true },
  );
  return hours;
}
