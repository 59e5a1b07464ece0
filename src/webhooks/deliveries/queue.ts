import { type SQL, sql } from 'drizzle-orm';
import { change, type Database, openDatabase } from '../../platform/db/database.ts';
import { hourMs } from '../../platform/durations.ts';
import { ACCIDENT, type NotificationType } from '../notifications/types.ts';

export type DeliveryKey = { webhookId: string; id: string };

/**
 * Wakes a webhook. `worker` numbers the invocations that work for it in parallel: each new one that finds enough to do
 * wakes two more. `timer` is when a message for retries was due. `accidents` is for accidents alone, which so wait for
 * no worker that is busy with events.
 */
export type Wake = {
  accountId: string;
  webhookId: string;
  worker: number;
  timer?: number;
  accidents?: boolean;
};

/** Continues the fan-out of a large call. */
export type FanOut = { fanOut: string };

export type DeliveryMessage = Wake | FanOut;

/** Messages for the first worker of each of these webhooks, for what is due or for notifications of one type. */
export const wakeOf = (accountId: string, webhookIds: string[], type?: NotificationType): Wake[] =>
  [...new Set(webhookIds)].map((webhookId) => ({
    accountId,
    webhookId,
    worker: 1,
    ...(type === ACCIDENT && { accidents: true }),
  }));

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

/** SQL for when the first pending delivery of a webhook is due after a time, or was; null if there is none. */
export const firstDueOf = (webhookId: SQL, after = -1): SQL => sql`
  (select min((select next_attempt_at from deliveries indexed by deliveries_due
    where webhook_id = ${webhookId} and status = 'pending' and priority = p.value and next_attempt_at > ${after}
    order by next_attempt_at limit 1))
  from json_each('[0, 1, 2, 3]') p)`;

/** When the next delivery of a webhook becomes due (milliseconds since 1970); null if there is none. */
export async function nextDueAt(env: Env, webhookId: string): Promise<number | null> {
  const [row] = await openDatabase(env).all<{ at: number | null }>(
    sql`select ${firstDueOf(sql`${webhookId}`, Date.now())} as at`,
  );
  return row?.at ?? null;
}

/**
 * Ends a receiver's open circuit at this time at the latest (milliseconds since 1970), for a new accident, and lets it
 * open for short times again.
 */
export const probeSooner = (env: Env, webhookId: string, at: number): Promise<unknown> =>
  openDatabase(env).run(sql`
    update webhook_health set open_until = ${at}, openings = 0 where webhook_id = ${webhookId} and open_until > ${at}`);

/** Forgets an account's wake-up messages, which are in another cell's queue. */
export const forgetTimers = (db: Database, accountId: string) =>
  change(db)`update webhook_health set timer_at = null
      where webhook_id in (select id from webhooks where account_id = ${accountId})`;
