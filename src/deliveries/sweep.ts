import { and, eq, lte } from 'drizzle-orm';
import { openDatabase } from '../db/database.ts';
import { deliveries } from '../db/tables.ts';
import { wake } from './queue.ts';

/** With more than this waiting in the queue, the sweep would only add to it. */
const enoughWaiting = 1000;
const mostAtOnce = 5000;

/** Wakes deliveries that are due and that nobody holds, oldest first (design 9). Answers how many. */
export async function sweep(env: Env): Promise<number> {
  const backlog = await env.DELIVERIES.metrics().then(
    ({ backlogCount }) => backlogCount,
    () => 0, // not knowing is no reason to leave deliveries waiting
  );
  if (backlog > enoughWaiting) return 0;
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
    .limit(mostAtOnce);
  return wake(env.DELIVERIES, due);
}
