import { change } from '../../platform/db/database.ts';
import { comparePositions } from '../../platform/db/pages.ts';
import { Refusal } from '../../platform/errors.ts';
import { rowsPerChunk } from '../../platform/jobs/chunks.ts';
import type { Lease } from '../../platform/jobs/lease.ts';
import type { ArchivedRow, ArchiveKind } from '../lists/archived.ts';
import { archiveKinds } from '../lists/registry.ts';
import { noteArchived } from '../note-changes.ts';
import { bucketOf, type DayOf, type Folder, folderOf, type Part, readAgain } from './bucket.ts';
import { busyMs, catalogued, inArchive, type Owner, ownedBy, putEntry } from './catalog.ts';
import { dayOf } from './day.ts';
import { deleteFiles, filesOf, partOf, tidy, writeParts } from './files.ts';
import { readPart } from './parquet.ts';

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

/** How many files one step reads. */
const filesPerStep = 20;

const prefixOf = ({ name }: ArchiveKind, { accountId, connectionId }: Owner): string =>
  folderOf({ kind: name, accountId, ...(connectionId && { connectionId }) });

const keyForm = /connection=([^/]+)\/date=(\d{4}-\d\d-\d\d)\/(part-[0-9a-f-]{36}\.parquet)$/;

/** The file with a key; undefined if it is not ours. */
function fileAt(bucket: R2Bucket, kind: ArchiveKind, { accountId }: Owner, key: string) {
  const [, connectionId, date, file] = keyForm.exec(key) ?? [];
  if (!connectionId || !date || !file) return undefined;
  const day = { kind: kind.name, accountId, connectionId, day: dayOf(Date.parse(date)) };
  return { file, folder: { bucket, kind, day } };
}

/**
 * Removes part of an account's or connection's archive, files first, so that no unknown one is left. The change feed
 * records that of a connection. Returns '' while there is more, or while the archive is being changed, and undefined
 * when done.
 */
export async function removeArchive(env: Env, owner: Owner): Promise<string | undefined> {
  const bucket = bucketOf(env);
  if (!bucket) return undefined;
  return unlessBusy(env, '', async (lease) => {
    for (const kind of archiveKinds) {
      const limit = owner.connectionId ? { limit: filesPerStep } : {};
      const { objects } = await bucket.list({ prefix: prefixOf(kind, owner), ...limit });
      if (objects.length === 0) continue;
      const keys = objects.map(({ key }) => key);
      if (owner.connectionId) for (const key of keys) await noteFile(fileAt(bucket, kind, owner, key), lease);
      await bucket.delete(keys);
      return '';
    }
    return (await removeEntries(lease, owner)) ? undefined : '';
  });
}

/** Records the deletion of a file's records. */
async function noteFile(at: ReturnType<typeof fileAt>, { db, write }: Lease): Promise<void> {
  if (!at) return;
  const { kind, day } = at.folder;
  const rows = await readPart(at.folder, at.file, [kind.id]);
  const ids = rows.map((row) => row[kind.id]);
  await write(noteArchived(db, day, 'deleted', ids));
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

/** Which archived rows to change, by the value of a key, and how. Their order must not change. */
export type Rewrite = {
  key: string;
  value: string;
  change: (row: ArchivedRow) => ArchivedRow;
};

/**
 * Rewrites the archived rows of an owner that have a value, such as a driver's id, and deletes the previous files. Looks
 * through some files at a time: returns the next cursor, which is the same until a listing of the bucket shows that these
 * files have no such rows, and undefined when done.
 *
 * @throws Error, when a file that the catalog does not name has such rows: operators must repair its day
 */
export async function rewriteArchive(
  env: Env,
  owner: Owner,
  rewrite: Rewrite,
  cursor = '',
): Promise<string | undefined> {
  const bucket = bucketOf(env);
  if (!bucket) return undefined;
  const kinds = archiveKinds.filter(({ columns }) => rewrite.key in columns);
  const begun = kinds.findIndex((kind) => cursor.startsWith(prefixOf(kind, owner)));
  return unlessBusy(env, cursor, async (lease) => {
    for (const kind of kinds.slice(Math.max(0, begun))) {
      const prefix = prefixOf(kind, owner);
      const after = cursor.startsWith(prefix) ? { startAfter: cursor } : {};
      const { objects } = await bucket.list({ prefix, limit: filesPerStep, ...after });
      let isChanged = false;
      for (const { key } of objects) {
        const at = fileAt(bucket, kind, owner, key);
        if (at && (await rewriteFile(at.folder, at.file, lease, rewrite))) isChanged = true;
      }
      const last = objects.at(-1);
      if (last) return isChanged ? cursor : last.key;
    }
    return undefined;
  });
}

/** Rewrites a file, if it has such rows. Returns whether it has. */
async function rewriteFile(
  folder: Folder,
  file: string,
  { db, write }: Lease,
  { key, value, change }: Rewrite,
): Promise<boolean> {
  const { kind, day } = folder;
  const isWanted = (row: ArchivedRow) => row[key] === value;
  if (!(await readPart(folder, file, [key])).some(isWanted)) return false;
  const parts = await catalogued(db, day);
  const known = parts.find((part) => part.file === file);
  if (known) {
    const rows = await readPart(folder, file);
    const written = await writeParts(
      folder,
      rows.map((row) => (isWanted(row) ? change(row) : row)),
    );
    const ids = rows.filter(isWanted).map((row) => row[kind.id]);
    const entry = parts.flatMap((part) => (part === known ? written : [part]));
    await write(putEntry(db, day, entry), noteArchived(db, day, 'changed', ids));
    await deleteFiles(folder, [known]);
  } else {
    await tidy(folder, parts);
    if ((await filesOf(folder)).some((one) => one.file === file))
      throw new Error(`${folderOf(day)}${file} has rows to be erased, and the catalog does not name it`);
  }
  return true;
}

/** The catalog's entry of a day, and what it should be according to the bucket. */
export type Repair = { catalog: Part[]; bucket: Part[] };

/**
 * Compares a day's catalog entry with the bucket and, with `apply`, repairs it. For operators: after going back in time
 * the catalog names files that were replaced since, and files may be lost.
 *
 * @throws Refusal: unavailable, while the archive is being changed, when a file cannot be read, or without a bucket
 */
export async function repairDay(env: Env, day: DayOf, apply: boolean): Promise<Repair> {
  const bucket = bucketOf(env);
  const kind = archiveKinds.find(({ name }) => name === day.kind);
  if (!bucket || !kind) throw new Refusal({ kind: 'unavailable', retryAfter: 60 });
  const folder = { bucket, kind, day };
  const done = await inArchive(env, async ({ db, write }): Promise<Repair> => {
    const found = {
      catalog: await catalogued(db, day),
      bucket: await readAgain(() => partsInBucket(folder, apply)),
    };
    if (apply) {
      await write(putEntry(db, day, found.bucket));
      await tidy(folder, found.bucket);
    }
    return found;
  });
  if (done === 'busy') throw new Refusal({ kind: 'unavailable', retryAfter: 2 });
  return done.result;
}

/**
 * The files of a day that together have each of its records once, from the newest file that has it. With `apply` a file
 * is written again without the records that newer ones have.
 */
async function partsInBucket(folder: Folder, apply: boolean): Promise<Part[]> {
  const { id } = folder.kind;
  const seen = new Set<unknown>();
  const parts: Part[] = [];
  for (const file of (await filesOf(folder)).reverse()) {
    const rows = await readPart(folder, file.file);
    const own = rows.filter((row) => !seen.has(row[id]));
    for (const row of own) seen.add(row[id]);
    if (apply && own.length < rows.length) parts.push(...(await writeParts(folder, own)));
    else if (own.length > 0) parts.push(partOf(folder, file, own));
  }
  return parts.sort((a, b) => comparePositions(a.first, b.first));
}
