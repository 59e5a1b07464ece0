import {
  DuckDBDateValue,
  DuckDBInstance,
  DuckDBListValue,
  DuckDBStructValue,
  DuckDBTimestampTZValue,
} from '@duckdb/node-api';

type Row = { [column: string]: unknown };

/** What DuckDB reads from Parquet files: rows as the API shows them, and types of columns. */
export async function readParquet(
  files: string,
  order?: string,
): Promise<{ rows: Row[]; types: Row }> {
  const database = await (await DuckDBInstance.create(':memory:')).connect();
  const found = await database.runAndReadAll(
    `from read_parquet('${files}') ${order ? `order by ${order}` : ''}`,
  );
  const types = found.columnNames().map((name, at) => [name, String(found.columnType(at))]);
  const rows = found.getRowObjects().map((row) => shown(row) as Row); // of columns
  return { rows, types: Object.fromEntries(types) };
}

function shown(value: unknown): unknown {
  if (value instanceof DuckDBTimestampTZValue)
    return new Date(Number(value.micros) / 1000).toISOString();
  if (value instanceof DuckDBDateValue) return String(value);
  if (value instanceof DuckDBListValue) return value.items.map(shown);
  if (value instanceof DuckDBStructValue) return shown(value.entries);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shown(one)]));
}
