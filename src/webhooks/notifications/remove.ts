import { type SQL, sql } from 'drizzle-orm';
import { change, type Database, openDatabase, statement } from '../../platform/db/database.ts';
import type { Remover } from '../../platform/jobs/chunks.ts';

/** How many rows a chunk scans. */
const rowsPerChunk = 2000;

/** Deletes the notifications of a connection. There is no index for that: it scans them all. */
export const removeNotifications: Remover = async (env, { accountId, connectionId }, cursor) => {
  const db = openDatabase(env);
  const { range, next } = await nextChunk(db, cursor);
  await change(db)`
    delete from notifications where ${range} and account_id = ${accountId} and connection_id = ${connectionId}`;
  return next;
};

/** Removes an address, given in lower case, from the recipients in the account's notifications. */
export const eraseRecipient =
  (email: string): Remover =>
  async (env, { accountId }, cursor) => {
    const db = openDatabase(env);
    const { range, next } = await nextChunk(db, cursor);
    await change(db)`
      update notifications set data = ${withoutRecipient(email)}
      where ${range} and account_id = ${accountId} and instr(lower(data), ${email}) > 0`;
    return next;
  };

/** SQL for the payload `data` without a recipient, given in lower case. */
export const withoutRecipient = (email: string): SQL => sql`json_set(data, '$.recipients',
  (select json_group_array(value) from json_each(data, '$.recipients') where lower(value) <> ${email}))`;

async function nextChunk(db: Database, cursor: string): Promise<{ range: SQL; next: string | undefined }> {
  const [end] = await statement<{ id: string }>(db)`
    select event_id as id from notifications where event_id > ${cursor}
      order by event_id limit 1 offset ${rowsPerChunk - 1}`;
  return end
    ? { range: sql`event_id > ${cursor} and event_id <= ${end.id}`, next: end.id }
    : { range: sql`event_id > ${cursor}`, next: undefined };
}

/** Deletes notifications by their keys. The event or the accident still knows what was notified. */
export const deleteNotifications = (db: Database, keys: { eventId: string; level: number }[]) =>
  db.run(sql`
    delete from notifications
    where (event_id, level) in (
      select value->>'eventId', value->>'level' from json_each(${JSON.stringify(keys)}))`);
