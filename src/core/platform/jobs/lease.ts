import { and, eq, exists, gt, or, sql } from 'drizzle-orm';
import {
  type Database,
  excluded,
  refuseUnless,
  type Statement,
  transaction,
} from '../db/database.ts';
import { lostLease } from '../db/guard.ts';
import { newId } from '../db/ids.ts';
import { jobs } from '../db/schema/jobs.ts';
import { openDatabase } from '../db/system.ts';

/** Longer than an invocation lives after it has begun its work. */
export const leaseMs = 45_000;

/** The exclusive right to do something. */
export type Lease = {
  db: Database;
  /** Runs repeatable statements under the lease. @throws Refusal: unavailable */
  commit: (...statements: Statement<D1Result>[]) => Promise<number[]>;
};

/** Runs work that only one invocation may do. Returns 'busy' without running it if another one does. */
export async function withLease<T>(
  env: Pick<Env, 'DB'>,
  name: string,
  work: (lease: Lease) => Promise<T>,
): Promise<{ result: T } | 'busy'> {
  const db = openDatabase(env);
  const holder = newId();
  const now = Date.now();
  const take = db
    .insert(jobs)
    .values({ name, holder, leasedUntil: now + leaseMs })
    .onConflictDoUpdate({
      target: jobs.name,
      set: { holder: excluded(jobs.holder), leasedUntil: excluded(jobs.leasedUntil) },
      setWhere: sql`${jobs.leasedUntil} <= ${now} or ${jobs.holder} = ${excluded(jobs.holder)}`,
    })
    .returning({ name: jobs.name });
  const taken = await transaction(db, take, { repeatable: true });
  if (taken.length === 0) return 'busy';
  const commit: Lease['commit'] = async (...statements) => {
    const lease = db
      .select({ name: jobs.name })
      .from(jobs)
      .where(and(eq(jobs.holder, holder), gt(jobs.leasedUntil, Date.now())));
    const ours = refuseUnless(db, exists(lease), lostLease);
    const { done } = await transaction(db, { ours, done: statements }, { repeatable: true });
    return done.map(({ meta }) => meta.changes);
  };
  try {
    return { result: await work({ db, commit }) };
  } finally {
    const end = db.delete(jobs).where(and(eq(jobs.name, name), eq(jobs.holder, holder)));
    await transaction(db, end, { repeatable: true }).catch(() => {}); // it expires
  }
}

/** How long a step waits for a lease. */
const busyMs = 500;

/** Runs a step under a lease, or returns the `cursor` to try again with. */
export async function stepWithLease(
  env: Pick<Env, 'DB'>,
  name: string,
  cursor: string,
  step: (lease: Lease) => Promise<string | undefined>,
): Promise<string | undefined> {
  const done = await withLease(env, name, step);
  if (done !== 'busy') return done.result;
  await scheduler.wait(busyMs);
  return cursor;
}

/** Records when something happened by the database's clock, which all machines share, as `check/…`. */
export const recordTime = (db: Database, name: `check/${string}`, what: string) =>
  db
    .insert(jobs)
    .values({
      name,
      holder: what,
      leasedUntil: sql`cast(unixepoch('subsec') * 1000 as integer)`,
    })
    .onConflictDoNothing();

/** The notes under names that match: what, and when. */
export const selectTimes = (db: Database, names: string) =>
  db
    .select({ what: jobs.holder, at: jobs.leasedUntil })
    .from(jobs)
    .where(sql`${jobs.name} glob ${names}`)
    .orderBy(jobs.leasedUntil);

/** Deletes these notes, and all that are an hour old. */
export const deleteTimes = (db: Database, names: string) =>
  db
    .delete(jobs)
    .where(
      or(
        sql`${jobs.name} glob ${names}`,
        sql`${jobs.name} glob 'check/*' and ${jobs.leasedUntil} < (unixepoch() - 3600) * 1000`,
      ),
    );
