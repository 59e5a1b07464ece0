import { type SQL, sql } from 'drizzle-orm';
import { change, type Database, openDatabase, statement, transaction } from '../platform/db/database.ts';
import { createdAtOf } from '../platform/db/ids.ts';
import { pendingWebhooks } from './deliveries/due.ts';
import { countedHours, hourOf, promptMs, shownHours } from './deliveries/read/counts.ts';
import { addHistograms, bucketOf, type Histogram, percentile } from './latency.ts';
import { isFirst } from './notifications/of-delivery.ts';

/** The account of the totals. */
const everybody = '';

/** How many waiting deliveries of each kind are read. */
export const maxPendingLookedAt = 10_000;

/**
 * Adds up the waits in the webhooks' hourly counters, by account, hour and day. Once an hour, for all hours since the
 * last run and the one before them, which may have been counted in its last seconds. May be repeated.
 */
export async function addUpWaits(env: Env, now = Date.now()): Promise<void> {
  const db = openDatabase(env);
  const hour = hourOf(now);
  const [marked] = await statement<{ last: number | null }>(db)`select ${lastAddedUp} as last`;
  const first = Math.max(marked?.last ?? 0, hour - shownHours);
  const hours = Array.from({ length: hour - first }, (_, i) => ({
    hour: first + i,
    slot: (first + i) % countedHours,
  }));
  const days = JSON.stringify([...new Set(hours.map(({ hour }) => hour - (hour % 24)))]);
  await transaction(
    db,
    [
      change(db)`
        insert into service_levels (account_id, hours, start, waits)
        with counted as materialized (
          select w.account_id, c.hour, j.key, sum(j.value) as n
          from webhooks w cross join json_each(${JSON.stringify(hours)}) h
          cross join webhook_hours c on c.webhook_id = w.id and c.slot = h.value->>'slot' and c.hour = h.value->>'hour'
          cross join json_each(c.waits) j group by 1, 2, 3)
        select * from (
          select account_id, 1, hour, json_group_object(key, n) from counted group by account_id, hour
          union all
          select ${everybody}, 1, h.value->>'hour', (select json_group_object(key, n) from (
            select key, sum(n) as n from counted where hour = h.value->>'hour' group by key))
          from json_each(${JSON.stringify(hours)}) h)
        where true ${replaced}`,
      change(db)`
        insert into service_levels (account_id, hours, start, waits)
        select account_id, 24, day, json_group_object(key, n) from (
          select s.account_id, d.value as day, j.key, sum(j.value) as n
          from (select id from accounts union all select ${everybody}) a cross join json_each(${days}) d
          cross join service_levels s on s.account_id = a.id and s.hours = 1 and s.start >= d.value and s.start < d.value + 24
          cross join json_each(s.waits) j group by 1, 2, 3)
        group by account_id, day ${replaced}`,
      change(db)`
        delete from service_levels
        where hours = 1 and start < ${hour - 2 * shownHours} or hours = 24 and start <= ${hour - countedHours}`,
    ],
    { repeatable: true },
  );
}

const replaced = sql`on conflict (account_id, hours, start) do update set waits = excluded.waits`;

const lastAddedUp = sql`(select max(start) from service_levels where account_id = ${everybody} and hours = 1)`;

/**
 * The statement that removes an account's sums at the very end, once its webhooks are gone: until then the hourly job
 * may add them up again.
 */
export const removeServiceLevels = (db: Database, accountId: string) =>
  change(db)`delete from service_levels where account_id = ${accountId}`;

/** Waiting deliveries of one kind that were created within the same 4 seconds; `first` are those that count. */
type Waiting = {
  accident: number;
  unattempted: number;
  oldest: string;
  pending: number;
  due: number;
  first: number;
};

/**
 * The statements that select how long deliveries of an account, or of all accounts, have waited: its hours and days,
 * two counters of each webhook, and what waits now, at two rows each.
 */
export const selectWaits = (db: Database, accountId: string | undefined, now: number) => {
  const hour = hourOf(now);
  const own = (column: SQL) => (accountId === undefined ? sql`true` : sql`${column} = ${accountId}`);
  const waiting = (priorities: SQL) => sql`
    select * from (
      select d.id, d.priority, d.attempts, d.next_attempt_at, ${isFirst(sql`d`)} as first
      from hooks cross join deliveries d indexed by deliveries_due
        on d.webhook_id = hooks.id and d.status = 'pending' and d.next_attempt_at is not null and d.priority in ${priorities}
      limit ${maxPendingLookedAt})`;
  return [
    statement<{ hours: number; waits: string }>(db)`
      select hours, waits from service_levels where account_id = ${accountId ?? everybody}
        and start > iif(hours = 1, ${hour - shownHours}, ${hour - countedHours})
      union all
      select 0, c.waits from webhooks w cross join webhook_hours c
        on c.webhook_id = w.id and c.slot in (${hour % countedHours}, ${(hour - 1) % countedHours}) and c.hour > max(coalesce(${lastAddedUp}, 0), ${hour - 2})
      where ${own(sql`w.account_id`)}`,
    statement<Waiting>(db)`
      with ${accountId === undefined ? pendingWebhooks : sql`hooks as (select id from webhooks where ${own(sql`account_id`)})`}
      select priority = 0 as accident, attempts = 0 as unattempted, min(id) as oldest, count(*) as pending,
        sum(next_attempt_at <= ${now}) as due, sum(first) as first
      from (${waiting(sql`(0)`)} union all ${waiting(sql`(1, 2, 3)`)}) group by 1, 2, substr(id, 1, 10)`,
  ] as const;
};

/**
 * How long deliveries of a kind waited, in seconds; infinite where that many were never attempted or delivered, null if
 * there were none. `inTime` is the share attempted within 5 s.
 */
export type ServiceLevel = {
  count: number;
  inTime: number | null;
  firstAttempt: Quantiles;
  delivered: Quantiles;
};
type Quantiles = Record<'p50' | 'p95' | 'p99', number | null>;

/** The levels of the last 24 hours and 30 days, from the results of `selectWaits`. What waits counts with its age. */
export function levelsOf(counted: { hours: number; waits: string }[], waiting: Waiting[], now: number) {
  const soFar = waiting.map(({ accident, unattempted, oldest, first }) => {
    const of = accident ? 'a' : 'e';
    const waitedMs = now - createdAtOf(oldest);
    return {
      [`${of}s${bucketOf(waitedMs)}`]: first,
      ...(unattempted && { [`${of}f${bucketOf(waitedMs)}`]: first }),
      ...(unattempted && waitedMs <= promptMs && { [`${of}5`]: first }),
    };
  });
  const sumBut = (left: number) => {
    const chosen = counted.filter(({ hours }) => hours !== left);
    const waits = addHistograms([...soFar, ...chosen.map((one) => JSON.parse(one.waits))]);
    return { accidents: levelOf(waits, 'a'), events: levelOf(waits, 'e') };
  };
  return { day: sumBut(24), month: sumBut(1) };
}

function levelOf(waits: Histogram, of: 'a' | 'e'): ServiceLevel {
  const until = (stage: 'f' | 's') => {
    const counts: Histogram = {};
    for (const [name, count] of Object.entries(waits))
      if (name.startsWith(of + stage)) counts[name.slice(2)] = count;
    const within = (share: number) => {
      const ms = percentile(counts, share);
      return ms === null ? null : ms / 1000;
    };
    const count = Object.values(counts).reduce((sum, one) => sum + one, 0);
    return { count, quantiles: { p50: within(0.5), p95: within(0.95), p99: within(0.99) } };
  };
  const { count, quantiles: firstAttempt } = until('f');
  const inTime = count > 0 ? (waits[`${of}5`] ?? 0) / count : null;
  return { count, inTime, firstAttempt, delivered: until('s').quantiles };
}
