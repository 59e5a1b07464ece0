import { parquetMetadata, type SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { Columns, Holds, Scalar } from '../../core/fleet/lists/field.ts';
import type { ListWriter } from '../../texts/csv.ts';

/** How far a file has come: its bytes and row groups, and a footer that has at least those. */
type Begun = { bytes: number; groups: number; footer: ArrayBuffer };

/** Writes a Parquet file of rows as D1 or lists have them, in the order of the time `order`. */
export function parquetWriter(columns: Columns, order?: string, begun?: Begun): ListWriter {
  const writer = new ByteWriter(64 * 1024);
  const fields = Object.entries(columns);
  const elements = fields.flatMap(([name, { holds, nullable }]) =>
    elementsOf(name, holds, nullable ? 'OPTIONAL' : 'REQUIRED'),
  );
  const schema = [{ name: 'root', num_children: fields.length }, ...elements];
  const file = new ParquetWriter({ writer, schema }); // writes the first bytes
  const taken = (): Uint8Array => {
    const bytes = writer.getBytes().slice();
    writer.index = 0;
    return bytes;
  };
  if (begun) {
    taken();
    writer.offset = begun.bytes;
    file.row_groups = parquetMetadata(begun.footer).row_groups.slice(0, begun.groups);
    file.num_rows = file.row_groups.reduce((sum, { num_rows }) => sum + num_rows, 0n);
  }
  return {
    add(rows, rowGroupSize = rows.length) {
      const columnData = fields.map(([name, { holds }]) => ({
        name,
        data: rows.map((row) => writtenOf(holds, (row as { [name: string]: unknown })[name])), // of these columns
        statistics: name === order,
        offsetIndex: false,
      }));
      file.write({ columnData, rowGroupSize });
      return taken();
    },
    end() {
      file.finish();
      return taken();
    },
  };
}

const text = {
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  logical_type: { type: 'STRING' },
} as const;

/** Ids are text: what Parquet calls a UUID is bytes to Polars and to most of what reads Arrow. */
const types: Record<Scalar, Partial<SchemaElement>> = {
  text,
  uuid: text,
  time: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
  integer: { type: 'INT32' },
  number: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
};

function elementsOf(
  name: string,
  holds: Holds,
  repetition_type: 'OPTIONAL' | 'REQUIRED',
): SchemaElement[] {
  const one = { name, repetition_type };
  if (typeof holds === 'string') return [{ ...one, ...types[holds] }];
  if (Array.isArray(holds))
    return [
      { ...one, num_children: 1, converted_type: 'LIST', logical_type: { type: 'LIST' } },
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      ...elementsOf('element', holds[0], 'REQUIRED'),
    ];
  const members = Object.entries(holds);
  return [
    { ...one, num_children: members.length },
    ...members.flatMap(([member, held]) => elementsOf(member, held, 'OPTIONAL')),
  ];
}

function writtenOf(holds: Holds, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (holds === 'time') return new Date(value as string | number); // as lists show it, or D1 keeps it
  if (holds === 'boolean') return Boolean(value);
  if (typeof holds === 'string') return value;
  const parsed = typeof value === 'string' ? JSON.parse(value) : value;
  return Array.isArray(holds)
    ? parsed.map((one: unknown) => writtenOf(holds[0], one))
    : Object.fromEntries(
        Object.entries(holds).map(([name, held]) => [name, writtenOf(held, parsed[name])]),
      );
}

/** A value that was read from a file, as D1 keeps it: objects are without null members. */
export function keptOf(holds: Holds, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (typeof holds === 'object') return JSON.stringify(value, (_, one) => one ?? undefined);
  return holds === 'boolean' || holds === 'time' ? Number(value) : value;
}
