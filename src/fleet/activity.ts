import { sql } from 'drizzle-orm';
import { statement } from '../db/database.ts';
import { asCaller, type Caller } from '../db/guard.ts';

/**
 * When the most recent safety event of each connection started, in milliseconds since 1970; a connection without
 * any is missing. Reads one event per connection, for the account's first 1,000.
 */
export async function lastEvents(env: Env, caller: Caller): Promise<Map<string, number>> {
  const [rows] = await asCaller(
    env,
    caller,
    (db) => [
      statement<{ id: string; at: number | null }>(
        db,
        sql`
        select id, (select max(started_at) from safety_events where connection_id = connections.id) as at
        from connections where account_id = ${caller.accountId} order by created_at, id limit 1000`,
      ),
    ],
    { repeatable: true },
  );
  return new Map(rows.flatMap(({ id, at }) => (at === null ? [] : [[id, at]])));
}
