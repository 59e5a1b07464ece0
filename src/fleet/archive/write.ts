import { newId } from '../../platform/db/ids.ts';
import type { Lease } from '../../platform/jobs/lease.ts';
import { type ArchivedRow, placeOf } from '../lists/archived.ts';
import { parquetWriter } from '../lists/parquet.ts';
import { type DayOf, type Folder, folderOf, type Part } from './bucket.ts';
import { openPart, readPart } from './parquet.ts';

/** The maximum rows of a file, which are held in memory, and of a row group, of which a page reads one or a few. */
export type Sizes = { part: number; group: number };
export const usualSizes: Sizes = { part: 5000, group: 250 };

/** The maximum characters of a file's rows, which take several times as much memory. */
export const maxCharacters = 6_000_000;

/** How many characters rows have. */
export const lengthOf = (rows: ArchivedRow[]): number =>
  rows
    .flatMap((row) => Object.values(row))
    .reduce((sum: number, value) => sum + (typeof value === 'string' ? value.length : 8), 0);

/** A day being moved or merged by the holder of the lease. */
export type Move = Folder & { lease: Lease; sizes: Sizes };

/** Writes the ordered rows of a day as files. `replaces` names the file that they replace. */
export async function writeParts(
  folder: Folder & { sizes?: Sizes },
  rows: ArchivedRow[],
  replaces?: string,
): Promise<Part[]> {
  const { sizes = usualSizes } = folder;
  const of = Math.ceil(Math.max(rows.length / sizes.part, lengthOf(rows) / maxCharacters));
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
  folder: Folder & { sizes: Sizes },
  rows: ArchivedRow[],
  replaces: Label['replaces'] | '' | undefined,
): Promise<Part> {
  const { bucket, kind, day, sizes } = folder;
  const writing = parquetWriter(kind.columns, kind.order);
  const bytes = new Blob([writing.add(rows, sizes.group), writing.end()]);
  const [first, last] = [rows.at(0), rows.at(-1)];
  if (!first || !last) throw new Error('a file needs rows');
  const part = { rows: rows.length, first: placeOf(kind, first), last: placeOf(kind, last) };
  const label: Label = { ...part, ...(replaces && { replaces }) };
  const file = `part-${newId()}.parquet`;
  await bucket.put(folderOf(day) + file, bytes, { customMetadata: { label: JSON.stringify(label) } });
  const count = Number((await openPart(folder, file)).metadata.num_rows);
  if (count !== rows.length)
    throw new Error(`${rows.length} rows were written to a file, ${count} read back`);
  return { file, bytes: bytes.size, ...part };
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
