import { sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';

/**
 * Deletes the notifications of events, by event id. Those of accidents stay: they keep a level from being told
 * twice.
 */
export const deleteEventNotifications = (db: Database, eventIds: string[]) =>
  db.run(sql`
    delete from notifications
    where (event_id, level) in (select value, 0 from json_each(${JSON.stringify(eventIds)}))`);
