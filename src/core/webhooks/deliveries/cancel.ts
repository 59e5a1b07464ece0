import { and, eq, exists, or, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/database.ts';
import { safetyEvents } from '../../platform/db/schema/fleet.ts';
import { deliveries, fanOuts, notifications } from '../../platform/db/schema/webhooks.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { changeInChunks, rowsPerChunk } from '../../platform/jobs/chunks.ts';

/** Cancels what is pending, and not in flight, for webhooks that are deleted or whose account is. */
export async function cancelPending(env: Env, webhookIds: string[]): Promise<void> {
  const now = Date.now();
  // It names an index.
  const keys = sql`(
    select d.webhook_id, d.id from json_each(${JSON.stringify(webhookIds)}) w
    cross join deliveries d indexed by deliveries_due
      on d.webhook_id = w.value and d.status = 'pending' and d.claimed_until <= ${now}
    where not exists (
      select 1 from webhooks h where h.id = w.value and (h.stopped_at is null or not exists (
        select 1 from deletions where id = h.account_id)))
    limit ${rowsPerChunk})`;
  const db = openDatabase(env);
  const cancelled = db
    .update(deliveries)
    .set({ status: 'cancelled', finishedAt: now })
    .where(sql`(webhook_id, id) in ${keys}`);
  await changeInChunks(db, cancelled);
}

/** The statement that deletes the deliveries of a connection among `keys`, before its notifications. */
export function removeDeliveries(db: Database, keys: SQL, connectionId: string) {
  const notification = db
    .select({ id: notifications.eventId })
    .from(notifications)
    .where(
      and(
        eq(notifications.eventId, deliveries.eventId),
        eq(notifications.level, deliveries.level),
        eq(notifications.connectionId, connectionId),
      ),
    );
  const event = db
    .select({ id: safetyEvents.id })
    .from(safetyEvents)
    .where(
      and(eq(safetyEvents.id, deliveries.eventId), eq(safetyEvents.connectionId, connectionId)),
    );
  return db.delete(deliveries).where(and(isAmong(keys), or(exists(notification), exists(event))));
}

const isAmong = (keys: SQL): SQL => sql`(${deliveries.webhookId}, ${deliveries.id}) in ${keys}`;

/** The statement that deletes the fan-outs of a connection, which are rare. */
export const removeFanOuts = (db: Database, connectionId: string) =>
  db.delete(fanOuts).where(eq(fanOuts.connectionId, connectionId));

/** The statement that removes responses that contain an address from the deliveries `keys`. */
export const eraseAnswers = (db: Database, keys: SQL, email: string) =>
  db
    .update(deliveries)
    .set({
      log: sql`(
        select json_group_array(json_remove(value, '$.answer')) from json_each(${deliveries.log}))`,
    })
    .where(and(isAmong(keys), sql`instr(lower(${deliveries.log}), ${email}) > 0`));
