import { change } from '../../platform/db/database.ts';
import { rowsPerChunk } from '../../platform/jobs/chunks.ts';
import type { Lease } from '../../platform/jobs/lease.ts';
import type { ArchivedRow, ArchiveKind } from '../lists/archived.ts';
import { archiveKinds } from '../lists/registry.ts';
import { noteArchived } from '../note-changes.ts';
import { bucketOf, type Folder, folderOf, type Part, PartGone } from './bucket.ts';
import { busyMs, catalogued, inArchive, type Owner, ownedBy, putEntry } from './catalog.ts';
import { dayOf } from './day.ts';
import { readPart, readRowsWith } from './parquet.ts';
import { filesOf, tidy, writeParts } from './write.ts';

/** Runs a step that changes the archive; while another change is in progress, waits a little and returns `cursor`. */
async function unlessBusy(
  env: Env,
  cursor: string,
  step: (lease: Lease) => Promise<string | undefined>,
): Promise<string | undefined> {
  const done = await inArchive(env, step);
  if (done !== 'busy') return done.result;
  await scheduler.wait(busyMs);
  return cursor;
}

/** The folders of an owner's archive. */
const foldersOf = (kinds: ArchiveKind[], { accountId, connectionId }: Owner) =>
  kinds.map((kind) => ({
    kind,
    prefix: folderOf({ kind: kind.name, accountId, ...(connectionId && { connectionId }) }),
  }));

/**
 * Removes part of an account's or connection's archive, files first, so that no unknown one is left. Returns '' while
 * there is more, or while the archive is being changed, and undefined when done.
 */
export async function removeArchive(env: Env, owner: Owner): Promise<string | undefined> {
  const bucket = bucketOf(env);
  if (!bucket) return undefined;
  return unlessBusy(env, '', async (lease) => {
    for (const { prefix } of foldersOf(archiveKinds, owner)) {
      const { objects, truncated } = await bucket.list({ prefix });
      if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
      if (truncated) return '';
    }
    return (await removeEntries(lease, owner)) ? undefined : '';
  });
}

/** Removes entries from the catalog. Returns whether those were all. */
async function removeEntries({ db, write }: Lease, owner: Owner): Promise<boolean> {
  const owned = ownedBy(owner);
  const [days = 0, lately = 0] = await write(
    change(db)`delete from archived_days where (kind, connection_id, day) in (
        select kind, connection_id, day from archived_days where ${owned} limit ${rowsPerChunk})`,
    change(db)`delete from archived_lately where (kind, id) in (
        select kind, id from archived_lately where ${owned} limit ${rowsPerChunk})`,
  );
  return days < rowsPerChunk && lately < rowsPerChunk;
}

/**
 * Records the archived rows of an owner in the change feed, before they are removed. Reads some files at a time: returns
 * the next cursor, which is the same while another change is in progress, and undefined when done.
 */
export const noteArchive = (env: Env, owner: Owner, cursor: string): Promise<string | undefined> =>
  throughDays(env, archiveKinds, owner, cursor, async (folder, parts, { db, write }) => {
    const { kind, day } = folder;
    for (const { file } of parts) {
      const rows = await readPart(folder, file, [kind.id]).catch(unlessGone);
      const ids = rows.map((row) => row[kind.id]);
      if (ids.length > 0) await write(noteArchived(db, day, 'deleted', ids));
    }
  });

/** Which archived rows to change, by the value of a key, and how. Their order must not change. */
export type Rewrite = {
  key: string;
  value: string;
  change: (row: ArchivedRow) => ArchivedRow;
};

/**
 * Rewrites the archived rows of an owner that have a value, such as a driver's id, and deletes the previous files. Reads
 * some files at a time: returns the next cursor, which is the same while another change is in progress, and undefined
 * when done.
 *
 * @throws Error, when a file that the catalog does not name has such rows: operators must repair its day
 */
export const rewriteArchive = (
  env: Env,
  owner: Owner,
  rewrite: Rewrite,
  cursor = '',
): Promise<string | undefined> =>
  throughDays(
    env,
    archiveKinds.filter(({ columns }) => rewrite.key in columns),
    owner,
    cursor,
    (folder, parts, lease) => rewriteDay(folder, parts, lease, rewrite),
  );

/** How many files one step reads. */
const filesPerStep = 20;

const dayFolder = /connection=([^/]+)\/date=(\d{4}-\d\d-\d\d)\/$/;

/**
 * Does something with some of an owner's days, one after the other: those that have files in the bucket, whether or not
 * the catalog names them. Returns the next cursor; undefined when done.
 */
async function throughDays(
  env: Env,
  kinds: ArchiveKind[],
  owner: Owner,
  cursor: string,
  work: (folder: Folder, parts: Part[], lease: Lease) => Promise<void>,
): Promise<string | undefined> {
  const bucket = bucketOf(env);
  const folders = foldersOf(kinds, owner).sort((a, b) => (a.prefix < b.prefix ? -1 : 1));
  const next = folders.find(({ prefix }) => cursor < `${prefix}~`);
  if (!bucket || !next) return undefined;
  const { kind, prefix } = next;
  return unlessBusy(env, cursor, async (lease) => {
    const { objects, truncated } = await bucket.list({ prefix, ...(cursor && { startAfter: cursor }) });
    const days = Map.groupBy(objects, ({ key }) => key.slice(0, key.lastIndexOf('/') + 1));
    let files = 0;
    for (const [folder, found] of days) {
      const [, connectionId, date] = dayFolder.exec(folder) ?? [];
      if (!connectionId || !date) continue; // not ours
      const day = {
        kind: kind.name,
        accountId: owner.accountId,
        connectionId,
        day: dayOf(Date.parse(date)),
      };
      await work({ bucket, kind, day }, await catalogued(lease.db, day), lease);
      files += found.length;
      if (files >= filesPerStep) return `${folder}~`;
    }
    return truncated ? `${[...days.keys()].at(-1)}~` : `${prefix}~`;
  });
}

/** No rows for a file that is gone. @throws error, if it is another */
function unlessGone(error: unknown): ArchivedRow[] {
  if (error instanceof PartGone) return [];
  throw error;
}

async function rewriteDay(
  folder: Folder,
  parts: Part[],
  { db, write }: Lease,
  { key, value, change }: Rewrite,
): Promise<void> {
  const { bucket, kind, day } = folder;
  const values = new Set([value]);
  const written: Part[] = [];
  const ids: unknown[] = [];
  for (const part of parts) {
    const found = await readRowsWith(folder, part.file, key, values).catch(unlessGone);
    if (found.length === 0) {
      written.push(part);
      continue;
    }
    ids.push(...found.map((row) => row[kind.id]));
    const rows = await readPart(folder, part.file);
    const changed = rows.map((row) => (row[key] === value ? change(row) : row));
    written.push(...(await writeParts(folder, changed, part.file)));
  }
  if (ids.length > 0) await write(putEntry(db, day, written), noteArchived(db, day, 'changed', ids));
  await tidy(folder, written); // including what an earlier run has left
  for (const { file } of await filesOf(bucket, day))
    if (!written.some((part) => part.file === file) && (await readRowsWith(folder, file, key, values)).length)
      throw new Error(`${folderOf(day)}${file} has rows to be erased, and the catalog does not name it`);
}
