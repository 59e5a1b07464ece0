import { and, eq, lte } from 'drizzle-orm';
import { openDatabase } from '../db/database.ts';
import { deliveries } from '../db/tables.ts';
import { wake } from './queue.ts';

/** With more messages than this in the queue, the sweep would only add to them. */
const maxBacklog = 1000;
const maxPerSweep = 5000;

/** Wakes deliveries that are due and unclaimed, oldest first (design 9). Returns how many. */
export async function sweep(env: Env): Promise<number> {
  const backlog = await env.DELIVERIES.metrics().then(
    ({ backlogCount }) => backlogCount,
    () => 0, // an unknown backlog is no reason to leave deliveries waiting
  );
  if (backlog > maxBacklog) return 0;
  const now = Date.now();
  const due = await openDatabase(env)
    .select({ webhookId: deliveries.webhookId, id: deliveries.id })
    .from(deliveries)
    .where(
      and(
        eq(deliveries.status, 'pending'),
        lte(deliveries.nextAttemptAt, now),
        lte(deliveries.claimedUntil, now),
      ),
    )
    .orderBy(deliveries.nextAttemptAt)
    .limit(maxPerSweep);
  return wake(env.DELIVERIES, due);
}
