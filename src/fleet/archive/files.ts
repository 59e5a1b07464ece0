import { newId } from '../../platform/db/ids.ts';
import { type ArchivedRow, placeOf } from '../lists/archived.ts';
import { parquetWriter } from '../lists/parquet.ts';
import { type Folder, folderOf, type Part } from './bucket.ts';
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

/** Writes the ordered rows of a day as files, under new names. */
export async function writeParts(folder: Folder, rows: ArchivedRow[], sizes = usualSizes): Promise<Part[]> {
  const count = Math.ceil(Math.max(rows.length / sizes.part, lengthOf(rows) / maxCharacters));
  const size = Math.ceil(rows.length / count);
  const parts: Part[] = [];
  for (let at = 0; at < rows.length; at += size)
    parts.push(await writePart(folder, rows.slice(at, at + size), sizes.group));
  return parts;
}

/** Writes a file and verifies it. @throws Error, if what is read back differs */
async function writePart(folder: Folder, rows: ArchivedRow[], rowGroupSize: number): Promise<Part> {
  const { bucket, kind, day } = folder;
  const writing = parquetWriter(kind.columns, kind.order);
  const bytes = new Blob([writing.add(rows, rowGroupSize), writing.end()]);
  const file = `part-${newId()}.parquet`;
  await bucket.put(folderOf(day) + file, bytes);
  const count = Number((await openPart(folder, file)).metadata.num_rows);
  if (count !== rows.length)
    throw new Error(`${rows.length} rows were written to a file, ${count} read back`);
  return partOf(folder, { file, bytes: bytes.size }, rows);
}

/** A file as the catalog names it. */
export function partOf({ kind }: Folder, object: StoredFile, rows: ArchivedRow[]): Part {
  const [first, last] = [rows.at(0), rows.at(-1)];
  if (!first || !last) throw new Error('A file of the archive has no rows');
  return { ...object, rows: rows.length, first: placeOf(kind, first), last: placeOf(kind, last) };
}

type StoredFile = Pick<Part, 'file' | 'bytes'>;

/** What others put into a folder is left alone. */
const ownName = /^part-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.parquet$/;

/** Our files of a day in the bucket, oldest first, whether or not the catalog names them. */
export async function filesOf({ bucket, day }: Folder): Promise<StoredFile[]> {
  const prefix = folderOf(day);
  const found: StoredFile[] = [];
  let cursor: string | undefined;
  do {
    const page = await bucket.list({ prefix, ...(cursor && { cursor }) });
    found.push(...page.objects.map(({ key, size }) => ({ file: key.slice(prefix.length), bytes: size })));
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor);
  return found.filter(({ file }) => ownName.test(file));
}

/** Deletes files of a day. */
export const deleteFiles = ({ bucket, day }: Folder, files: StoredFile[]): Promise<void> =>
  bucket.delete(files.map(({ file }) => folderOf(day) + file));

/**
 * Deletes what interrupted work has left of a day: uncatalogued files of which the catalogued ones have all records.
 * Keeps all others.
 */
export async function tidy(folder: Folder, parts: Part[]): Promise<void> {
  const known = new Set(parts.map(({ file }) => file));
  const left = (await filesOf(folder)).filter(({ file }) => !known.has(file));
  if (left.length === 0) return;
  const idsIn = async ({ file }: StoredFile) => (await readPart(folder, file, ['id'])).map((row) => row.id);
  const ids = new Set<unknown>();
  for (const part of parts) for (const one of await idsIn(part)) ids.add(one);
  for (const file of left)
    if ((await idsIn(file)).every((one) => ids.has(one))) await deleteFiles(folder, [file]);
}
