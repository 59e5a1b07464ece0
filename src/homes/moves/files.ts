import { bucketOf, folderOf } from '../../fleet/archive/bucket.ts';
import { busyMs, inArchive } from '../../fleet/archive/catalog.ts';
import { exportFolder } from '../../fleet/exports/files.ts';
import { inExports } from '../../fleet/exports/run.ts';
import { archiveKinds } from '../../fleet/lists/registry.ts';
import { compare } from './copy.ts';
import { goTo, type Job, type Move } from './state.ts';

const filesPerStep = 20;

const foldersOf = (accountId: string): string[] =>
  [exportFolder(accountId), ...archiveKinds.map(({ name }) => folderOf({ kind: name, accountId }))].sort();

/**
 * Copies some files of the account's archive, and compares both homes after the last one. The files do not change:
 * accounts that move are not archived, and earlier archiving has ended once we held its lease.
 */
export async function copyFiles(job: Job, { cursor }: Move): Promise<void> {
  const [old, fresh] = [bucketOf(job.from), bucketOf(job.to)];
  if (old && fresh) {
    if (cursor.file === undefined && (await areWritten(job.from))) {
      await scheduler.wait(busyMs);
      return;
    }
    const found = await filesAfter(old, job.accountId, cursor.file ?? '');
    for (const { key } of found) {
      const file = await old.get(key);
      if (!file) continue;
      const written = await fresh.put(key, await file.arrayBuffer());
      if (written?.size !== file.size) throw new Error('A file of the archive was not copied whole');
    }
    const last = found.at(-1);
    if (last) {
      await goTo(job, 'copying files', { cursor: { file: last.key } });
      return;
    }
  }
  await compare(job);
}

/** Whether somebody writes files of the archive or of exports just now. */
async function areWritten(env: Env): Promise<boolean> {
  const ended = await Promise.all([inArchive(env, async () => {}), inExports(env, async () => {})]);
  return ended.includes('busy');
}

async function filesAfter(bucket: R2Bucket, accountId: string, after: string): Promise<R2Object[]> {
  for (const prefix of foldersOf(accountId)) {
    if (after > prefix && !after.startsWith(prefix)) continue;
    const { objects } = await bucket.list({
      prefix,
      limit: filesPerStep,
      ...(after.startsWith(prefix) && { startAfter: after }),
    });
    if (objects.length > 0) return objects;
  }
  return [];
}

export async function hasFiles(env: Env, accountId: string): Promise<boolean> {
  const bucket = bucketOf(env);
  return bucket !== undefined && (await filesAfter(bucket, accountId, '')).length > 0;
}

/** Deletes some of the account's files from a home's bucket. Returns whether none is left. */
export async function removeFiles(env: Env, accountId: string): Promise<boolean> {
  const bucket = bucketOf(env);
  const found = bucket ? await filesAfter(bucket, accountId, '') : [];
  if (found.length > 0) await bucket?.delete(found.map(({ key }) => key));
  return found.length === 0;
}
