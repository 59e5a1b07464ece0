import { sql } from 'drizzle-orm';
import { type Database, read, write, writeReturning } from '../../../platform/db/database.ts';
import { openDatabase } from '../../../platform/db/system.ts';
import { hourMs } from '../../../platform/durations.ts';
import { firstDueOf } from '../due.ts';
import { accidentRetryMs, circuitAfter } from '../policy.ts';
import { sendAfter, type Wake } from '../queue.ts';
import { probeSooner } from './circuit.ts';

/** Makes the queue wake an idle webhook when its circuit lets a call through, or a delivery is due. */
export async function wakeForRetry(env: Env, wake: Wake, { webhook, retryAt }: Idle): Promise<void> {
  const now = Date.now();
  if (webhook && webhook.failures >= circuitAfter && webhook.openUntil > now) {
    const probeAt = now + accidentRetryMs;
    if (!wake.accidents || webhook.openUntil <= probeAt) return wakeAt(env, wake, webhook.openUntil);
    await probeSooner(env, wake.webhookId, probeAt);
    return wakeAt(env, wake, probeAt);
  }
  const isTimer = wake.timer !== undefined && webhook?.timerAt === wake.timer;
  // A level of an accident may wait for the previous one.
  const next = isTimer || wake.accidents ? await nextDueAt(env, wake.webhookId) : null;
  const times = [retryAt, next].filter((at) => typeof at === 'number');
  if (times.length > 0) await wakeAt(env, wake, Math.min(...times));
}

type Idle = {
  webhook: { failures: number; openUntil: number; timerAt: number | null } | undefined;
  retryAt: number | undefined;
};

/** The longest delay of a queue message. */
const maxDelayMs = 12 * hourMs;

/** Makes the queue wake a webhook at a time, unless it does so earlier, by one message. */
async function wakeAt(env: Env, wake: Wake, at: number): Promise<void> {
  const now = Date.now();
  const timer = Math.min(at, now + maxDelayMs);
  const [set] = await writeReturning(openDatabase(env))`
    insert into webhook_health (webhook_id, failures, openings, open_until, timer_at)
    select id, 0, 0, 0, ${timer} from webhooks where id = ${wake.webhookId}
    on conflict (webhook_id) do update set timer_at = excluded.timer_at
      where timer_at is null or timer_at <= ${now} or timer_at > ${timer}
    returning timer_at`;
  if (!set) return;
  const delaySeconds = Math.max(0, Math.ceil((timer - now) / 1000));
  const message: Wake = { accountId: wake.accountId, webhookId: wake.webhookId, worker: 1, timer };
  await sendAfter(env, message, delaySeconds);
}

/** When the next delivery of a webhook becomes due; null if there is none. */
async function nextDueAt(env: Env, webhookId: string): Promise<number | null> {
  const [row] = await read<{ at: number | null }>(
    openDatabase(env),
  )`select ${firstDueOf(sql`${webhookId}`, Date.now())} as at`;
  return row?.at ?? null;
}

/** Forgets an account's wake-up messages, which are in another cell's queue. */
export const forgetTimers = (db: Database, accountId: string) =>
  write(db)`update webhook_health set timer_at = null
      where webhook_id in (select id from webhooks where account_id = ${accountId})`;
