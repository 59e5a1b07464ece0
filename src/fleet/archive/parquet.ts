import { type FileMetaData, parquetMetadata, parquetReadObjects, parquetSchema } from 'hyparquet';
import type { ArchivedRow, ArchiveKind } from '../lists/archived.ts';
import { keptOf } from '../lists/parquet.ts';
import { type Folder, folderOf, readFile, unlessUnreadable } from './bucket.ts';

/** Which rows of a file to decode: from one (inclusive) to another (exclusive), and all or only some keys. */
type Wanted = { from?: number; to?: number; keys?: string[] };

/** A file that was read: its metadata, and what decodes rows of it. */
export type OpenPart = { metadata: FileMetaData; rows: (wanted?: Wanted) => Promise<ArchivedRow[]> };

/** Reads a file of a day. Rows are decoded when they are needed. @throws PartGone, Unreadable */
export async function openPart({ bucket, kind, day }: Folder, file: string): Promise<OpenPart> {
  const key = folderOf(day) + file;
  const buffer = await readFile(bucket, key);
  const metadata = await unlessUnreadable(key, () => parquetMetadata(buffer));
  return {
    metadata,
    rows: (wanted = {}) => unlessUnreadable(key, () => decodeRows(kind, buffer, metadata, wanted)),
  };
}

/** Reads all rows of a file, or only some keys. @throws PartGone, Unreadable */
export const readPart = async (folder: Folder, file: string, keys?: string[]): Promise<ArchivedRow[]> =>
  (await openPart(folder, file)).rows(keys && { keys });

/** The row groups of a file: which rows they have, and their columns. */
export function groupsOf({ row_groups }: FileMetaData) {
  let to = 0;
  return row_groups.map(({ num_rows, columns }) => {
    const from = to;
    to += Number(num_rows);
    return { from, to, columns };
  });
}

/** Reads the rows of a file that have one of these values under a key, a row group at a time. @throws as `readPart` */
export async function readRowsWith(
  folder: Folder,
  file: string,
  key: string,
  values: ReadonlySet<unknown>,
): Promise<ArchivedRow[]> {
  const { metadata, rows } = await openPart(folder, file);
  const isWanted = (row: ArchivedRow) => values.has(row[key]);
  const found: ArchivedRow[] = [];
  for (const { from, to } of groupsOf(metadata))
    if ((await rows({ from, to, keys: [key] })).some(isWanted))
      found.push(...(await rows({ from, to })).filter(isWanted));
  return found;
}

/** Columns that an older file lacks are null. */
async function decodeRows(
  { columns }: ArchiveKind,
  buffer: ArrayBuffer,
  metadata: FileMetaData,
  { from = 0, to = Number(metadata.num_rows), keys = Object.keys(columns) }: Wanted,
): Promise<ArchivedRow[]> {
  const has = new Set(parquetSchema(metadata).children.map(({ element }) => element.name));
  const rows: ArchivedRow[] = await parquetReadObjects({
    file: buffer,
    metadata,
    rowStart: from,
    rowEnd: to,
    columns: keys.filter((key) => has.has(key)),
  });
  for (const key of keys) for (const row of rows) row[key] = keptOf(columns[key]?.holds ?? 'text', row[key]);
  return rows;
}
