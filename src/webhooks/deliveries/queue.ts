import { sql } from 'drizzle-orm';
import { change, type Database, openDatabase } from '../../platform/db/database.ts';
import { described, fault } from '../../platform/log.ts';
import { ACCIDENT, type NotificationType } from '../notifications/types.ts';

/** The key of a delivery's row. */
export type DeliveryKey = { webhookId: string; id: string };

/**
 * Says that a webhook has work. `lane` counts the invocations that work for it side by side: each new one that finds
 * enough to do wakes two more. `timer` is when the message was meant to come, for one that waited for retries.
 * `accidents` is for accidents alone, which so wait for no lane that is busy with events.
 */
export type Wake = {
  accountId: string;
  webhookId: string;
  lane: number;
  timer?: number;
  accidents?: boolean;
};

/** Says that a large call's deliveries are not all there yet. */
export type FanOut = { fanOut: string };

/** What the queue carries of deliveries. */
export type DeliveryMessage = Wake | FanOut;

/** Says that connections are due to pull from their providers. */
export type Pull = { pull: string[] };

/** What the queue carries; in homes other than main with the home's name. */
export type QueueMessage = (DeliveryMessage | Pull) & { home?: string };

const perSend = 100;

/**
 * Sends messages. Best effort: the sweep wakes what the queue refuses. Returns how many were sent.
 */
export async function send(queue: Queue, messages: QueueMessage[]): Promise<number> {
  let sent = 0;
  try {
    for (let at = 0; at < messages.length; at += perSend) {
      const batch = messages.slice(at, at + perSend).map((body) => ({ body }));
      await queue.sendBatch(batch);
      sent += batch.length;
    }
  } catch (error) {
    fault('warn', { message: 'Queue refused wake-ups', left: messages.length - sent, ...described(error) });
  }
  return sent;
}

/** The first lane of each of these webhooks, for what is due or for notifications of one type. */
export const wakeOf = (accountId: string, webhookIds: string[], type?: NotificationType): Wake[] =>
  [...new Set(webhookIds)].map((webhookId) => ({
    accountId,
    webhookId,
    lane: 1,
    ...(type === ACCIDENT && { accidents: true }),
  }));

/** The longest that the queue holds a message. */
const maxDelayMs = 12 * 3_600_000;

/**
 * Has the queue wake a webhook at a time (milliseconds since 1970), unless it already does so earlier. One message
 * per webhook waits: when it comes, what is due later is put on the next one.
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
  const message: Wake = { accountId: wake.accountId, webhookId: wake.webhookId, lane: 1, timer };
  await env.DELIVERIES.send(message, { delaySeconds }).catch(() => {}); // the sweep wakes it
}

/** When the next delivery of a webhook becomes due that is not due yet; null if there is none. */
export async function nextDueAt(env: Env, webhookId: string): Promise<number | null> {
  const [row] = await openDatabase(env).all<{ at: number | null }>(sql`
    select min((select next_attempt_at from deliveries indexed by deliveries_due
      where webhook_id = ${webhookId} and status = 'pending' and priority = p.value
        and next_attempt_at > ${Date.now()}
      order by next_attempt_at limit 1)) as at
    from json_each('[0, 1, 2, 3]') p`);
  return row?.at ?? null;
}

/** Forgets when messages were to wake an account's webhooks: they are in another home's queue. */
export const forgetTimers = (db: Database, accountId: string) =>
  change(
    db,
    sql`update webhook_health set timer_at = null
      where webhook_id in (select id from webhooks where account_id = ${accountId})`,
  );
