import { sql } from 'drizzle-orm';
import { type Database, openDatabase } from '../db/database.ts';
import { described, fault } from '../log.ts';
import type { Health } from './schema.ts';

/** The sweep wakes what is due each minute: what five sweeps have not woken is stuck. */
export const staleAfterSeconds = 5 * 60;

const patienceMs = 5000;

/**
 * Checks D1 and the queue, reading about one row. The backlog is null if the queue does not give it, the age if
 * nothing is due or D1 does not respond. Never throws: a failure of either is a result.
 */
export async function checkHealth(env: Env): Promise<Health> {
  const now = Date.now();
  const query = oldestDue(openDatabase(env), now);
  const [due, queueBacklog] = await Promise.all([
    Promise.race([query, timeout()]).catch((error: unknown) => {
      fault('error', { message: 'Database does not answer', ...described(error) });
    }),
    backlog(env.DELIVERIES),
  ]);
  if (due === undefined) return { database: 'unavailable', queueBacklog, oldestDueSeconds: null };
  const oldestDueSeconds = due && Math.floor((now - due) / 1000);
  return { database: 'ok', queueBacklog, oldestDueSeconds };
}

/** What is wrong, in words for people; undefined if all is well. */
export function problemOf({ database, oldestDueSeconds }: Health): string | undefined {
  if (database !== 'ok') return 'Database does not answer';
  if ((oldestDueSeconds ?? 0) > staleAfterSeconds) return 'Deliveries are late';
  return undefined;
}

/**
 * When the oldest delivery that nobody has claimed became due (milliseconds since 1970); null if there is none.
 * It is the first row of the partial index but for claimed ones, of which there are a few thousand at most.
 */
export async function oldestDue(db: Database, now: number): Promise<number | null> {
  const [row] = await db.all<{ at: number }>(sql`
    select next_attempt_at as at from deliveries indexed by deliveries_due
    where status = 'pending' and next_attempt_at <= ${now} and claimed_until <= ${now}
    order by next_attempt_at limit 1`);
  return row?.at ?? null;
}

async function timeout(): Promise<never> {
  await scheduler.wait(patienceMs);
  throw new Error(`no response within ${patienceMs} ms`);
}

/** Messages that wait in the queue; null if it does not say, which is no failure: D1 holds the truth. */
const backlog = (queue: Queue): Promise<number | null> =>
  queue.metrics().then(
    ({ backlogCount }) => backlogCount,
    () => null,
  );
