import { change, openDatabase, statement, transaction } from '../../platform/db/database.ts';
import { inSteps, newBudget } from '../../platform/jobs/budget.ts';
import { bucketOf } from '../archive/bucket.ts';
import { busyMs } from '../archive/catalog.ts';
import { emptyFolder, exportFolder } from './files.ts';
import { inExports } from './run.ts';

/**
 * Deletes an account's exports, also those that are being prepared: whatever is deleted or erased may be in them. Files
 * go first, so that none is left that nobody knows of. Returns '' while there is more, and undefined when done.
 */
export async function removeExports(
  env: Env,
  { accountId }: { accountId: string },
): Promise<string | undefined> {
  const done = await inExports(env, async ({ write, db }) => {
    const bucket = bucketOf(env);
    if (bucket && !(await emptyFolder(bucket, exportFolder(accountId)))) return '';
    await write(change(db)`delete from exports where account_id = ${accountId}`);
    return undefined;
  });
  if (done !== 'busy') return done.result;
  await scheduler.wait(busyMs);
  return '';
}

/** Deletes exports that have expired. */
export async function pruneExports(env: Env, now = Date.now(), budget = newBudget()): Promise<void> {
  const db = openDatabase(env);
  const bucket = bucketOf(env);
  await inSteps(budget, async () => {
    const [expired] = await statement<{ id: string; accountId: string }>(db)`
      select id, account_id as accountId from exports where expires_at <= ${now} order by expires_at limit 1`;
    if (!expired) return false;
    const { id, accountId } = expired;
    if (!bucket || (await emptyFolder(bucket, exportFolder(accountId, id))))
      await transaction(db, [change(db)`delete from exports where id = ${id}`], { repeatable: true });
    return true;
  });
}
