import { and, gt, type SQL, sql, sum } from 'drizzle-orm';
import type { Database, Results } from '../core/platform/db/database.ts';
import { firstIdAt } from '../core/platform/db/ids.ts';
import { webhookHours } from '../core/platform/db/schema/webhooks.ts';
import { hourOf, shownHours } from '../core/webhooks/deliveries/counts.ts';
import { pendingWebhooks } from '../core/webhooks/deliveries/due.ts';
import { promptMs } from '../core/webhooks/deliveries/policy.ts';
import { isFirst } from '../core/webhooks/notifications/of-delivery.ts';
import { maxPendingCounted } from './api/counted.ts';

/** What waits; `oldest` are ids. `late` are accidents that should have been attempted. */
type Waiting = {
  pending: number;
  due: number;
  oldest: string | null;
  oldestAccident: string | null;
  late: number;
};

/** Selects what waits, 10,000 of each type, and how many accidents each of 24 hours had: 10,000 rows at most. */
export const selectWaits = (db: Database, now: number) => {
  const waiting = (priorities: SQL) => sql`(
    select d.*
    from hooks
    cross join deliveries d indexed by deliveries_due
      on d.webhook_id = hooks.id and d.status = 'pending' and d.priority in ${priorities}
    limit ${maxPendingCounted})`;
  const isLate = sql`priority = 0 and attempts = 0 and id < ${firstIdAt(now - promptMs)}
    and ${isFirst(sql`d`)}`;
  const { hour, accidents, accidentsInTime } = webhookHours;
  const hours = db
    .select({ hour, accidents, inTime: accidentsInTime })
    .from(webhookHours)
    .where(and(sql`${accidents} > 0`, gt(hour, hourOf(now) - shownHours)))
    .limit(maxPendingCounted)
    .as('hours');
  return {
    // Raw: a recursive part seeks from webhook to webhook, and an index is named.
    waiting: db.all<Waiting>(sql`
      with ${pendingWebhooks}
      select count(*) as pending, coalesce(sum(next_attempt_at <= ${now}), 0) as due,
        min(id) as oldest, min(iif(priority = 0, id, null)) as oldestAccident,
        coalesce(sum(${isLate}), 0) as late
      from (
        select * from ${waiting(sql`(0)`)}
        union all
        select * from ${waiting(sql`(1, 2, 3)`)}) d`),
    hours: db
      .select({
        hour: hours.hour,
        accidents: sum(hours.accidents).mapWith(Number).as('sum_of_accidents'),
        inTime: sum(hours.inTime).mapWith(Number).as('sum_in_time'),
      })
      .from(hours)
      .groupBy(hours.hour),
  };
};

/** How many accidents were first attempted in this hour and in 24, and the share in time, with those that are late. */
export function accidentsInTime(found: Results<ReturnType<typeof selectWaits>>, now: number) {
  const late = found.waiting[0]?.late ?? 0;
  const since = (hour: number) => {
    const hours = found.hours.filter((one) => one.hour >= hour);
    const count = hours.reduce((sum, { accidents }) => sum + accidents, late);
    const inTime = hours.reduce((sum, one) => sum + one.inTime, 0);
    return { count, inTime: count > 0 ? inTime / count : null };
  };
  return { hour: since(hourOf(now)), day: since(0) };
}
