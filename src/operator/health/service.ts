import { eq, gte, lt, sql } from 'drizzle-orm';
import { holdLargest } from '../../core/accounts/accounts.ts';
import { type Database, repeatsRefusals, transaction } from '../../core/platform/db/database.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { dayMs } from '../../core/platform/durations.ts';
import { inTime } from '../../core/platform/in-time.ts';
import { fault } from '../../core/platform/log.ts';
import { sweep } from '../../core/webhooks/deliveries/sweep.ts';
import type { Health } from '../api/service.ts';
import { databaseSizes, sweeps } from './tables.ts';

/** A delivery that five sweeps could not start is stuck. */
export const staleAfterSeconds = 5 * 60;

/** Checks D1 and the queue, reading two rows. Never throws: a failure is a result. */
export async function checkHealth(env: Env): Promise<Health> {
  const now = Date.now();
  const [found, queueBacklog] = await Promise.all([
    inTime(readStored(env, now)).catch((error: unknown) => {
      fault('error', 'Database does not respond', {}, error);
    }),
    backlog(env.DELIVERIES),
  ]);
  if (!found) {
    const unknown = { oldestDueSeconds: null, sweptSecondsAgo: null, size: null };
    return { database: 'unavailable', queueBacklog, ...unknown };
  }
  const [swept] = found.swept;
  const seconds = (since: number | null | undefined) =>
    since && since <= now ? Math.floor((now - since) / 1000) : null;
  return {
    database: 'ok',
    queueBacklog,
    oldestDueSeconds: seconds(swept?.oldestDueAt),
    sweptSecondsAgo: seconds(swept?.at),
    size: sizeOf(found.d1.meta.size_after, now, found.sizes[0]),
  };
}

/** Sweeps, and notes when, and since when the oldest delivery has been due that nobody works for. */
export async function sweepAndNote(env: Env, now = Date.now()): Promise<void> {
  const { oldestDueAt } = await sweep(env, now);
  const swept = { at: now, oldestDueAt };
  const db = openDatabase(env);
  await transaction(
    db,
    db
      .insert(sweeps)
      .values({ id: 1, ...swept })
      .onConflictDoUpdate({ target: sweeps.id, set: swept }),
  );
}

async function readStored(env: Env, now: number) {
  const db = openDatabase(env);
  const { at, oldestDueAt } = sweeps;
  const swept = db.select({ at, oldestDueAt }).from(sweeps).where(eq(sweeps.id, 1));
  const [found, repeats] = await Promise.all([
    transaction(db, { swept, sizes: earlierSize(db, now), d1: askD1(db) }),
    repeatsRefusals(db),
  ]);
  if (!repeats) throw new Error('D1 does not repeat the words of refusals: every 401 is a 503');
  return found;
}

/** The statement whose result has D1's `meta`, as that of a builder's select has not: its size and region. */
export const askD1 = (db: Database) => db.run(sql`select 1`);

/** Messages waiting in the queue; null if it does not say: D1 has the truth. */
const backlog = (queue: Queue): Promise<number | null> =>
  queue.metrics().then(
    ({ backlogCount }) => backlogCount,
    () => null,
  );

/** What is wrong, for people; undefined if all is well. */
export function problemOf({
  database,
  oldestDueSeconds,
  sweptSecondsAgo,
}: Health): string | undefined {
  if (database !== 'ok') return 'Database does not respond';
  if ((oldestDueSeconds ?? 0) > staleAfterSeconds) return 'Deliveries are late';
  if ((sweptSecondsAgo ?? 0) > staleAfterSeconds) return 'Scheduled jobs have stopped';
  return undefined;
}

/** What will go wrong unless somebody acts; undefined if nothing will. */
export function warningOf({ size }: Health): string | undefined {
  if (!size || size.share <= warningShare) return undefined;
  const remaining =
    size.daysLeft === null ? '' : `, and will be full in ${size.daysLeft} days at this rate`;
  return `The database is ${Math.floor(size.share * 100)} % full${remaining}`;
}

/** Cloudflare's limit for a database, in bytes. */
export const mostBytes = 10_000_000_000;

/** When somebody should act soon and at once, and when who adds most is held. */
export const warningShare = 0.8;
export const errorShare = 0.95;
const holdShare = 0.9;

/** The growth rate is that of the last 14 days, or of as many as are known. */
const rateDays = 14;
const keptDays = 60;

/** How full a database is, from its size now and on an earlier day (since 1970), and when it will be at this rate. */
export function sizeOf(bytes: number, now: number, earlier?: { bytes: number; day: number }) {
  const days = earlier ? now / dayMs - earlier.day : 0;
  const perDay = earlier && days >= 1 ? (bytes - earlier.bytes) / days : 0;
  const daysLeft = perDay > 0 ? Math.max(0, Math.floor((mostBytes - bytes) / perDay)) : null;
  return { bytes, share: Math.round((bytes / mostBytes) * 1000) / 1000, daysLeft };
}

/** The statement that reads the oldest size within the rate's days. */
export const earlierSize = (db: Database, now: number) =>
  db
    .select()
    .from(databaseSizes)
    .where(gte(databaseSizes.day, Math.floor(now / dayMs) - rateDays))
    .orderBy(databaseSizes.day)
    .limit(1);

/** Records the database's size once an hour; when nearly full, says so and holds who adds most. */
export async function recordSize(env: Env, now = Date.now()): Promise<number> {
  const db = openDatabase(env);
  const day = Math.floor(now / dayMs);
  const old = lt(databaseSizes.day, day - keptDays);
  const { meta } = await transaction(db, db.delete(databaseSizes).where(old));
  const bytes = meta.size_after;
  await transaction(db, db.insert(databaseSizes).values({ day, bytes }).onConflictDoNothing());
  tellOfSize(bytes);
  await transaction(db, holdLargest(db, bytes > holdShare * mostBytes, now));
  return bytes;
}

export function tellOfSize(bytes: number): void {
  const percent = Math.floor((bytes / mostBytes) * 100);
  if (bytes > warningShare * mostBytes)
    fault(bytes > errorShare * mostBytes ? 'error' : 'warn', 'The database is nearly full', {
      percent,
    });
}
