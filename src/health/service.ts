import { sql } from 'drizzle-orm';
import { type Database, openDatabase } from '../db/database.ts';
import { described, fault } from '../log.ts';
import type { Health } from './schema.ts';

/** The sweep wakes what is due each minute: what five rounds have not woken is stuck. */
export const staleAfterSeconds = 5 * 60;

const patienceMs = 5000;

/**
 * Looks at D1 and the queue, reading about one row. The backlog is null when the queue does not say, the age
 * when nothing is due or D1 does not answer. Never throws: that either fails is an answer.
 */
export async function lookAtHealth(env: Env): Promise<Health> {
  const now = Date.now();
  const asked = oldestDue(openDatabase(env), now);
  const [due, queueBacklog] = await Promise.all([
    Promise.race([asked, tooLate()]).catch((error: unknown) => {
      fault('error', { message: 'Database does not answer', ...described(error) });
    }),
    backlog(env.DELIVERIES),
  ]);
  if (due === undefined) return { database: 'unavailable', queueBacklog, oldestDueSeconds: null };
  const oldestDueSeconds = due && Math.floor((now - due) / 1000);
  return { database: 'ok', queueBacklog, oldestDueSeconds };
}

/** What is wrong, in words for people; undefined when all is well. */
export function problemOf({ database, oldestDueSeconds }: Health): string | undefined {
  if (database !== 'ok') return 'Database does not answer';
  if ((oldestDueSeconds ?? 0) > staleAfterSeconds) return 'Deliveries are late';
  return undefined;
}

/**
 * Since when (milliseconds) the oldest delivery has been due that nobody holds; null when there is none. The
 * first row of the partial index, unless that is claimed: claims come before it, a few thousand at most.
 */
export async function oldestDue(db: Database, now: number): Promise<number | null> {
  const [row] = await db.all<{ at: number }>(sql`
    select next_attempt_at as at from deliveries indexed by deliveries_due
    where status = 'pending' and next_attempt_at <= ${now} and claimed_until <= ${now}
    order by next_attempt_at limit 1`);
  return row?.at ?? null;
}

async function tooLate(): Promise<never> {
  await scheduler.wait(patienceMs);
  throw new Error(`no answer within ${patienceMs} ms`);
}

/** Wake-ups that wait in the queue; null when it does not say, which is no failure: D1 has the truth. */
const backlog = (queue: Queue): Promise<number | null> =>
  queue.metrics().then(
    ({ backlogCount }) => backlogCount,
    () => null,
  );
