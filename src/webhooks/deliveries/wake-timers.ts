import { sql } from 'drizzle-orm';
import { change, type Database, openDatabase } from '../../platform/db/database.ts';
import { hourMs } from '../../platform/durations.ts';
import type { Wake } from './queue.ts';

/** The longest delay of a queue message. */
const maxDelayMs = 12 * hourMs;

/**
 * Makes the queue wake a webhook at a time (milliseconds since 1970), unless it already does so earlier. Each webhook
 * has one such message: when it arrives, it schedules the next one.
 */
export async function wakeAt(env: Env, wake: Wake, at: number): Promise<void> {
  const now = Date.now();
  const timer = Math.min(at, now + maxDelayMs);
  const [set] = await openDatabase(env).all(sql`
    insert into webhook_health (webhook_id, failures, openings, open_until, timer_at)
    select id, 0, 0, 0, ${timer} from webhooks where id = ${wake.webhookId}
    on conflict (webhook_id) do update set timer_at = excluded.timer_at
      where timer_at is null or timer_at <= ${now} or timer_at > ${timer}
    returning timer_at`);
  if (!set) return;
  const delaySeconds = Math.max(0, Math.ceil((timer - now) / 1000));
  const message: Wake = { accountId: wake.accountId, webhookId: wake.webhookId, worker: 1, timer };
  await env.DELIVERIES.send(message, { delaySeconds }).catch(() => {}); // the sweep wakes it
}

/** When the next delivery of a webhook becomes due; null if there is none. */
export async function nextDueAt(env: Env, webhookId: string): Promise<number | null> {
  const [row] = await openDatabase(env).all<{ at: number | null }>(sql`
    select min((select next_attempt_at from deliveries indexed by deliveries_due
      where webhook_id = ${webhookId} and status = 'pending' and priority = p.value
        and next_attempt_at > ${Date.now()}
      order by next_attempt_at limit 1)) as at
    from json_each('[0, 1, 2, 3]') p`);
  return row?.at ?? null;
}

/**
 * Ends a receiver's open circuit at this time at the latest (milliseconds since 1970), for a new accident, and lets it
 * open for short times again.
 */
export const probeSooner = (env: Env, webhookId: string, at: number): Promise<unknown> =>
  openDatabase(env).run(sql`
    update webhook_health set open_until = ${at}, openings = 0 where webhook_id = ${webhookId} and open_until > ${at}`);

/** Forgets an account's wake-up messages, which are in another home's queue. */
export const forgetTimers = (db: Database, accountId: string) =>
  change(db)`update webhook_health set timer_at = null
      where webhook_id in (select id from webhooks where account_id = ${accountId})`;
