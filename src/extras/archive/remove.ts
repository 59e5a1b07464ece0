import { and, eq, sql } from 'drizzle-orm';
import type { ArchiveKind } from '../../core/fleet/lists/list.ts';
import { archiveKinds } from '../../core/fleet/lists/registry.ts';
import { bucketOf } from '../../core/platform/bucket.ts';
import { comparePositions } from '../../core/platform/db/pages.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { Refusal } from '../../core/platform/errors.ts';
import { rowsPerChunk } from '../../core/platform/jobs/chunks.ts';
import { type Lease, stepWithLease } from '../../core/platform/jobs/lease.ts';
import type { ArchivedRow } from './archived.ts';
import { type DayOf, dayOf, type Folder, folderOf, type Part, readAgain } from './bucket.ts';
import { archiveLease, catalogued, inArchive, putEntry, recordArchived } from './catalog.ts';
import { deleteFiles, filesOf, partOf, readPart, tidy, writeParts } from './files.ts';
import { archivedDays } from './tables.ts';

type Owner = { accountId: string; connectionId?: string | null };

const filesPerStep = 20;

/** Removes part of an owner's archive, files first. Returns '' while there is more, undefined when done. */
export async function removeArchive(env: Env, owner: Owner): Promise<string | undefined> {
  const bucket = bucketOf(env);
  if (!bucket) return undefined;
  return stepWithLease(env, archiveLease, '', async (lease) => {
    for (const kind of archiveKinds) {
      const limit = owner.connectionId ? { limit: filesPerStep } : {};
      const { objects } = await bucket.list({ prefix: prefixOf(kind, owner), ...limit });
      if (objects.length === 0) continue;
      const keys = objects.map(({ key }) => key);
      if (owner.connectionId)
        for (const key of keys) await recordDeletion(fileAt(bucket, kind, owner, key), lease);
      await bucket.delete(keys);
      return '';
    }
    return (await removeEntries(lease, owner)) ? undefined : '';
  });
}

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

async function recordDeletion(at: ReturnType<typeof fileAt>, { db, commit }: Lease): Promise<void> {
  if (!at) return;
  const ids = (await readPart(at.folder, at.file, ['id'])).map((row) => row.id);
  await commit(recordArchived(db, at.folder.day, 'deleted', ids));
}

/** Removes entries from the catalog. Returns whether those were all. */
async function removeEntries(
  { db, commit }: Lease,
  { accountId, connectionId }: Owner,
): Promise<boolean> {
  const { kind, day } = archivedDays;
  const own = and(
    eq(archivedDays.accountId, accountId),
    connectionId ? eq(archivedDays.connectionId, connectionId) : undefined,
  );
  const some = db
    .select({ kind, connectionId: archivedDays.connectionId, day })
    .from(archivedDays)
    .where(own)
    .limit(rowsPerChunk);
  const [days = 0] = await commit(
    db.delete(archivedDays).where(sql`(${kind}, ${archivedDays.connectionId}, ${day}) in ${some}`),
  );
  return days < rowsPerChunk;
}

/**
 * Removes a driver from an owner's archived rows, by writing files again, some at a time. Returns the next
 * cursor, which never points into a day, and undefined when done. `before` deletes what belongs to a day's rows of the
 * driver, until it returns undefined.
 * @throws Error, when a file names the driver that the catalog does not name: operators must repair its day
 */
export async function eraseFromArchive(
  env: Env,
  owner: Owner,
  driverId: string,
  cursor: string,
  before: Before = async () => undefined,
): Promise<string | undefined> {
  const bucket = bucketOf(env);
  if (!bucket) return undefined;
  const begun = archiveKinds.findIndex((kind) => cursor.startsWith(prefixOf(kind, owner)));
  return stepWithLease(env, archiveLease, cursor, async (lease) => {
    for (const kind of archiveKinds.slice(Math.max(0, begun))) {
      const prefix = prefixOf(kind, owner);
      const after = cursor.startsWith(prefix) ? { startAfter: cursor } : {};
      const { objects } = await bucket.list({ prefix, limit: filesPerStep, ...after });
      const folders = objects.flatMap(({ key }) => fileAt(bucket, kind, owner, key)?.folder ?? []);
      const days = new Map(folders.map((folder) => [folderOf(folder.day), folder]));
      let isChanged = false;
      for (const folder of days.values())
        for (const { file } of await filesOf(folder))
          if (await eraseFromFile(folder, file, driverId, lease, before)) isChanged = true;
      const last = objects.at(-1)?.key;
      if (last) return isChanged ? cursor : `${last.slice(0, last.lastIndexOf('/'))}/~`;
    }
    return undefined;
  });
}

type Before = (day: DayOf, rows: ArchivedRow[]) => Promise<string | undefined>;

/** Writes a file without a driver, if it names them. Returns whether it does, or did. */
async function eraseFromFile(
  folder: Folder,
  file: string,
  driverId: string,
  { db, commit }: Lease,
  before: Before,
): Promise<boolean> {
  const { day } = folder;
  const isTheirs = (row: ArchivedRow) => row.driverId === driverId;
  if (!(await readPart(folder, file, ['driverId'])).some(isTheirs)) return false;
  const parts = await catalogued(db, day);
  const known = parts.find((part) => part.file === file);
  if (known) {
    const rows = await readPart(folder, file);
    if ((await before(day, rows.filter(isTheirs))) !== undefined) return true;
    const without = rows.map((row) => (isTheirs(row) ? { ...row, driverId: null } : row));
    const written = await writeParts(folder, without);
    const ids = rows.filter(isTheirs).map((row) => row.id);
    const entry = parts.flatMap((part) => (part === known ? written : [part]));
    await commit(...putEntry(db, day, entry), recordArchived(db, day, 'changed', ids));
    await deleteFiles(folder, [known]);
  } else {
    await tidy(folder, parts);
    if ((await filesOf(folder)).some((one) => one.file === file))
      throw new Error(
        `${folderOf(day)}${file} has rows to be erased, and the catalog does not name it`,
      );
  }
  return true;
}

/** The catalog's entry of a day, and what it should be according to the bucket. */
type Repair = { catalog: Part[]; bucket: Part[] };

/**
 * Compares a day's catalog entry with the bucket and, with `apply`, repairs it: after going back in
 * time it names files that were replaced since.
 * @throws Refusal: unavailable, while the archive is being changed, or when a file cannot be read
 */
export async function repairDay(env: Env, day: DayOf, apply: boolean): Promise<Repair> {
  const bucket = bucketOf(env);
  const kind = archiveKinds.find(({ name }) => name === day.kind);
  if (!bucket || !kind) throw new Refusal({ kind: 'unavailable', retryAfter: 60 });
  const folder = { bucket, kind, day };
  const compared = async (): Promise<Repair> => ({
    catalog: await catalogued(openDatabase(env), day),
    bucket: await readAgain(() => partsInBucket(folder, apply)),
  });
  if (!apply) return compared();
  const done = await inArchive(env, async ({ db, commit }) => {
    const found = await compared();
    await commit(...putEntry(db, day, found.bucket));
    await tidy(folder, found.bucket);
    return found;
  });
  if (done === 'busy') throw new Refusal({ kind: 'unavailable', retryAfter: 2 });
  return done.result;
}

/** The files that together have each record of a day once; `apply` removes repeats. */
async function partsInBucket(folder: Folder, apply: boolean): Promise<Part[]> {
  const seen = new Set<unknown>();
  const parts: Part[] = [];
  for (const file of (await filesOf(folder)).reverse()) {
    const rows = await readPart(folder, file.file);
    const own = rows.filter(({ id }) => !seen.has(id));
    for (const { id } of own) seen.add(id);
    if (apply && own.length < rows.length) parts.push(...(await writeParts(folder, own)));
    else if (own.length > 0) parts.push(partOf(folder, file, own));
  }
  return parts.sort((a, b) => comparePositions(a.first, b.first));
}
