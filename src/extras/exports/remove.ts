import { and, eq, lte, notInArray } from 'drizzle-orm';
import { bucketOf } from '../../core/platform/bucket.ts';
import { jsonList, transaction } from '../../core/platform/db/database.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { inSteps, newBudget } from '../../core/platform/jobs/budget.ts';
import { stepWithLease } from '../../core/platform/jobs/lease.ts';
import { fault } from '../../core/platform/log.ts';
import { emptyFolder, exportFolder } from './files.ts';
import { exportLease } from './run.ts';
import { exports } from './tables.ts';

/** Deletes an account's exports, files first. Returns '' while there is more, undefined when done. */
export const removeExports = (
  env: Env,
  { accountId }: { accountId: string },
): Promise<string | undefined> =>
  stepWithLease(env, exportLease, '', async ({ db, commit }) => {
    const bucket = bucketOf(env);
    if (bucket && !(await emptyFolder(bucket, exportFolder(accountId)))) return '';
    await commit(db.delete(exports).where(eq(exports.accountId, accountId)));
    return undefined;
  });

/** Deletes exports that have expired. One that fails delays no other. */
export async function pruneExports(
  env: Env,
  now = Date.now(),
  budget = newBudget(),
): Promise<void> {
  const db = openDatabase(env);
  const bucket = bucketOf(env);
  const failed: string[] = [];
  await inSteps(budget, async () => {
    const [expired] = await transaction(
      db,
      db
        .select({ id: exports.id, accountId: exports.accountId })
        .from(exports)
        .where(and(lte(exports.expiresAt, now), notInArray(exports.id, jsonList(failed))))
        .orderBy(exports.expiresAt)
        .limit(1),
    );
    if (!expired) return false;
    const { id, accountId } = expired;
    const remove = async () => {
      if (!bucket || (await emptyFolder(bucket, exportFolder(accountId, id))))
        await transaction(db, db.delete(exports).where(eq(exports.id, id)), { repeatable: true });
    };
    await remove().catch((error: unknown) => {
      failed.push(id);
      fault('error', 'A job failed', { job: 'delete expired exports', accountId }, error);
    });
    return true;
  });
}
