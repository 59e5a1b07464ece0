import { type FileMetaData, parquetMetadata, parquetReadObjects } from 'hyparquet';
import { ByteWriter, parquetWrite } from 'hyparquet-writer';
import type { ArchiveColumn, ArchivedRow, ArchiveKind, Holds } from '../lists/archived.ts';

/** Writes rows, which are in the order of their list, as a Parquet file with row groups of so many rows. */
export function encodeRows(
  kind: ArchiveKind,
  rows: ArchivedRow[],
  rowGroupSize: number,
): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter(64 * 1024);
  const columnData = Object.entries(kind.columns).map(([name, { holds }]) => ({
    name,
    data: rows.map(writes[holds](name)),
    // Bounds help a reader to skip row groups only where the rows are in order.
    statistics: name === kind.order,
  }));
  const schema = [
    { name: 'root', num_children: columnData.length },
    ...Object.entries(kind.columns).map(([name, column]) => ({ name, ...element(column) })),
  ];
  parquetWrite({ writer, columnData, schema, rowGroupSize, createdBy: 'Fleet Data Service' });
  return new Uint8Array(writer.getBuffer());
}

const physical = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  uuid: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, logical_type: { type: 'UUID' } },
  json: { type: 'BYTE_ARRAY', converted_type: 'JSON' },
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  integer: { type: 'INT32' },
  real: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
} as const satisfies Record<Holds, object>;

const element = ({ holds, nullable }: ArchiveColumn) => ({
  ...physical[holds],
  repetition_type: nullable ? ('OPTIONAL' as const) : ('REQUIRED' as const),
});

const asIs = (name: string) => (row: ArchivedRow) => row[name];
const unlessNull = (change: (value: unknown) => unknown) => (name: string) => (row: ArchivedRow) => {
  const value = row[name];
  return value === null || value === undefined ? null : change(value);
};
const writes: Record<Holds, (name: string) => (row: ArchivedRow) => unknown> = {
  text: asIs,
  uuid: asIs,
  json: unlessNull((text) => JSON.parse(String(text))),
  time: asIs,
  integer: asIs,
  real: asIs,
  boolean: unlessNull(Boolean),
};

/** Reads what a Parquet file says of itself, from its last bytes. @throws Error: not all of that is among them */
export const decodeFooter = (lastBytes: ArrayBuffer): FileMetaData => parquetMetadata(lastBytes);

/** A part of a file, by where it begins there. */
export type Bytes = { offset: number; buffer: ArrayBuffer };

/**
 * Reads rows `from` (inclusive) `to` (exclusive) of a file, whose row groups are among `bytes`; of `keys`, or whole.
 * What a file from before a column does not have is null.
 */
export async function decodeRows(
  kind: ArchiveKind,
  metadata: FileMetaData,
  bytes: Bytes,
  { from, to, keys = Object.keys(kind.columns) }: { from: number; to: number; keys?: string[] },
): Promise<ArchivedRow[]> {
  const has = new Set(metadata.schema.map(({ name }) => name));
  const rows: ArchivedRow[] = await parquetReadObjects({
    file: {
      byteLength: bytes.offset + bytes.buffer.byteLength,
      slice: (start, end) => bytes.buffer.slice(start - bytes.offset, end && end - bytes.offset),
    },
    metadata,
    rowStart: from,
    rowEnd: to,
    columns: keys.filter((key) => has.has(key)),
    parsers: { timestampFromMilliseconds: Number, jsonFromBytes: textOf },
  });
  for (const key of keys) {
    const asStored = kind.columns[key]?.holds === 'boolean' ? Number : (value: unknown) => value;
    for (const row of rows)
      row[key] = row[key] === undefined || row[key] === null ? null : asStored(row[key]);
  }
  return rows;
}

const decoder = new TextDecoder();
const textOf = (bytes: Uint8Array | undefined) => bytes && decoder.decode(bytes);

/** Where the row groups that hold these rows lie in the file. */
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
