import { sql } from 'drizzle-orm';
import {
  type Database,
  read,
  refuseUnless,
  transaction,
  type Write,
  write,
  writeReturning,
} from '../db/database.ts';
import { lostLease } from '../db/guard.ts';
import { newId } from '../db/ids.ts';
import { openDatabase } from '../db/system.ts';

/** Longer than an invocation lives after it has begun its work. */
export const leaseMs = 45_000;

/** The exclusive right to do something. */
export type Lease = {
  db: Database;
  /** Runs repeatable statements under the lease. @throws Refusal: unavailable */
  commit: (...statements: Write[]) => Promise<number[]>;
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
  const take = writeReturning<{ name: string }>(db)`
    insert into jobs (name, holder, leased_until) values (${name}, ${holder}, ${now + leaseMs})
      on conflict do update set holder = excluded.holder, leased_until = excluded.leased_until
        where leased_until <= ${now} or holder = excluded.holder
      returning name`;
  const taken = await transaction(db, take, { repeatable: true });
  if (taken.length === 0) return 'busy';
  const commit: Lease['commit'] = async (...statements) => {
    const isOurs = sql`exists (select 1 from jobs where holder = ${holder} and leased_until > ${Date.now()})`;
    const ours = refuseUnless(db, isOurs, lostLease);
    const { done } = await transaction(db, { ours, done: statements }, { repeatable: true });
    return done.map(({ meta }) => meta.changes);
  };
  try {
    return { result: await work({ db, commit }) };
  } finally {
    const end = write(db)`delete from jobs where name = ${name} and holder = ${holder}`;
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
export const recordTime = (db: Database, name: `check/${string}`, what: string) => write(db)`
  insert into jobs (name, holder, leased_until)
  values (${name}, ${what}, cast(unixepoch('subsec') * 1000 as integer)) on conflict do nothing`;

/** The notes under names that match: what, and when. */
export const selectTimes = (db: Database, names: string) => read<{ what: string; at: number }>(db)`
  select holder as what, leased_until as at from jobs where name glob ${names} order by at`;

/** Deletes these notes, and all that are an hour old. */
export const deleteTimes = (db: Database, names: string) => write(db)`
  delete from jobs where name glob ${names}
    or (name glob 'check/*' and leased_until < (unixepoch() - 3600) * 1000)`;
