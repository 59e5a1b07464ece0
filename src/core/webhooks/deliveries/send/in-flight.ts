import { type SQL, sql } from 'drizzle-orm';
import { transaction } from '../../../platform/db/database.ts';
import { openDatabase } from '../../../platform/db/system.ts';
import { allWebhooks, dueDeliveries } from '../due.ts';
import { leaseMs, startWindowMs, widestWindow } from '../policy.ts';

/** Waits some seconds, until no call can start any more for what is claimed of these webhooks. */
export async function untilNoCallStarts(env: Env, webhookIds: string[]): Promise<void> {
  const db = openDatabase(env);
  for (let atMost: number | undefined; ; ) {
    const now = Date.now();
    const until = claimedUntil(sql`w.value`, now, now - startWindowMs, atMost);
    const select = db
      .select({ until: sql<number>`max(${until})` })
      .from(sql`json_each(${JSON.stringify(webhookIds)}) w`);
    // What D1 cannot say is over after the longest wait.
    const rows = await transaction(db, select).catch(() => scheduler.wait(startWindowMs));
    if (!rows?.[0]?.until) return;
    atMost ??= rows[0].until;
    await scheduler.wait(50);
  }
}

/** Until when deliveries of an account are claimed: then all are recorded. Null if none is. */
export async function claimedUntilOf(
  env: Env,
  accountId: string,
  atMost?: number,
): Promise<number | null> {
  const now = Date.now();
  const db = openDatabase(env);
  // A recursive CTE.
  const select = db.all<{ until: number | null }>(sql`
    with ${allWebhooks}
    select max(${claimedUntil(sql`all_hooks.id`, now, now - leaseMs, atMost)}) as until
    from all_hooks
    where (select account_id from deliveries where webhook_id = all_hooks.id limit 1) = ${accountId}`);
  const [row] = await transaction(db, select);
  return row?.until || null;
}

/** SQL for until when what was claimed `since` then is claimed, of each priority; 0 for none. */
const claimedUntil = (
  webhookId: SQL,
  now: number,
  since: number,
  atMost = Number.MAX_SAFE_INTEGER,
): SQL => sql`(
  select coalesce(max((
    select max(claimed_until) from (
      select claimed_until from ${dueDeliveries(webhookId, now, 'one')} limit ${widestWindow})
    where claimed_until between ${since + leaseMs} and ${atMost})), 0)
  from json_each('[0, 1, 2, 3]') p)`;
