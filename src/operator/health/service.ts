import { sql } from 'drizzle-orm';
import { change, openDatabase, repeatsRefusals, transaction } from '../../platform/db/database.ts';
import { described, fault } from '../../platform/log.ts';
import type { HomeHealth } from '../api/service.ts';
import { earlierSize, sizeOf, warningShare } from './size.ts';

/** The sweep runs each minute: what five sweeps could not get going is stuck. */
export const staleAfterSeconds = 5 * 60;

const patienceMs = 5000;
const dayMs = 86_400_000;

type Swept = { at: number; oldestDueAt: number | null };

/**
 * Checks D1 and the queue, reading two rows: what the last sweep found, and how large the database was.
 * `oldestDueSeconds` is how long the oldest delivery has been due that nobody works for, null if there is none. Never
 * throws: a failure is a result.
 */
export async function checkHealth(env: Env): Promise<HomeHealth> {
  const now = Date.now();
  const [found, queueBacklog] = await Promise.all([
    Promise.race([readStored(env, now), timeout()]).catch((error: unknown) => {
      fault('error', { message: 'Database does not answer', ...described(error) });
    }),
    backlog(env.DELIVERIES),
  ]);
  if (!found) {
    const unknown = { oldestDueSeconds: null, sweptSecondsAgo: null, size: null };
    return { database: 'unavailable', queueBacklog, ...unknown };
  }
  const [{ results, meta }, [earlier]] = found;
  const [swept] = results as Swept[]; // what the statement selects
  const seconds = (since: number | null | undefined) =>
    since && since <= now ? Math.floor((now - since) / 1000) : null;
  const oldestDueSeconds = seconds(swept?.oldestDueAt);
  return {
    database: 'ok',
    queueBacklog,
    oldestDueSeconds,
    sweptSecondsAgo: seconds(swept?.at),
    size: sizeOf(meta.size_after, now, earlier && { bytes: earlier.bytes, at: earlier.day * dayMs }),
  };
}

async function readStored(env: Env, now: number) {
  const db = openDatabase(env);
  const swept = change(db, sql`select at, oldest_due_at as oldestDueAt from sweeps where id = 1`);
  const [found, repeats] = await Promise.all([
    transaction(db, [swept, earlierSize(db, now)], { repeatable: true }),
    repeatsRefusals(db),
  ]);
  if (!repeats) throw new Error('D1 does not repeat the words of refusals: every 401 is a 503');
  return found;
}

/** What is wrong, in words for people; undefined if all is well. */
export function problemOf({ database, oldestDueSeconds, sweptSecondsAgo }: HomeHealth): string | undefined {
  if (database !== 'ok') return 'Database does not answer';
  if ((oldestDueSeconds ?? 0) > staleAfterSeconds) return 'Deliveries are late';
  if ((sweptSecondsAgo ?? 0) > staleAfterSeconds) return 'Scheduled jobs have stopped';
  return undefined;
}

/** What will go wrong unless somebody does something, in words for people; undefined if nothing will. */
export function warningOf({ size }: HomeHealth): string | undefined {
  if (!size || size.share <= warningShare) return undefined;
  const left = size.daysLeft === null ? '' : `, and will be full in ${size.daysLeft} days at this rate`;
  return `The database is ${Math.floor(size.share * 100)} % full${left}`;
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
