import { sql } from 'drizzle-orm';
import { config } from '../config.ts';
import { openDatabase } from '../db/database.ts';
import { firstIdAt } from '../db/ids.ts';
import { deleteEventNotifications } from '../notifications/delete.ts';

const perChunk = 5000;
const mostChunks = 100;

/**
 * Deletes the rows of deliveries that have ended and are past retention, those of deleted webhooks included,
 * and the payloads of their events. A payload of an accident stays: it is what keeps a level from being
 * told twice. Works in chunks along the table's own order, once an hour. Answers how many rows went.
 */
export async function prune(env: Env, now = Date.now()): Promise<number> {
  const db = openDatabase(env);
  const before = firstIdAt(now - config(env).retentionMs);
  let deleted = 0;
  for (let chunk = 0; chunk < mostChunks; chunk++) {
    // One seek for each webhook that has rows, and then only rows that are old.
    const gone = await db.all<{ eventId: string; level: number }>(sql`
      with recursive hooks (id) as (
        select min(webhook_id) from deliveries
        union all
        select (select min(webhook_id) from deliveries where webhook_id > hooks.id)
        from hooks where hooks.id is not null)
      delete from deliveries where (webhook_id, id) in (
        select d.webhook_id, d.id from hooks
        cross join deliveries d on d.webhook_id = hooks.id and d.id < ${before}
        where d.status <> 'pending' limit ${perChunk})
      returning event_id as eventId, level`);
    deleted += gone.length;
    const events = gone.filter(({ level }) => level === 0).map(({ eventId }) => eventId);
    await deleteEventNotifications(db, events);
    if (gone.length < perChunk) break;
  }
  return deleted;
}
