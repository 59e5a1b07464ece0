import { change, statement } from '../../platform/db/database.ts';
import { rowsPerChunk } from '../../platform/jobs/chunks.ts';
import type { Lease } from '../../platform/jobs/lease.ts';
import type { ArchivedRow, ArchiveKind } from '../lists/archived.ts';
import { bucketOf, type DayOf, folderOf, type Part, PartGone } from './bucket.ts';
import { busyMs, entryOf, inArchive, type Owner, ownedBy, putEntry, type State } from './catalog.ts';
import { dayOf } from './day.ts';
import {
  type Folder,
  filesOf,
  type NoteArchived,
  readPart,
  readPartWith,
  tidy,
  writeParts,
} from './write.ts';

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

/**
 * Removes part of an account's or connection's archive, files first, so that no unknown one is left. Returns '' while
 * there is more, or while the archive is being changed, and undefined when done.
 */
export async function removeArchive(
  env: Env,
  kinds: ArchiveKind[],
  owner: Owner,
): Promise<string | undefined> {
  const bucket = bucketOf(env);
  if (!bucket) return undefined;
  const { accountId, connectionId } = owner;
  const own = { accountId, ...(connectionId && { connectionId }) };
  const prefixes = kinds.map(({ name }) => folderOf({ kind: name, ...own }));
  return unlessBusy(env, '', async (lease) => {
    for (const prefix of prefixes) {
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
export async function noteArchive(
  env: Env,
  kinds: ArchiveKind[],
  owner: Owner,
  note: NoteArchived,
  cursor: string,
): Promise<string | undefined> {
  const bucket = bucketOf(env);
  if (!bucket) return undefined;
  return unlessBusy(env, cursor, (lease) =>
    throughDays(lease, kinds, owner, cursor, async (kind, { state: _, parts, ...day }) => {
      for (const { file } of parts) {
        const rows = await readPart({ bucket, kind, day }, file, [kind.id]).catch(unlessGone);
        const ids = rows.map((row) => row[kind.id]);
        if (ids.length > 0) await lease.write(note(lease.db, { ...day, now: Date.now() }, kind, ids));
      }
    }),
  );
}

/** Which archived rows to change, by the value of a key, how, and how that is recorded. Their order must not change. */
export type Rewrite = {
  key: string;
  value: string;
  change: (row: ArchivedRow) => ArchivedRow;
  note: NoteArchived;
};

/** How many files one step reads. */
const filesPerStep = 20;

type Reached = Pick<DayOf, 'kind' | 'connectionId' | 'day'>;

/**
 * Rewrites the archived rows of an owner that have a value, such as a driver's id, and deletes the previous files; then
 * lists the bucket to make sure that no uncatalogued file has such rows. Reads some files at a time: returns the next
 * cursor, which is the same while another change is in progress, and undefined when done.
 *
 * @throws Error, when an unknown file has such rows: operators must repair its day
 */
export async function rewriteArchive(
  env: Env,
  kinds: ArchiveKind[],
  owner: Owner,
  rewrite: Rewrite,
  cursor = '',
): Promise<string | undefined> {
  const bucket = bucketOf(env);
  const having = kinds.filter(({ columns }) => rewrite.key in columns);
  if (!bucket || having.length === 0) return undefined;
  return unlessBusy(env, cursor, async (lease) => {
    if (cursor.startsWith(listing)) return lookThrough(bucket, having, owner, lease, rewrite, cursor);
    const next = await throughDays(lease, having, owner, cursor, (kind, { state, parts, ...day }) =>
      rewriteDay({ bucket, kind, day }, { state, parts }, lease, rewrite),
    );
    return next ?? lookThrough(bucket, having, owner, lease, rewrite, listing);
  });
}

type CatalogedDay = DayOf & { state: State; parts: Part[] };

/** Does something with some days of an owner, one after the other. Returns the next cursor; undefined when done. */
async function throughDays(
  lease: Lease,
  kinds: ArchiveKind[],
  owner: Owner,
  cursor: string,
  work: (kind: ArchiveKind, day: CatalogedDay) => Promise<void>,
): Promise<string | undefined> {
  let files = 0;
  const days = await daysAfter(lease, kinds, owner, cursor);
  for (const [at, { parts: stored, ...day }] of days.entries()) {
    const kind = kinds.find(({ name }) => name === day.kind);
    const parts: Part[] = JSON.parse(stored);
    if (kind) await work(kind, { ...day, parts });
    files += parts.length;
    if (files >= filesPerStep || at === filesPerStep - 1) return JSON.stringify(reachedOf(day));
  }
  return undefined;
}

/** No rows for a file that is gone. @throws error, if it is another */
function unlessGone(error: unknown): ArchivedRow[] {
  if (error instanceof PartGone) return [];
  throw error;
}

/** The prefix of the cursor of this listing. */
const listing = 'listed ';
const dayFolder = /connection=([^/]+)\/date=(\d{4}-\d\d-\d\d)\//;

/** Checks a page of the bucket's list for uncatalogued files with such rows. */
async function lookThrough(
  bucket: R2Bucket,
  kinds: ArchiveKind[],
  { accountId, connectionId }: Owner,
  { db }: Lease,
  { key, value }: Rewrite,
  cursor: string,
): Promise<string | undefined> {
  const startAfter = cursor.slice(listing.length);
  const own = { accountId, ...(connectionId && { connectionId }) };
  const folders = kinds.map((kind) => ({ kind, prefix: folderOf({ kind: kind.name, ...own }) }));
  folders.sort((a, b) => (a.prefix < b.prefix ? -1 : 1));
  const next = folders.find(({ prefix }) => startAfter < `${prefix}~`);
  if (!next) return undefined;
  const { kind, prefix } = next;
  const { objects, truncated } = await bucket.list({ prefix, ...(startAfter && { startAfter }) });
  const days = Map.groupBy(objects, (object) => dayFolder.exec(object.key)?.[0]);
  for (const [folder, found] of days) {
    const [, connection, date] = dayFolder.exec(folder ?? '') ?? [];
    if (!connection || !date) continue; // not ours
    const day = { kind: kind.name, accountId, connectionId: connection, day: dayOf(Date.parse(date)) };
    const [entry] = await entryOf(db, day);
    const parts: Part[] = entry ? JSON.parse(entry.parts) : [];
    const isUnknown = (name: string) => !parts.some(({ file }) => name.endsWith(`/${file}`));
    if (!found.some((object) => isUnknown(object.key))) continue;
    const files = { bucket, kind, day };
    await tidy(files, parts);
    for (const { file } of await filesOf(bucket, day))
      if (isUnknown(`/${file}`) && (await readPartWith(files, file, key, new Set([value]))).length)
        throw new Error(`${folderOf(day)}${file} has rows to be erased, and the catalog does not name it`);
  }
  return `${listing}${truncated ? objects.at(-1)?.key : `${prefix}~`}`;
}

const reachedOf = ({ kind, connectionId, day }: DayOf): Reached => ({ kind, connectionId, day });

function daysAfter({ db }: Lease, kinds: ArchiveKind[], owner: Owner, cursor: string) {
  const first: Reached = { kind: '', connectionId: '', day: -1 };
  const { kind, connectionId, day }: Reached = cursor ? JSON.parse(cursor) : first; // as a step has returned it
  const names = JSON.stringify(kinds.map(({ name }) => name));
  return statement<DayOf & { state: State; parts: string }>(db)`
    select kind, account_id as accountId, connection_id as connectionId, day, state, parts from archived_days
      where (kind, connection_id, day) > (${kind}, ${connectionId}, ${day})
        and kind in (select value from json_each(${names})) and ${ownedBy(owner)}
      order by kind, connection_id, day limit ${filesPerStep}`;
}

async function rewriteDay(
  folder: Folder,
  { state, parts }: { state: State; parts: Part[] },
  { db, write }: Lease,
  { key, value, change, note }: Rewrite,
): Promise<void> {
  const { kind, day } = folder;
  const fresh: Part[] = [];
  const ids: unknown[] = [];
  for (const part of parts) {
    const rows = await readPartWith(folder, part.file, key, new Set([value])).catch(unlessGone);
    if (rows.length === 0) {
      fresh.push(part);
      continue;
    }
    const changed = rows.map((row) => (row[key] === value ? change(row) : row));
    ids.push(...rows.filter((row) => row[key] === value).map((row) => row[kind.id]));
    fresh.push(...(await writeParts(folder, changed, part.file)));
  }
  if (!fresh.every((part) => parts.includes(part)))
    await write(putEntry(db, day, state, fresh), note(db, { ...day, now: Date.now() }, kind, ids));
  await tidy(folder, fresh); // including what an earlier run has left
}
