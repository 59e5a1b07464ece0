import { type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/database.ts';

/** Deletes the notifications of a connection from those that `keys` selects. */
export const removeNotifications = (keys: SQL, connectionId: string): SQL => sql`
  delete from notifications where (event_id, level) in (${keys}) and connection_id = ${connectionId}`;

/** Removes an address in lower case from the recipients in the notifications that `keys` selects. */
export const eraseRecipient = (keys: SQL, email: string): SQL => sql`
  update notifications set data = ${withoutRecipient(email)}
  where (event_id, level) in (${keys}) and instr(lower(data), ${email}) > 0`;

/** SQL for the payload `data` without a recipient, given in lower case. */
export const withoutRecipient = (email: string): SQL => sql`json_set(data, '$.recipients',
  (select json_group_array(value) from json_each(data, '$.recipients') where lower(value) <> ${email}))`;

/** Deletes notifications by their keys. The event or the accident still knows what was notified. */
export const deleteNotifications = (db: Database, keys: { eventId: string; level: number }[]) =>
  db.run(sql`
    delete from notifications
    where (event_id, level) in (
      select value->>'eventId', value->>'level' from json_each(${JSON.stringify(keys)}))`);
