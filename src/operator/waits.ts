import { type SQL, sql } from 'drizzle-orm';
import { type Database, type Results, read } from '../platform/db/database.ts';
import { firstIdAt } from '../platform/db/ids.ts';
import { pendingWebhooks } from '../webhooks/deliveries/due.ts';
import { promptMs } from '../webhooks/deliveries/policy.ts';
import { hourOf, shownHours } from '../webhooks/deliveries/read/counts.ts';
import { isFirst } from '../webhooks/notifications/of-delivery.ts';
import { maxPendingCounted } from './api/operation.ts';

/** What waits; `oldest` are ids. `late` are accidents that should have been attempted. */
type Waiting = {
  pending: number;
  due: number;
  oldest: string | null;
  oldestAccident: string | null;
  late: number;
};

type Hour = { hour: number; accidents: number; inTime: number };

/** Selects what waits, 10,000 of each type, and how many accidents each of 24 hours had: 10,000 rows at most. */
export const selectWaits = (db: Database, now: number) => {
  const waiting = (priorities: SQL) => sql`
    select * from (
      select d.* from hooks cross join deliveries d indexed by deliveries_due
        on d.webhook_id = hooks.id and d.status = 'pending' and d.priority in ${priorities}
      limit ${maxPendingCounted})`;
  return {
    waiting: read<Waiting>(db)`
      with ${pendingWebhooks}
      select count(*) as pending, coalesce(sum(next_attempt_at <= ${now}), 0) as due, min(id) as oldest,
        min(iif(priority = 0, id, null)) as oldestAccident,
        coalesce(sum(priority = 0 and attempts = 0 and id < ${firstIdAt(now - promptMs)} and ${isFirst(sql`d`)}), 0) as late
      from (${waiting(sql`(0)`)} union all ${waiting(sql`(1, 2, 3)`)}) d`,
    hours: read<Hour>(db)`
      select hour, sum(accidents) as accidents, sum(accidents_in_time) as inTime from (
        select hour, accidents, accidents_in_time from webhook_hours indexed by webhook_hours_of_accidents
        where accidents > 0 and hour > ${hourOf(now) - shownHours} limit ${maxPendingCounted})
      group by hour`,
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
