import { findMove } from '../../accounts/moving.ts';
import { bucketOf, folderOf } from '../../fleet/archive/bucket.ts';
import { exportFolder } from '../../fleet/exports/files.ts';
import { archiveKinds } from '../../fleet/lists/registry.ts';
import { Refusal } from '../../platform/errors.ts';
import { isAwaited } from './arrive.ts';

const foldersOf = (accountId: string): string[] =>
  [exportFolder(accountId), ...archiveKinds.map(({ name }) => folderOf({ kind: name, accountId }))].sort();

/** The first file of an account after a key, in the order of keys. They do not change while it moves. */
export async function fileAfter(env: Env, accountId: string, after: string): Promise<R2Object | undefined> {
  const bucket = bucketOf(env);
  for (const prefix of bucket ? foldersOf(accountId) : []) {
    if (after > prefix && !after.startsWith(prefix)) continue;
    const startAfter = after.startsWith(prefix) ? { startAfter: after } : {};
    const found = await bucket?.list({ prefix, limit: 1, ...startAfter });
    if (found?.objects[0]) return found.objects[0];
  }
  return undefined;
}

/** The bucket, for a file of this account. @throws Refusal: not found, for any other key */
export function bucketWith(env: Env, accountId: string, key: string): R2Bucket {
  const bucket = bucketOf(env);
  if (!bucket || !foldersOf(accountId).some((folder) => key.startsWith(folder)))
    throw new Refusal({ kind: 'not found' });
  return bucket;
}

/**
 * Stores a file of an account that is moved here. May be repeated.
 *
 * @throws Refusal: unavailable, unless it is awaited; or what R2 throws, for other contents than the hash is of
 */
export async function acceptFile(
  env: Env,
  accountId: string,
  { key = '', md5 = '', move = '' }: Record<string, string>,
  body: ReadableStream | null,
): Promise<void> {
  if (!isAwaited(await findMove(env, accountId), move))
    throw new Refusal({ kind: 'unavailable', retryAfter: 10 });
  await bucketWith(env, accountId, key).put(key, body, { md5 });
}
