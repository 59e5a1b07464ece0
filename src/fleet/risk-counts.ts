import { sql } from 'drizzle-orm';
import { read } from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { int } from '../platform/db/sql.ts';
import { quarterMs } from './trends/recount.ts';

/** How many events of a risk began within 15 minutes from `at`, in milliseconds since 1970. */
export type RiskCount = { at: number; risk: number; count: number };

/** How many events are counted at most, the newest ones. */
export const maxCounted = 2000;

/**
 * Counts the events of a vehicle or a driver since a time (milliseconds since 1970) by risk and quarter of an hour,
 * which add up to days in any zone. Reads two rows for each event, of an index range.
 *
 * @throws Refusal: unauthenticated, forbidden
 */
export async function countByRisk(
  env: Env,
  caller: Caller,
  of: 'vehicle' | 'driver',
  id: string,
  since: number,
): Promise<RiskCount[]> {
  const [counts] = await asCaller(env, caller, (db) => [
    read<RiskCount>(db)`
      select (started_at / ${int(quarterMs)}) * ${int(quarterMs)} as at,
              event_risk as risk, count(*) as count
            from (select started_at, event_risk from safety_events
              where ${sql.identifier(`${of}_id`)} = ${id} and started_at >= ${since} and +account_id = ${caller.accountId}
              order by started_at desc limit ${maxCounted})
            group by 1, 2`,
  ]);
  return counts;
}
