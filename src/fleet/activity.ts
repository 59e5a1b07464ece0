import { sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';

/** When each connection's last safety event began: one row read for each. */
export async function lastEvents(db: Database, connectionIds: string[]): Promise<Map<string, number>> {
  const rows = await db.all<{ id: string; at: number | null }>(sql`
    select value as id, (select max(started_at) from safety_events where connection_id = value) as at
    from json_each(${JSON.stringify(connectionIds)})`);
  return new Map(rows.flatMap(({ id, at }) => (at === null ? [] : [[id, at]])));
}
