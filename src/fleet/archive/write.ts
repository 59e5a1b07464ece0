import type { Change, Database } from '../../platform/db/database.ts';
import { newId } from '../../platform/db/ids.ts';
import type { Lease } from '../../platform/jobs/lease.ts';
import { type ArchivedRow, type ArchiveKind, placeOf } from '../lists/archived.ts';
import { parquetWriter } from '../lists/parquet.ts';
import { type DayOf, folderOf, type Part, readFile, unlessUnreadable } from './bucket.ts';
import { decodeFooter, decodeRows } from './parquet.ts';

/** The maximum rows of a file, which are held in memory, and of a row group, of which a page reads one or a few. */
export type Sizes = { part: number; group: number };
export const usualSizes: Sizes = { part: 5000, group: 250 };

/** The statement that records changes or deletions of archived records in the change feed. */
export type NoteArchived = (
  db: Database,
  source: DayOf & { now: number },
  kind: ArchiveKind,
  ids: unknown[],
) => Change;

export type Folder = { bucket: R2Bucket; kind: ArchiveKind; day: DayOf; sizes?: Sizes };

/** A day being moved or merged by the holder of the lease. */
export type Move = Folder & { lease: Lease; sizes: Sizes; noteMerged: NoteArchived };

/** Writes the ordered rows of a day as files. `replaces` names the file that they replace. */
export async function writeParts(folder: Folder, rows: ArchivedRow[], replaces?: string): Promise<Part[]> {
  const { sizes = usualSizes } = folder;
  const of = Math.ceil(rows.length / sizes.part);
  const size = Math.ceil(rows.length / of);
  const parts: Part[] = [];
  for (let at = 0; at < of; at++) {
    const own = rows.slice(at * size, (at + 1) * size);
    parts.push(await writePart({ ...folder, sizes }, own, replaces && { file: replaces, of }));
  }
  return parts;
}

/** A file's metadata, from which the catalog can be restored. */
type Label = Omit<Part, 'file' | 'bytes'> & { replaces?: { file: string; of: number } };

/** Writes a file and verifies it. @throws Error, if what is read back differs */
async function writePart(
  { bucket, kind, day, sizes }: Required<Folder>,
  rows: ArchivedRow[],
  replaces: Label['replaces'] | '' | undefined,
): Promise<Part> {
  const writing = parquetWriter(kind.columns, kind.order);
  const data = writing.add(rows, sizes.group);
  const footer = writing.end();
  const bytes = new Blob([data, footer]);
  const [first, last] = [rows.at(0), rows.at(-1)];
  if (!first || !last) throw new Error('a file needs rows');
  const label: Label = {
    rows: rows.length,
    footer: footer.length,
    first: placeOf(kind, first),
    last: placeOf(kind, last),
    ...(replaces && { replaces }),
  };
  const file = `part-${newId()}.parquet`;
  const key = folderOf(day) + file;
  await bucket.put(key, bytes, { customMetadata: { label: JSON.stringify(label) } });
  const written = await (await bucket.get(key))?.arrayBuffer();
  const count = written?.byteLength === bytes.size && Number(decodeFooter(written).num_rows);
  if (count !== rows.length)
    throw new Error(`${rows.length} rows were written to a file, ${count} read back`);
  const { replaces: _, ...part } = label;
  return { file, bytes: bytes.size, ...part };
}

/** Reads a whole file. Returns a function that decodes its rows, or only some keys. @throws PartGone, Unreadable */
async function readWhole({ bucket, kind, day }: Folder, file: string) {
  const key = folderOf(day) + file;
  const buffer = await readFile(bucket, key);
  return (keys?: string[]): Promise<ArchivedRow[]> => unlessUnreadable(key, decoded(kind, buffer, keys));
}

async function decoded(kind: ArchiveKind, buffer: ArrayBuffer, keys?: string[]): Promise<ArchivedRow[]> {
  const metadata = decodeFooter(buffer);
  const to = Number(metadata.num_rows);
  return decodeRows(kind, metadata, { offset: 0, buffer }, { from: 0, to, ...(keys && { keys }) });
}

/** Reads all rows of a file, or only some keys. @throws PartGone */
export const readPart = async (folder: Folder, file: string, keys?: string[]): Promise<ArchivedRow[]> =>
  (await readWhole(folder, file))(keys);

/** Reads all rows of a file if one of them has one of these values under a key, otherwise none. @throws PartGone */
export async function readPartWith(
  folder: Folder,
  file: string,
  key: string,
  values: ReadonlySet<unknown>,
): Promise<ArchivedRow[]> {
  const decode = await readWhole(folder, file);
  const isWanted = (row: ArchivedRow) => values.has(row[key]);
  return (await decode([key])).some(isWanted) ? decode() : [];
}

/** The files of a day in the bucket, without replaced and unfinished ones. */
export async function partsInBucket(bucket: R2Bucket, day: DayOf): Promise<Part[]> {
  const found = await labelled(bucket, day);
  const successors = Map.groupBy(
    found.filter(({ replaces }) => replaces),
    ({ replaces }) => replaces?.file,
  );
  const isReplaced = (file: string) => {
    const by = successors.get(file);
    return by !== undefined && by.length === by[0]?.replaces?.of;
  };
  const there = new Set(found.map(({ part }) => part.file));
  return found
    .filter(
      ({ part, replaces }) =>
        !isReplaced(part.file) && !(replaces && there.has(replaces.file) && !isReplaced(replaces.file)),
    )
    .map(({ part }) => part)
    .sort((a, b) => a.first.sort - b.first.sort || (a.first.id < b.first.id ? -1 : 1));
}

/** The files of a day that are ours, according to their metadata. */
async function labelled(bucket: R2Bucket, day: DayOf) {
  const found: { part: Part; replaces: Label['replaces'] }[] = [];
  let cursor: string | undefined;
  do {
    const prefix = folderOf(day);
    const page = await bucket.list({ prefix, include: ['customMetadata'], ...(cursor && { cursor }) });
    for (const { key, size, customMetadata } of page.objects) {
      if (!customMetadata?.label) continue;
      const { replaces, ...label }: Label = JSON.parse(customMetadata.label); // as `writePart` wrote it
      found.push({ part: { file: key.slice(prefix.length), bytes: size, ...label }, replaces });
    }
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor);
  return found;
}

/** All of our files of a day, catalogued or not. */
export const filesOf = async (bucket: R2Bucket, day: DayOf): Promise<Part[]> =>
  (await labelled(bucket, day)).map(({ part }) => part);

/**
 * Deletes uncatalogued files of a day that catalogued ones supersede: by replacing them, or by having all of their
 * records. Keeps all others.
 */
export async function tidy(folder: Folder, parts: Part[]): Promise<void> {
  const { bucket, day } = folder;
  const known = new Set(parts.map(({ file }) => file));
  const found = await labelled(bucket, day);
  const replaced = new Set(
    found.flatMap(({ part, replaces }) => (known.has(part.file) && replaces ? [replaces.file] : [])),
  );
  for (const { part, replaces } of found) {
    if (known.has(part.file)) continue;
    const isRelated = replaced.has(part.file) || (replaces && known.has(replaces.file));
    if (isRelated || (await hasAll(folder, parts, part))) await bucket.delete(folderOf(day) + part.file);
  }
}

/** Whether these files have all records of another one. */
async function hasAll(folder: Folder, parts: Part[], { file }: Part) {
  const { id } = folder.kind;
  const idsIn = async (one: string) => (await readPart(folder, one, [id])).map((row) => row[id]);
  const ids = new Set(await idsIn(file));
  for (const part of parts) for (const id of await idsIn(part.file)) ids.delete(id);
  return ids.size === 0;
}
