import { sql } from 'drizzle-orm';
import { openDatabase } from '../db/database.ts';
import { described, fault } from '../log.ts';
import type { Health } from './schema.ts';

/** The sweep runs each minute: what five sweeps could not get going is stuck. */
export const staleAfterSeconds = 5 * 60;

const patienceMs = 5000;

type Swept = { at: number; oldestDueAt: number | null };

/**
 * Checks D1 and the queue, reading one row: what the last sweep found. `oldestDueSeconds` is how long the oldest
 * delivery has been due that nobody works for, null if there is none. Never throws: a failure is a result.
 */
export async function checkHealth(env: Env): Promise<Health> {
  const now = Date.now();
  const query = openDatabase(env).all<Swept>(
    sql`select at, oldest_due_at as oldestDueAt from sweeps where id = 1`,
  );
  const [rows, queueBacklog] = await Promise.all([
    Promise.race([query, timeout()]).catch((error: unknown) => {
      fault('error', { message: 'Database does not answer', ...described(error) });
    }),
    backlog(env.DELIVERIES),
  ]);
  if (!rows) return { database: 'unavailable', queueBacklog, oldestDueSeconds: null, sweptSecondsAgo: null };
  const [swept] = rows;
  const seconds = (since: number | null | undefined) => (since ? Math.floor((now - since) / 1000) : null);
  const oldestDueSeconds = seconds(swept?.oldestDueAt);
  return { database: 'ok', queueBacklog, oldestDueSeconds, sweptSecondsAgo: seconds(swept?.at) };
}

/** What is wrong, in words for people; undefined if all is well. */
export function problemOf({ database, oldestDueSeconds, sweptSecondsAgo }: Health): string | undefined {
  if (database !== 'ok') return 'Database does not answer';
  if ((oldestDueSeconds ?? 0) > staleAfterSeconds) return 'Deliveries are late';
  if ((sweptSecondsAgo ?? 0) > staleAfterSeconds) return 'Scheduled jobs have stopped';
  return undefined;
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
