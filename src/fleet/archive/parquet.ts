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

/** Reads all rows of a file if one of them has one of these values under a key, otherwise none. @throws as `readPart` */
export async function readPartWith(
  folder: Folder,
  file: string,
  key: string,
  values: ReadonlySet<unknown>,
): Promise<ArchivedRow[]> {
  const { rows } = await openPart(folder, file);
  const isWanted = (row: ArchivedRow) => values.has(row[key]);
  return (await rows({ keys: [key] })).some(isWanted) ? rows() : [];
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
    parsers: { timestampFromMilliseconds: Number },
  });
  for (const key of keys) for (const row of rows) row[key] = keptOf(columns[key]?.holds ?? 'text', row[key]);
  return rows;
}
