import { type SQL, sql } from 'drizzle-orm';
import { type Database, statement } from '../db/database.ts';

/** How many deliveries ended in one hour: delivered, and failed for good. */
export type HourCount = { delivered: number; failed: number };

/** The chart's hours, this one included. Also the length of each webhook's ring of counters. */
export const countedHours = 24;

const hourMs = 3_600_000;
const hourOf = (ms: number): number => Math.floor(ms / hourMs);

/** What becomes of a counter when more is counted: an hour takes the place of the one a day before it. */
const addedUp = sql`
  delivered = iif(hour = excluded.hour, delivered, 0) + excluded.delivered,
  failed = iif(hour = excluded.hour, failed, 0) + excluded.failed,
  noticed = iif(hour = excluded.hour, noticed, 0),
  hour = excluded.hour`;

/** A delivery that is about to end, by the claim that it was called under. */
export type Ending = { id: string; claimedUntil: number; status: string };

/**
 * Counts deliveries of a webhook that end now, among `endings`, and those of `earlier` transactions. To be run in the
 * same transaction as the update that ends them, and before it: when none of them is pending under its claim any more,
 * nothing is counted, so that recording a batch twice counts it once. Writes one row, however many there are, and none
 * for a deleted webhook.
 */
export function countEndings(
  db: Database,
  webhookId: string,
  endings: Ending[],
  earlier: HourCount,
  now: number,
) {
  const ended = endings
    .filter(({ status }) => status === 'delivered' || status === 'failed')
    .map(({ id, claimedUntil, status }) => ({ id, claimedUntil, delivered: status === 'delivered' ? 1 : 0 }));
  return addToHour(
    db,
    webhookId,
    sql`
      select total(e.value->>'delivered') + ${earlier.delivered} as delivered,
        count(*) - total(e.value->>'delivered') + ${earlier.failed} as failed
      from json_each(${JSON.stringify(ended)}) e
      cross join deliveries d on d.webhook_id = ${webhookId} and d.id = e.value->>'id'
      where d.status = 'pending' and d.claimed_until = e.value->>'claimedUntil'
      having count(*) > 0`,
    now,
  );
}

/** Counts deliveries of a webhook that have ended in earlier transactions. */
export const countEarlier = (
  db: Database,
  webhookId: string,
  { delivered, failed }: HourCount,
  now: number,
) => addToHour(db, webhookId, sql`select ${delivered} as delivered, ${failed} as failed`, now);

function addToHour(db: Database, webhookId: string, counts: SQL, now: number) {
  const hour = hourOf(now);
  return statement(
    db,
    sql`
    insert into webhook_hours (webhook_id, slot, hour, delivered, failed)
    select w.id, ${hour % countedHours}, ${hour}, c.delivered, c.failed
    from (${counts}) c cross join webhooks w on w.id = ${webhookId}
    where true
    on conflict (webhook_id, slot) do update set ${addedUp}`,
  );
}

/**
 * SQL that counts deliveries that fail without an attempt, which `which` selects by `webhook_id`. To be run in the
 * same transaction as the update that fails them, and before it.
 */
export const countFailed = (which: SQL, now: number): SQL => sql`
  insert into webhook_hours (webhook_id, slot, hour, delivered, failed)
  select w.id, ${hourOf(now) % countedHours}, ${hourOf(now)}, 0, c.failed
  from (select webhook_id, count(*) as failed from (${which}) group by webhook_id) c
  cross join webhooks w on w.id = c.webhook_id
  where true
  on conflict (webhook_id, slot) do update set ${addedUp}`;

/**
 * The last 24 hours, oldest first, of the webhooks that `which` selects, together. Reads at most 24 counters for each
 * webhook, however many deliveries they had.
 */
export function selectHours(db: Database, which: SQL, now: number) {
  const first = hourOf(now) - countedHours + 1;
  const hours = Array.from({ length: countedHours }, (_, i) => first + i);
  return statement<HourCount>(
    db,
    sql`
    select coalesce(c.delivered, 0) as delivered, coalesce(c.failed, 0) as failed
    from json_each(${JSON.stringify(hours)}) h
    left join (
      select hour, sum(delivered) as delivered, sum(failed) as failed from webhook_hours
      where webhook_id in (select id from webhooks where ${which}) and hour >= ${first}
      group by hour) c on c.hour = h.value
    order by h.value`,
  );
}
