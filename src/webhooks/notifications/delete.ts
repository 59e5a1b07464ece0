import { sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/database.ts';

/** Deletes notifications by their keys. What has been told is known by the event, or the accident. */
export const deleteNotifications = (db: Database, keys: { eventId: string; level: number }[]) =>
  db.run(sql`
    delete from notifications
    where (event_id, level) in (
      select value->>'eventId', value->>'level' from json_each(${JSON.stringify(keys)}))`);
