import { type SQL, sql } from 'drizzle-orm';
import { change, type Database, openDatabase, statement } from '../../platform/db/database.ts';
import type { Remover } from '../../platform/jobs/chunks.ts';

/** How many rows a chunk looks through. */
const rowsPerChunk = 2000;

/** Deletes the notifications of the account or the connection. No index leads to them: it looks through all there are. */
export const removeNotifications: Remover = async (env, { accountId, connectionId }, cursor) => {
  const db = openDatabase(env);
  const { range, next } = await nextChunk(db, cursor);
  const ofConnection = connectionId === null ? sql.empty() : sql`and connection_id = ${connectionId}`;
  await change(db)`delete from notifications where ${range} and account_id = ${accountId} ${ofConnection}`;
  return next;
};

/** Takes an address, given in lower case, from the recipients that the account's notifications name. */
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

/** The next notifications of all accounts, in the order of their keys. */
async function nextChunk(db: Database, cursor: string): Promise<{ range: SQL; next: string | undefined }> {
  const [end] = await statement<{ id: string }>(db)`
    select event_id as id from notifications where event_id > ${cursor}
      order by event_id limit 1 offset ${rowsPerChunk - 1}`;
  return end
    ? { range: sql`event_id > ${cursor} and event_id <= ${end.id}`, next: end.id }
    : { range: sql`event_id > ${cursor}`, next: undefined };
}

/** Deletes notifications by their keys. What has been notified is known by the event, or the accident. */
export const deleteNotifications = (db: Database, keys: { eventId: string; level: number }[]) =>
  db.run(sql`
    delete from notifications
    where (event_id, level) in (
      select value->>'eventId', value->>'level' from json_each(${JSON.stringify(keys)}))`);
