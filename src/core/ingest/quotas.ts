import { type SQL, sql } from 'drizzle-orm';
import { lastUsage, today } from '../fleet/record-changes.ts';
import { int, refuse } from '../platform/db/database.ts';
import { dayMs, hourMs } from '../platform/durations.ts';

/** What an account may add a day (UTC) by default, in the order of a change's `usage`. */
export const defaultQuotas = { records: 2_000_000, bytes: 1_000_000_000, deliveries: 5_000_000 };

/** A call with an accident is refused only at so many times a quota. */
const accidentTimes = 2;

/** The longest `Retry-After`: by then an operator may have raised the quota. */
const longestWaitMs = hourMs;

/** SQL `when … then …` for the guard, which refuses accounts over their quotas. */
export function whenOverQuota(accountId: string, now: number, hasAccident: boolean): SQL {
  const times = int(hasAccident ? accidentTimes : 1);
  const reached = Object.entries(defaultQuotas).map(
    ([quota, usual], i) => sql`
      when iif(u.usage->>0 = ${today(now)}, u.usage->>${int(i + 1)}, 0)
        >= ${times} * coalesce(a.quotas->>${quota}, ${int(usual)}) then ${quota}`,
  );
  const quota = sql`(
    select case when a.held and ${times} = 1 then 'database' ${sql.join(reached)} end
    from (select ${lastUsage(accountId)} as usage) u)`;
  const retryAfter = Math.ceil(Math.min(dayMs - (now % dayMs), longestWaitMs) / 1000);
  return sql`when ${quota} is not null then ${refuse(sql`
    json_object('kind', 'over quota', 'quota', ${quota}, 'retryAfter', ${retryAfter})`)}`;
}
