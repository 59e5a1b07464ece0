import { eq, inArray, sql } from 'drizzle-orm';
import { audit } from '../../core/accounts/audit/write.ts';
import { bucketOf } from '../../core/platform/bucket.ts';
import { type Database, jsonList, transaction } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { invalid } from '../../core/platform/errors.ts';
import { markWaiting } from '../../core/platform/jobs/jobs.ts';
import { send } from '../../core/platform/queue.ts';
import { evidenceDays } from './tables.ts';

export const pruneJob = 'delete expired evidence';

/** Whether this deployment can keep evidence: it needs a bucket. */
export const canKeepEvidence = (env: Env): boolean => bucketOf(env) !== undefined;

/** Sets for how many days an account keeps evidence; null deletes what it has. @throws Refusal: invalid */
export async function keepEvidence(env: Env, caller: Caller, days: number | null): Promise<void> {
  if (days !== null && !canKeepEvidence(env))
    throw invalid(
      'Evidence cannot be kept here: the operator has to add a bucket for files first.',
    );
  const { accountId } = caller;
  const isChanged = sql`(select days from evidence_days where account_id = accounts.id) is not ${days}`;
  const field = days === null ? 'evidence: off' : `evidence: ${days} days`;
  await asCaller(env, caller, (db) => [
    audit(db, caller, 'changed', 'accounts', isChanged, [field]),
    days === null
      ? db.delete(evidenceDays).where(eq(evidenceDays.accountId, accountId))
      : db
          .insert(evidenceDays)
          .values({ accountId, days, since: Date.now() })
          .onConflictDoUpdate({ target: evidenceDays.accountId, set: { days } }),
    markWaiting(db, [pruneJob]),
  ]);
  await send(env.DELIVERIES, [{ job: pruneJob }]);
}

/** For how many days the caller's account keeps evidence; null if it keeps none. */
export async function findEvidenceDays(env: Env, caller: Caller): Promise<number | null> {
  const [found] = await asCaller(env, caller, (db) => selectDays(db, [caller.accountId]));
  return found?.days ?? null;
}

/** The same of those accounts that keep any, by their ids, for operators. */
export async function findDaysOf(env: Env, ids: string[]) {
  const db = openDatabase(env);
  const found = await transaction(db, selectDays(db, ids));
  return new Map(found.map(({ accountId, days }) => [accountId, { evidenceDays: days }]));
}

const selectDays = (db: Database, ids: string[]) =>
  db
    .select()
    .from(evidenceDays)
    .where(inArray(evidenceDays.accountId, jsonList(ids)));
