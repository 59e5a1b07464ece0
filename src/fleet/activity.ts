import { sql } from 'drizzle-orm';
import { statement } from '../db/database.ts';
import { asCaller, type Caller } from '../db/guard.ts';

/** When each connection's most recent safety event started: one row read for each. */
export async function lastEvents(
  env: Env,
  caller: Caller,
  connectionIds: string[],
): Promise<Map<string, number>> {
  const [rows] = await asCaller(
    env,
    caller,
    (db) => [
      statement<{ id: string; at: number | null }>(
        db,
        sql`
        select c.id, (select max(started_at) from safety_events where connection_id = c.id) as at
        from json_each(${JSON.stringify(connectionIds)}) wanted
        cross join connections c on c.id = wanted.value and c.account_id = ${caller.accountId}`,
      ),
    ],
    { repeatable: true },
  );
  return new Map(rows.flatMap(({ id, at }) => (at === null ? [] : [[id, at]])));
}
