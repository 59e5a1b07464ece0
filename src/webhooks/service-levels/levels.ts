import { type SQL, sql } from 'drizzle-orm';
import { type Database, type Results, read } from '../../platform/db/database.ts';
import { createdAtOf } from '../../platform/db/ids.ts';
import { pendingWebhooks } from '../deliveries/due.ts';
import { countedHours, hourOf, shownHours } from '../deliveries/read/counts.ts';
import {
  addHistograms,
  countWaits,
  type Histogram,
  percentile,
  type ServiceLevel,
  waitsCalled,
} from '../latency.ts';
import { isFirst } from '../notifications/of-delivery.ts';

/** The account of the totals. */
export const everybody = '';

/** How many waiting deliveries of each kind are read. */
export const maxPendingLookedAt = 10_000;

export const lastAddedUp = sql`(select max(start) from service_levels where account_id = ${everybody} and hours = 1)`;

/** Waiting deliveries of the same 4 seconds; `first` are those that count. */
type Waiting = {
  accident: number;
  unattempted: number;
  oldest: string;
  pending: number;
  due: number;
  first: number;
};

/** Selects how long deliveries of an account, or of all, have waited: hours, days, and what waits now. */
export const selectWaits = (db: Database, accountId: string | undefined, now: number) => {
  const hour = hourOf(now);
  const isOwn = accountId === undefined ? sql`true` : sql`w.account_id = ${accountId}`;
  const hooks =
    accountId === undefined
      ? pendingWebhooks
      : sql`hooks as (select id from webhooks where account_id = ${accountId})`;
  const waiting = (priorities: SQL) => sql`
    select * from (
      select d.id, d.priority, d.attempts, d.next_attempt_at, ${isFirst(sql`d`)} as first
      from hooks cross join deliveries d indexed by deliveries_due
        on d.webhook_id = hooks.id and d.status = 'pending' and d.priority in ${priorities}
      limit ${maxPendingLookedAt})`;
  return {
    counted: read<{ hours: number; waits: string }>(db)`
      select hours, waits from service_levels where account_id = ${accountId ?? everybody}
        and start > iif(hours = 1, ${hour - shownHours}, ${hour - countedHours})
      union all
      select 0, c.waits from webhooks w cross join webhook_hours c
        on c.webhook_id = w.id and c.slot in (${hour % countedHours}, ${(hour - 1) % countedHours})
          and c.hour > max(coalesce(${lastAddedUp}, 0), ${hour - 2})
      where ${isOwn}`,
    waiting: read<Waiting>(db)`
      with ${hooks}
      select priority = 0 as accident, attempts = 0 as unattempted, min(id) as oldest, count(*) as pending,
        sum(next_attempt_at <= ${now}) as due, sum(first) as first
      from (${waiting(sql`(0)`)} union all ${waiting(sql`(1, 2, 3)`)}) group by 1, 2, substr(id, 1, 10)`,
  };
};

/** The levels of 24 hours and 30 days. What waits counts with its age. */
export function levelsOf({ counted, waiting }: Results<ReturnType<typeof selectWaits>>, now: number) {
  const soFar = waiting.map(({ accident, unattempted, oldest, first }) => {
    const success = now - createdAtOf(oldest);
    const waits = { success, firstAttempt: unattempted ? success : undefined };
    return countWaits(accident ? 'accident' : 'event', waits, first);
  });
  const sumBut = (left: number) => {
    const chosen = counted.filter(({ hours }) => hours !== left);
    const waits = addHistograms([...soFar, ...chosen.map((one) => JSON.parse(one.waits))]);
    return { accidents: levelOf(waits, 'accident'), events: levelOf(waits, 'event') };
  };
  return { day: sumBut(24), month: sumBut(1) };
}

function levelOf(waits: Histogram, type: 'accident' | 'event'): ServiceLevel {
  const firstAttempts = waitsCalled(`${type}FirstAttempt`, waits);
  const count = Object.values(firstAttempts).reduce((sum, one) => sum + one, 0);
  return {
    count,
    inTime: count > 0 ? (waits[`${type}InTime`] ?? 0) / count : null,
    firstAttempt: quantilesOf(firstAttempts),
    delivered: quantilesOf(waitsCalled(`${type}Success`, waits)),
  };
}

function quantilesOf(counts: Histogram): ServiceLevel['delivered'] {
  const within = (share: number) => {
    const ms = percentile(counts, share);
    return ms === null ? null : ms / 1000;
  };
  return { p50: within(0.5), p95: within(0.95), p99: within(0.99) };
}
