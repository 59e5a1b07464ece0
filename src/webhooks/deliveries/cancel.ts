import { eq, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/database.ts';
import { deliveries, fanOuts } from '../../platform/db/schema/webhooks.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { changeInChunks, rowsPerChunk } from '../../platform/jobs/chunks.ts';

/** Cancels what is pending, and not in flight, for webhooks that are deleted or whose account is. */
export async function cancelPending(env: Env, webhookIds: string[]): Promise<void> {
  const now = Date.now();
  const keys = sql`
    select d.webhook_id, d.id from json_each(${JSON.stringify(webhookIds)}) w
    cross join deliveries d indexed by deliveries_due
      on d.webhook_id = w.value and d.status = 'pending' and d.claimed_until <= ${now}
    where not exists (
      select 1 from webhooks h where h.id = w.value and (h.stopped_at is null or not exists (
        select 1 from deletions where id = h.account_id)))
    limit ${rowsPerChunk}`;
  const db = openDatabase(env);
  const cancelled = db
    .update(deliveries)
    .set({ status: 'cancelled', finishedAt: now })
    .where(sql`(webhook_id, id) in (${keys})`);
  await changeInChunks(db, cancelled.getSQL());
}

/** Deletes the deliveries of a connection among `keys`, before its notifications. Needs an alias of the table. */
export const removeDeliveries = (keys: SQL, connectionId: string): SQL => sql`
  delete from deliveries as d where (webhook_id, id) in (${keys}) and (
    exists (select 1 from notifications n
      where n.event_id = d.event_id and n.level = d.level and n.connection_id = ${connectionId})
    or exists (select 1 from safety_events e
      where e.id = d.event_id and e.connection_id = ${connectionId}))`;

/** Deletes the fan-outs of a connection, which are rare. */
export const removeFanOuts = (db: Database, connectionId: string) =>
  db.delete(fanOuts).where(eq(fanOuts.connectionId, connectionId));

/** Removes responses that contain an address from the deliveries `keys`, for a job that takes SQL. */
export const eraseAnswers = (keys: SQL, email: string): SQL => sql`
  update deliveries set log = (
    select json_group_array(json_remove(value, '$.answer')) from json_each(log))
  where (webhook_id, id) in (${keys}) and instr(lower(log), ${email}) > 0`;
