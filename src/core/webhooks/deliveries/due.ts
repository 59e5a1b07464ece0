import { and, eq, gt, lte, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/database.ts';
import { deliveries } from '../../platform/db/schema/webhooks.ts';

const priorities = {
  all: sql`(0, 1, 2, 3)`,
  accidents: sql`(0)`,
  events: sql`(1, 2, 3)`,
  one: sql`(p.value)`,
};

/** A webhook's due deliveries, accidents first. With all priorities named, SQLite uses the index. */
export const dueDeliveries = (
  webhookId: SQL | string,
  now: number,
  which: keyof typeof priorities = 'all',
): SQL => sql`
  deliveries indexed by deliveries_due
  where webhook_id = ${webhookId} and status = 'pending' and priority in ${priorities[which]}
    and next_attempt_at <= ${now}
  order by priority, next_attempt_at`;

/** SQL for when a webhook's first pending delivery is due after a time; null for none. */
export const firstDueOf = (webhookId: SQL, after = -1): SQL => sql`
  (select min((select next_attempt_at from deliveries indexed by deliveries_due
    where webhook_id = ${webhookId} and status = 'pending' and priority = p.value
      and next_attempt_at > ${after}
    order by next_attempt_at limit 1))
  from json_each('[0, 1, 2, 3]') p)`;

/** `all_hooks`: each webhook that has deliveries in a range of an index, by one seek each. */
const webhooksWith = (range: SQL): SQL => sql`
  recursive all_hooks (id) as (
    select * from (select webhook_id from ${range} order by webhook_id limit 1)
    union all
    select (select min(webhook_id) from ${range} and webhook_id > all_hooks.id)
    from all_hooks where all_hooks.id is not null)`;

/** `hooks`: each webhook that has pending deliveries, unless its account is suspended. */
export const pendingWebhooks: SQL = sql`
  ${webhooksWith(sql`deliveries indexed by deliveries_due where status = 'pending'`)},
  hooks as (
    select * from all_hooks
    where not exists (select 1 from webhooks w where w.id = all_hooks.id and w.stopped_at is not null))`;

/** `all_hooks`: each webhook that has deliveries, including deleted ones. */
export const allWebhooks: SQL = webhooksWith(sql`deliveries where true`);

/** The statement that restarts the schedule of finished deliveries, whose keys SQL selects. */
export const restart = (db: Database, keys: SQL, now: number) =>
  db
    .update(deliveries)
    .set({ status: 'pending', attempts: 0, nextAttemptAt: now, finishedAt: null })
    .where(sql`(webhook_id, id) in ${keys}`);

/** The statement that makes pending deliveries due which wait for a retry. */
export const retryNow = (db: Database, which: SQL | undefined, now: number) =>
  db
    .update(deliveries)
    .set({ nextAttemptAt: now })
    .where(
      and(
        which,
        eq(deliveries.status, 'pending'),
        gt(deliveries.attempts, 0),
        gt(deliveries.nextAttemptAt, now),
        lte(deliveries.claimedUntil, now),
      ),
    );
