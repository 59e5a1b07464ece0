import { type FileMetaData, parquetMetadata, parquetReadObjects, parquetSchema } from 'hyparquet';
import type { ArchiveKind } from '../../core/fleet/lists/list.ts';
import { newId } from '../../core/platform/db/ids.ts';
import { partsOf } from '../../core/platform/parts.ts';
import { type ArchivedRow, placeOf } from './archived.ts';
import { type Folder, folderOf, type Part, readFile, unlessUnreadable } from './bucket.ts';
import { keptOf, parquetWriter } from './parquet.ts';

/** The maximum rows of a file, which are held in memory, and of a row group. */
export type Sizes = { part: number; group: number };
export const usualSizes: Sizes = { part: 5000, group: 250 };

/** The maximum characters of a file's rows, which take several times as much memory. */
export const maxCharacters = 6_000_000;

/** How many characters rows have. */
export const lengthOf = (rows: ArchivedRow[]): number => JSON.stringify(rows).length;

/** Writes the ordered rows of a day as files, under new names. */
export async function writeParts(
  folder: Folder,
  rows: ArchivedRow[],
  sizes = usualSizes,
): Promise<Part[]> {
  const count = Math.ceil(Math.max(rows.length / sizes.part, lengthOf(rows) / maxCharacters));
  const size = Math.ceil(rows.length / count);
  const parts: Part[] = [];
  for (const some of partsOf(rows, size)) parts.push(await writePart(folder, some, sizes.group));
  return parts;
}

/** Writes a file and verifies it. @throws Error, if what is read back differs */
async function writePart(folder: Folder, rows: ArchivedRow[], rowGroupSize: number): Promise<Part> {
  const { bucket, kind, day } = folder;
  const writing = parquetWriter(kind.columns, kind.order);
  const bytes = new Blob([writing.add(rows, rowGroupSize), writing.end()]);
  const file = `part-${newId()}.parquet`;
  await bucket.put(folderOf(day) + file, bytes);
  const { count } = await openPart(folder, file);
  if (count !== rows.length)
    throw new Error(`${rows.length} rows were written to a file, ${count} read back`);
  return partOf(folder, { file, bytes: bytes.size }, rows);
}

type StoredFile = Pick<Part, 'file' | 'bytes'>;

/** A file as the catalog names it. */
export function partOf({ kind }: Folder, object: StoredFile, rows: ArchivedRow[]): Part {
  const [first, last] = [rows.at(0), rows.at(-1)];
  if (!first || !last) throw new Error('A file of the archive has no rows');
  return { ...object, rows: rows.length, first: placeOf(kind, first), last: placeOf(kind, last) };
}

/** Which rows to decode: from one (inclusive) to another (exclusive), and all or only some keys. */
type Wanted = { from?: number; to?: number; keys?: string[] };

/** A file that was read: its row groups, how many rows it has, and what decodes rows. */
export type OpenPart = {
  groups: (FileMetaData['row_groups'][number] & { from: number; to: number })[];
  count: number;
  rows: (wanted?: Wanted) => Promise<ArchivedRow[]>;
};

/** Reads a file of a day. Rows are decoded when they are needed. @throws PartGone, Unreadable */
export async function openPart({ bucket, kind, day }: Folder, file: string): Promise<OpenPart> {
  const key = folderOf(day) + file;
  const buffer = await readFile(bucket, key);
  const metadata = await unlessUnreadable(key, () => parquetMetadata(buffer));
  let count = 0;
  const groups = metadata.row_groups.map((group) => {
    const from = count;
    count += Number(group.num_rows);
    return { ...group, from, to: count };
  });
  const rows = ({ from = 0, to = count, keys = Object.keys(kind.columns) }: Wanted = {}) =>
    unlessUnreadable(key, () => decodeRows(kind, buffer, metadata, { from, to, keys }));
  return { groups, count, rows };
}

/** Columns that an older file lacks are null. */
async function decodeRows(
  { columns }: ArchiveKind,
  file: ArrayBuffer,
  metadata: FileMetaData,
  { from, to, keys }: Required<Wanted>,
): Promise<ArchivedRow[]> {
  const known = new Set(parquetSchema(metadata).children.map(({ element }) => element.name));
  const rows: ArchivedRow[] = await parquetReadObjects({
    file,
    metadata,
    rowStart: from,
    rowEnd: to,
    columns: keys.filter((key) => known.has(key)),
  });
  for (const key of keys)
    for (const row of rows) row[key] = keptOf(columns[key]?.holds ?? 'text', row[key]);
  return rows;
}

/** Reads all rows of a file, or only some keys. @throws PartGone, Unreadable */
export const readPart = async (
  folder: Folder,
  file: string,
  keys?: string[],
): Promise<ArchivedRow[]> => (await openPart(folder, file)).rows(keys && { keys });

/** Reads the rows of a file with one of these ids. @throws PartGone, Unreadable */
export async function readRowsOf(
  folder: Folder,
  file: string,
  ids: ReadonlySet<unknown>,
): Promise<ArchivedRow[]> {
  const { groups, rows } = await openPart(folder, file);
  const isWanted = ({ id }: ArchivedRow) => ids.has(id);
  const found: ArchivedRow[] = [];
  for (const { from, to } of groups)
    if ((await rows({ from, to, keys: ['id'] })).some(isWanted))
      found.push(...(await rows({ from, to })).filter(isWanted));
  return found;
}

/** What others put into a folder is left alone. */
const ownName = /^part-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.parquet$/;

/** Our files of a day in the bucket, oldest first, whether or not the catalog names them. */
export async function filesOf({ bucket, day }: Folder): Promise<StoredFile[]> {
  const prefix = folderOf(day);
  const found: StoredFile[] = [];
  let cursor: string | undefined;
  do {
    const page = await bucket.list({ prefix, ...(cursor && { cursor }) });
    found.push(
      ...page.objects.map(({ key, size }) => ({ file: key.slice(prefix.length), bytes: size })),
    );
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor);
  return found.filter(({ file }) => ownName.test(file));
}

/** Deletes files of a day. */
export const deleteFiles = ({ bucket, day }: Folder, files: StoredFile[]): Promise<void> =>
  bucket.delete(files.map(({ file }) => folderOf(day) + file));

/** Deletes what interrupted work left: files of which the catalogued ones have all records. */
export async function tidy(folder: Folder, parts: Part[]): Promise<void> {
  const known = new Set(parts.map(({ file }) => file));
  const remaining = (await filesOf(folder)).filter(({ file }) => !known.has(file));
  if (remaining.length === 0) return;
  const idsIn = async ({ file }: StoredFile) =>
    (await readPart(folder, file, ['id'])).map(({ id }) => id);
  const ids = new Set<unknown>();
  for (const part of parts) for (const one of await idsIn(part)) ids.add(one);
  for (const file of remaining)
    if ((await idsIn(file)).every((one) => ids.has(one))) await deleteFiles(folder, [file]);
}
