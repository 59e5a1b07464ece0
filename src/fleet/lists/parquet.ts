import { type ColumnMetaData, parquetMetadata, type SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { timestamp } from '../../platform/fields.ts';
import type { ListWriter } from './csv.ts';
import type { Columns, Holds, Scalar } from './field.ts';

/** How far a Parquet file has come, which is written on: its bytes and row groups, and a footer that has at least those. */
export type Begun = { bytes: number; groups: number; footer: ArrayBuffer };

/**
 * Writes a Parquet file piece by piece; the pieces are to be put together in their order. Rows are as D1 keeps them, or
 * as lists show them. `order` is a column that they are in order of, if they are: only its bounds help a reader to skip
 * row groups. Another invocation goes on with a file that has `begun`.
 */
export function parquetWriter(columns: Columns, order?: string, begun?: Begun): ListWriter {
  const writer = new ByteWriter(64 * 1024);
  const schema = [
    { name: 'root', num_children: Object.keys(columns).length },
    ...Object.entries(columns).flatMap(([name, { holds, nullable }]) =>
      elementsOf(name, holds, nullable ? 'OPTIONAL' : 'REQUIRED'),
    ),
  ];
  const file = new ParquetWriter({ writer, schema }); // writes the first bytes
  const taken = (): Uint8Array => {
    const bytes = new Uint8Array(writer.getBuffer());
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
      const columnData = Object.entries(columns).map(([name, { holds }]) => ({
        name,
        data: rows.map((row) => writtenOf(holds, (row as { [name: string]: unknown })[name])), // a row of these columns
        offsetIndex: false,
      }));
      file.write({ columnData, rowGroupSize });
      return taken();
    },
    end() {
      for (const { columns } of file.row_groups)
        for (const { meta_data } of columns) keepBounds(meta_data, order);
      file.finish();
      return taken();
    },
  };
}

/** Leaves a column's bounds only if it is `order`, of times. The library cannot write those by itself. */
function keepBounds(column: ColumnMetaData | undefined, order?: string): void {
  if (!column?.statistics) return;
  const { min_value, max_value } = column.statistics;
  if (column.path_in_schema[0] !== order) delete column.statistics;
  else column.statistics = { min_value: new Date(Number(min_value)), max_value: new Date(Number(max_value)) };
}

const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } } as const;

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
  repetition_type: 'OPTIONAL' | 'REQUIRED' | 'REPEATED',
): SchemaElement[] {
  if (typeof holds === 'string') return [{ name, repetition_type, ...types[holds] }];
  if (Array.isArray(holds))
    return [
      { name, repetition_type, num_children: 1, converted_type: 'LIST', logical_type: { type: 'LIST' } },
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      ...elementsOf('element', holds[0], 'REQUIRED'),
    ];
  const members = Object.entries(holds);
  return [
    { name, repetition_type, num_children: members.length },
    ...members.flatMap(([member, held]) => elementsOf(member, held, 'OPTIONAL')),
  ];
}

/** A value as the library takes it. */
function writtenOf(holds: Holds, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (holds === 'time') return typeof value === 'string' ? Date.parse(value) : value;
  if (holds === 'boolean') return Boolean(value);
  if (typeof holds === 'string') return value;
  const parsed = typeof value === 'string' ? JSON.parse(value) : value;
  return Array.isArray(holds)
    ? parsed.map((one: unknown) => writtenOf(holds[0], one))
    : Object.fromEntries(Object.entries(holds).map(([name, held]) => [name, writtenOf(held, parsed[name])]));
}

/** A value that was read from a file, as D1 keeps it: times in milliseconds since 1970. */
export function keptOf(holds: Holds, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (typeof holds === 'object') return JSON.stringify(shownOf(holds, value));
  return holds === 'boolean' || holds === 'time' ? Number(value) : value;
}

function shownOf(holds: Holds, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => shownOf(Array.isArray(holds) ? holds[0] : holds, one));
  if (typeof holds === 'string' || Array.isArray(holds))
    return holds === 'time' ? timestamp(Number(value)) : value;
  const members = Object.entries(value as object); // of such an object
  return Object.fromEntries(
    members.flatMap(([name, one]) =>
      one === null || one === undefined ? [] : [[name, shownOf(holds[name] ?? 'text', one)]],
    ),
  );
}
