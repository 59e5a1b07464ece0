import { and, eq, inArray, lt, type SQL, sql } from 'drizzle-orm';
import { bucketOf } from '../../core/platform/bucket.ts';
import { jsonList, transaction } from '../../core/platform/db/database.ts';
import { hasId } from '../../core/platform/db/has-id.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { dayMs, minuteMs } from '../../core/platform/durations.ts';
import { inSteps, newBudget } from '../../core/platform/jobs/budget.ts';
import { stepWithLease } from '../../core/platform/jobs/lease.ts';
import { fault } from '../../core/platform/log.ts';
import type { ArchivedRow } from '../archive/archived.ts';
import { leaseOf } from './copy.ts';
import { abort } from './copy-file.ts';
import { forget, keyOf, owners } from './evidence.ts';
import { pruneJob } from './keep.ts';
import { evidence } from './tables.ts';

/** R2 deletes 1,000 files at a time. */
const perStep = 500;

/**
 * Deletes some of an account's evidence, files first. What `isRemembered` no record brings back. Returns '' while there is
 * more, undefined when done.
 */
export const removeEvidence = (
  env: Env,
  { accountId }: { accountId: string },
  which?: SQL,
  { isRemembered = false } = {},
): Promise<string | undefined> =>
  stepWithLease(env, leaseOf(accountId), '', async ({ db, commit }) => {
    const states = jsonList(['waiting', 'stored', 'missed', ...(isRemembered ? [] : ['gone'])]);
    const found = await transaction(
      db,
      db
        .select({
          id: evidence.id,
          accountId: evidence.accountId,
          accidentId: evidence.accidentId,
          uploadId: sql<string | null>`${evidence.upload}->>'id'`.as('upload_id'),
        })
        .from(evidence)
        .where(and(eq(evidence.accountId, accountId), inArray(evidence.state, states), which))
        .limit(perStep),
    );
    const bucket = bucketOf(env);
    if (found.length === 0) return undefined;
    for (const row of found)
      if (bucket && row.uploadId) await abort(bucket, keyOf(row), row.uploadId);
    await bucket?.delete(found.map(keyOf));
    const ids = jsonList(found.map(({ id }) => id));
    await commit(
      isRemembered ? forget(db, ids) : db.delete(evidence).where(inArray(evidence.id, ids)),
    );
    return '';
  });

/** The evidence of a connection. */
export const ofConnection = (id: string): SQL => eq(evidence.connectionId, id);

/** The evidence of the accidents that name a driver, or name nobody and happened on their trips. */
export const ofDriver = (id: string): SQL => sql`(
  accident_id in (select id from accidents where driver_id = ${id})
  or ${duringTrips(sql`(
    select vehicle_id, started_at, ended_at from trips where ${hasId(sql`driver_id`, sql`${id}`)})`)})`;

/** The evidence of accidents that name nobody and happened on trips, given as rows of the archive. */
export const onTrips = (rows: ArchivedRow[]): SQL => {
  const trips = rows.map(({ vehicleId, startedAt, endedAt }) => ({
    vehicleId,
    startedAt,
    endedAt,
  }));
  return duringTrips(sql`(
    select value->>'vehicleId' as vehicle_id, value->>'startedAt' as started_at,
      value->>'endedAt' as ended_at
    from json_each(${JSON.stringify(trips)}))`);
};

/** As the page of an accident finds its trip: by any vehicle with its VIN, also one that has just ended. */
const duringTrips = (trips: SQL): SQL => sql`accident_id in (
  select a.id from ${trips} t cross join vehicles v on v.id = t.vehicle_id
  cross join accidents a on a.account_id = v.account_id and a.driver_id is null and a.event_time >= t.started_at
    and a.event_time <= coalesce(t.ended_at + ${15 * minuteMs}, t.started_at + ${dayMs})
  where a.vehicle_id = v.id or (a.vin = v.vin and a.vin <> ''))`;

/** Deletes what accounts no longer keep: after so many days, or because they keep none since; in turns. */
export async function pruneEvidence(
  env: Env,
  now = Date.now(),
  budget = newBudget(),
): Promise<void> {
  const db = openDatabase(env);
  const failed: string[] = [];
  let after = '';
  await inSteps(budget, async () => {
    // The builder knows no `recursive`.
    const select = db.all<{ accountId: string; before: number }>(sql`
      with ${owners(sql`true`, after)}
      select a.id as accountId, ${before(now)} as before
      from owners cross join accounts a on a.id = owners.id
      where a.status in ('active', 'suspended') and a.id not in ${jsonList(failed)} and exists (
        select 1 from evidence where account_id = a.id and state in ('waiting', 'stored', 'missed')
          and created_at < ${before(now)})
      limit 1`);
    const [found] = await transaction(db, select);
    const isRound = !found && after !== '';
    after = found?.accountId ?? '';
    if (!found) return isRound;
    const which = lt(evidence.createdAt, found.before);
    await removeEvidence(env, found, which, { isRemembered: true }).catch((error: unknown) => {
      failed.push(found.accountId);
      fault('error', 'A job failed', { job: pruneJob, accountId: found.accountId }, error);
    });
    return true;
  });
}

/** SQL for when what an account `a` keeps began. */
const before = (now: number): SQL =>
  sql`coalesce(
    (select max(since, ${now} - days * ${dayMs} + 1) from evidence_days where account_id = a.id), 9e15)`;
