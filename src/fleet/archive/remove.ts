import { sql } from 'drizzle-orm';
import { change } from '../../platform/db/database.ts';
import { rowsPerChunk } from '../../platform/jobs/chunks.ts';
import type { Lease } from '../../platform/jobs/lease.ts';
import type { ArchiveKind } from '../lists/archived.ts';
import { bucketOf, folderOf } from './bucket.ts';
import { busyMs, inArchive, mayHave } from './catalog.ts';

/** Whose archive: an account's, or one connection's. */
export type Owner = { accountId: string; connectionId?: string | null };

/**
 * Removes part of an account's or a connection's archive: files first, so that none is left that nobody knows of.
 * Returns '' while there is more, or while another change of the archive goes on, and undefined once nothing is left.
 */
export async function removeArchive(env: Env, kinds: ArchiveKind[], owner: Owner): Promise<'' | undefined> {
  const bucket = bucketOf(env);
  if (!bucket) return undefined;
  const prefixes = kinds.map(({ name }) => folderOf({ kind: name, ...own(owner) }));
  if (!(await mayHave(env, owner)) && (await isEmpty(bucket, prefixes))) return undefined;
  const done = await inArchive(env, async (lease) => {
    for (const prefix of prefixes) {
      const { objects, truncated } = await bucket.list({ prefix });
      if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
      if (truncated) return '';
    }
    return (await removeEntries(lease, owner)) ? undefined : '';
  });
  if (done !== 'busy') return done.result;
  await scheduler.wait(busyMs);
  return '';
}

const own = ({ accountId, connectionId }: Owner) => ({ accountId, ...(connectionId && { connectionId }) });

async function isEmpty(bucket: R2Bucket, prefixes: string[]): Promise<boolean> {
  for (const prefix of prefixes)
    if ((await bucket.list({ prefix, limit: 1 })).objects.length > 0) return false;
  return true;
}

/** Takes entries out of the catalog. Returns whether that were all. */
async function removeEntries({ db, write }: Lease, { accountId, connectionId }: Owner): Promise<boolean> {
  const owned = connectionId
    ? sql`account_id = ${accountId} and connection_id = ${connectionId}`
    : sql`account_id = ${accountId}`;
  const [days = 0, lately = 0] = await write(
    change(
      db,
      sql`delete from archived_days where (kind, connection_id, day) in (
        select kind, connection_id, day from archived_days where ${owned} limit ${rowsPerChunk})`,
    ),
    change(
      db,
      sql`delete from archived_lately where (kind, id) in (
        select kind, id from archived_lately where ${owned} limit ${rowsPerChunk})`,
    ),
  );
  return days < rowsPerChunk && lately < rowsPerChunk;
}
