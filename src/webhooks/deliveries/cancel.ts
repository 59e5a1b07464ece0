import { sql } from 'drizzle-orm';
import { jsonList, openDatabase } from '../../platform/db/database.ts';
import type { Budget } from '../../platform/jobs/budget.ts';
import { changeInChunks, rowsPerChunk } from '../../platform/jobs/chunks.ts';
import { dueDeliveries, leaseMs, startWindowMs } from './claim.ts';
import { widestWindow } from './policy.ts';

/**
 * Cancels the pending deliveries of a deleted webhook that no call is under way for. The sweep finds what is
 * left.
 */
export async function cancelDeleted(env: Env, webhookId: string): Promise<void> {
  const now = Date.now();
  await changeInChunks(
    openDatabase(env),
    sql`
    update deliveries set status = 'cancelled', finished_at = ${now}
    where (webhook_id, id) in (
        select webhook_id, id from deliveries indexed by deliveries_due
        where webhook_id = ${webhookId} and status = 'pending' and claimed_until <= ${now} limit ${rowsPerChunk})
      and not exists (select 1 from webhooks where id = ${webhookId})`,
  );
}

/** Cancels the pending deliveries of webhooks that have been stopped and that no call is under way for. */
export async function cancelPending(env: Env, webhookIds: string[], budget?: Budget): Promise<void> {
  const now = Date.now();
  await changeInChunks(
    openDatabase(env),
    sql`
    update deliveries set status = 'cancelled', finished_at = ${now}
    where (webhook_id, id) in (
        select d.webhook_id, d.id from webhooks w
        cross join deliveries d indexed by deliveries_due
          on d.webhook_id = w.id and d.status = 'pending' and d.claimed_until <= ${now}
        where w.id in ${jsonList(webhookIds)} and w.stopped_at is not null limit ${rowsPerChunk})`,
    budget,
  );
}

/** Waits until no more calls can start for what these webhooks had claimed by now: some seconds at most. */
export async function untilNoClaimedCallStarts(env: Env, webhookIds: string[]): Promise<void> {
  const now = Date.now();
  const [row] = await openDatabase(env).all<{ until: number | null }>(sql`
    select max((select max(claimed_until) from (
      select claimed_until from ${dueDeliveries(sql`w.value`, now)} limit ${2 * widestWindow}))) as until
    from json_each(${JSON.stringify(webhookIds)}) w`);
  const waitMs = (row?.until ?? 0) - leaseMs + startWindowMs - now;
  if (waitMs > 0) await scheduler.wait(waitMs);
}

/** Waits until no more calls can start for what was claimed of a webhook that has since been deleted. */
export async function untilNoCallStarts(env: Env, webhookId: string): Promise<void> {
  const db = openDatabase(env);
  const mayStart = async () => {
    const [row] = await db.all<{ until: number | null }>(
      sql`select max(claimed_until) as until from (
        select claimed_until from ${dueDeliveries(webhookId, Date.now())} limit ${2 * widestWindow})`,
    );
    return (row?.until ?? 0) - leaseMs + startWindowMs > Date.now();
  };
  while (await mayStart()) await scheduler.wait(50);
}
