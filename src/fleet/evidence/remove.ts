import { type SQL, sql } from 'drizzle-orm';
import { jsonList, read, write } from '../../platform/db/database.ts';
import { notMoving } from '../../platform/db/guard.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { dayMs } from '../../platform/durations.ts';
import { inSteps, newBudget } from '../../platform/jobs/budget.ts';
import { stepWithLease } from '../../platform/jobs/lease.ts';
import { bucketOf } from '../archive/bucket.ts';
import { leaseOf } from './copy.ts';
import { keyOf } from './evidence.ts';

/** R2 deletes 1,000 files at a time. */
const perStep = 500;

type Row = { id: string; accountId: string; accidentId: string; uploadId: string | null };

/** Deletes some of an account's evidence, files first. Returns '' while there is more, undefined when done. */
export const removeEvidence = (
  env: Env,
  { accountId }: { accountId: string },
  which: SQL = sql`true`,
): Promise<string | undefined> =>
  stepWithLease(env, leaseOf(accountId), '', async ({ db, commit }) => {
    const found = await read<Row>(db)`
      select id, account_id as accountId, accident_id as accidentId, upload->>'id' as uploadId from evidence
      where account_id = ${accountId} and ${which} limit ${perStep}`;
    const bucket = bucketOf(env);
    if (found.length === 0) return undefined;
    for (const row of found)
      if (row.uploadId) await (await bucket?.resumeMultipartUpload(keyOf(row), row.uploadId))?.abort();
    await bucket?.delete(found.map(keyOf));
    await commit(write(db)`delete from evidence where id in ${jsonList(found.map(({ id }) => id))}`);
    return '';
  });

/** The evidence of a connection, or of the accidents of a driver. */
export const ofConnection = (id: string): SQL => sql`connection_id = ${id}`;
export const ofDriver = (id: string): SQL =>
  sql`accident_id in (select id from accidents where driver_id = ${id})`;

/** Deletes what accounts no longer keep: after so many days, or because they keep none since. */
export async function pruneEvidence(env: Env, now = Date.now(), budget = newBudget()): Promise<void> {
  const db = openDatabase(env);
  await inSteps(budget, async () => {
    const [found] = await read<{ accountId: string; before: number }>(db)`
      select a.id as accountId, ${before(now)} as before from accounts a
      where ${notMoving(sql`a.id`)}
        and exists (select 1 from evidence where account_id = a.id and created_at < ${before(now)}) limit 1`;
    if (found) await removeEvidence(env, found, sql`created_at < ${found.before}`);
    return found !== undefined;
  });
}

/** SQL for when what an account `a` keeps began. Each account costs a seek. */
const before = (now: number): SQL =>
  sql`coalesce(max(a.evidence_since, ${now} - a.evidence_days * ${dayMs} + 1), 9e15)`;
