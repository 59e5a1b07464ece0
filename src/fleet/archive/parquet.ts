import { type FileMetaData, parquetMetadata, parquetReadObjects, parquetSchema } from 'hyparquet';
import type { ArchivedRow, ArchiveKind } from '../lists/archived.ts';
import { keptOf } from '../lists/parquet.ts';

/** Reads the metadata of a Parquet file from its last bytes. @throws Error, if they are too few */
export const decodeFooter = (lastBytes: ArrayBuffer): FileMetaData => parquetMetadata(lastBytes);

/** A part of a file and its offset. */
export type Bytes = { offset: number; buffer: ArrayBuffer };

/**
 * Reads rows `from` (inclusive) `to` (exclusive) of a file whose row groups are in `bytes`; all or only `keys`. Columns
 * that an older file lacks are null.
 */
export async function decodeRows(
  kind: ArchiveKind,
  metadata: FileMetaData,
  bytes: Bytes,
  { from, to, keys = Object.keys(kind.columns) }: { from: number; to: number; keys?: string[] },
): Promise<ArchivedRow[]> {
  const has = new Set(parquetSchema(metadata).children.map(({ element }) => element.name));
  const rows: ArchivedRow[] = await parquetReadObjects({
    file: {
      byteLength: bytes.offset + bytes.buffer.byteLength,
      slice: (start, end) => bytes.buffer.slice(start - bytes.offset, end && end - bytes.offset),
    },
    metadata,
    rowStart: from,
    rowEnd: to,
    columns: keys.filter((key) => has.has(key)),
    parsers: { timestampFromMilliseconds: Number },
  });
  for (const key of keys)
    for (const row of rows) row[key] = keptOf(kind.columns[key]?.holds ?? 'text', row[key]);
  return rows;
}

/** The byte range of the row groups with these rows. */
export function bytesOfRows({ row_groups }: FileMetaData, from: number, to: number) {
  let first = 0;
  let [start, end] = [Number.POSITIVE_INFINITY, 0];
  for (const { num_rows, columns } of row_groups) {
    const next = first + Number(num_rows);
    if (next > from && first < to)
      for (const { meta_data } of columns) {
        if (!meta_data) continue;
        const begin = Number(meta_data.dictionary_page_offset ?? meta_data.data_page_offset);
        start = Math.min(start, begin);
        end = Math.max(end, begin + Number(meta_data.total_compressed_size));
      }
    first = next;
  }
  return { start, end };
}
