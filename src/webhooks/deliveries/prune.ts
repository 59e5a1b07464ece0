import { sql } from 'drizzle-orm';
import { config } from '../../platform/config.ts';
import { changeInChunks, rowsPerChunk } from '../../platform/db/chunks.ts';
import { openDatabase } from '../../platform/db/database.ts';
import { firstIdAt } from '../../platform/db/ids.ts';
import { deleteNotifications } from '../notifications/delete.ts';
import { countFailed } from './counts.ts';
import { giveUpAfterMs } from './policy.ts';
import { pendingWebhooks } from './sweep.ts';

const perChunk = 5000;
const maxChunks = 100;

/**
 * Deletes deliveries that have ended and are past retention, including those of deleted webhooks, and their
 * notifications. Works in chunks in the table's own order, once an hour. Returns the number of deliveries deleted.
 */
export async function prune(env: Env, now = Date.now()): Promise<number> {
  const db = openDatabase(env);
  const before = firstIdAt(now - config(env).retentionMs);
  let deleted = 0;
  for (let chunk = 0; chunk < maxChunks; chunk++) {
    // One seek per webhook that has rows, and then only old rows.
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
    await deleteNotifications(db, gone);
    if (gone.length < perChunk) break;
  }
  return deleted;
}

/**
 * Fails deliveries that have been due for five days without an attempt, because their receiver's circuit was open all
 * that time: otherwise a dead receiver's deliveries would never end. Once an hour. Returns how many.
 */
export function giveUp(env: Env, now = Date.now()): Promise<number> {
  const tooLate = sql`
    with ${pendingWebhooks}
    select d.webhook_id, d.id from hooks cross join deliveries d indexed by deliveries_due
      on d.webhook_id = hooks.id and d.status = 'pending' and d.priority in (0, 1, 2, 3)
        and d.next_attempt_at <= ${now - giveUpAfterMs}
    where d.claimed_until <= ${now} limit ${rowsPerChunk}`;
  return changeInChunks(
    openDatabase(env),
    sql`
    update deliveries set status = 'failed', finished_at = ${now} where (webhook_id, id) in (${tooLate})`,
    countFailed(tooLate, now),
  );
}
