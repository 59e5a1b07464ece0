import { sql } from 'drizzle-orm';
import { config } from '../config.ts';
import { statement } from '../db/database.ts';
import { asCaller, type Caller } from '../db/guard.ts';
import { firstIdAt } from '../db/ids.ts';
import { giveUpAfterMs } from './policy.ts';
import { send, wakeOf } from './queue.ts';

/** Which failed deliveries: one, or those whose notification is of a time range (milliseconds). */
export type ReplayRange = { id?: string | undefined; since?: number | undefined; until?: number | undefined };

const maxPerCall = 5000;

/**
 * Sends failed deliveries of one of the account's webhooks again: each starts its schedule from the beginning,
 * under the same Delivery-Id and with its earlier attempts kept. Its receiver's circuit lets a probe through at
 * once. Those too near the end of retention to finish within it are left. Returns how many are sent again, and
 * whether there are more than fit into one call.
 *
 * @throws Refusal: unauthenticated, forbidden, unavailable
 */
export async function replay(
  env: Env,
  caller: Caller,
  webhookId: string,
  { id, since = 0, until }: ReplayRange,
): Promise<{ replayed: number; more: boolean }> {
  const now = Date.now();
  const earliest = Math.max(since, now - config(env).retentionMs + 2 * giveUpAfterMs);
  const own = sql`exists (select 1 from webhooks where id = ${webhookId} and account_id = ${caller.accountId})`;
  const [keys] = await asCaller(env, caller, (db) => [
    statement<{ id: string }>(
      db,
      sql`
      update deliveries set status = 'pending', attempts = 0, next_attempt_at = ${now}, finished_at = null
      where (webhook_id, id) in (
          select webhook_id, id from deliveries
          where status = 'failed' and webhook_id = ${webhookId} and id >= ${firstIdAt(earliest)}
            ${id === undefined ? sql.empty() : sql`and id = ${id}`}
            ${until === undefined ? sql.empty() : sql`and id < ${firstIdAt(until)}`}
          limit ${maxPerCall})
        and ${own}
      returning id`,
    ),
    statement(
      db,
      sql`update webhook_health set open_until = ${now} where webhook_id = ${webhookId} and ${own}`,
    ),
  ]);
  await send(env.DELIVERIES, wakeOf(caller.accountId, [webhookId]));
  return { replayed: keys.length, more: keys.length === maxPerCall };
}
