import { sql } from 'drizzle-orm';
import { config } from '../config.ts';
import { openDatabase, statement, transaction } from '../db/database.ts';
import { firstIdAt } from '../db/ids.ts';
import { giveUpAfterMs } from './policy.ts';
import { type DeliveryKey, wake } from './queue.ts';

/** Which failed deliveries: one, or those whose notification is of a time range (milliseconds). */
export type Range = { id?: string | undefined; since?: number | undefined; until?: number | undefined };

const mostAtOnce = 5000;

/**
 * Sends failed deliveries of a webhook again: each starts its schedule anew, under the same Delivery-Id and
 * with its log. Its receiver's circuit lets a probe through at once. Those too near the end of retention to
 * finish within it are left. Answers how many, and whether there are more to replay than fit into one call.
 */
export async function replay(
  env: Env,
  webhookId: string,
  { id, since = 0, until }: Range,
): Promise<{ replayed: number; more: boolean }> {
  const db = openDatabase(env.DB);
  const now = Date.now();
  const earliest = Math.max(since, now - config(env).retentionMs + 2 * giveUpAfterMs);
  const [keys] = await transaction(db, [
    statement<DeliveryKey>(
      db,
      sql`
      update deliveries set status = 'pending', attempts = 0, next_attempt_at = ${now}, finished_at = null,
        give_up_at = ${now + giveUpAfterMs}
      where (webhook_id, id) in (
          select webhook_id, id from deliveries
          where status = 'failed' and webhook_id = ${webhookId} and id >= ${firstIdAt(earliest)}
            ${id === undefined ? sql.empty() : sql`and id = ${id}`}
            ${until === undefined ? sql.empty() : sql`and id < ${firstIdAt(until)}`}
          limit ${mostAtOnce})
        and exists (select 1 from webhooks where id = ${webhookId})
      returning webhook_id as webhookId, id`,
    ),
    statement(db, sql`update webhook_health set open_until = ${now} where webhook_id = ${webhookId}`),
  ]);
  await wake(env.DELIVERIES, keys);
  return { replayed: keys.length, more: keys.length === mostAtOnce };
}
