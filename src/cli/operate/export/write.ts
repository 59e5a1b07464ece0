import { createReadStream, createWriteStream } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { csvHead, csvLines, type FlatColumn, flatColumns, flatten } from '../../../fleet/lists/csv.ts';
import { lists } from '../../../fleet/lists/registry.ts';

/** The formats of an export, by their names. Each turns a file of JSON lines into a file of its own. */
export const formats = { ndjson: rename, csv: writeCsv, parquet: writeParquet } satisfies Record<
  string,
  (from: string, to: string, columns: FlatColumn[]) => Promise<void>
>;
export type Format = keyof typeof formats;

/** The columns of a kind of records. */
export const columnsOf = (kind: string): FlatColumn[] =>
  flatColumns(lists.find((resource) => resource.kind === kind)?.itemCells ?? {});

const itemsPerPart = 1000;

/** The items of a file, some at a time. */
async function* partsOf(file: string): AsyncGenerator<object[]> {
  let part: object[] = [];
  const input = createReadStream(file);
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    part.push(JSON.parse(line));
    if (part.length < itemsPerPart) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

async function writeCsv(from: string, to: string, columns: FlatColumn[]): Promise<void> {
  async function* text() {
    yield csvHead(columns);
    for await (const items of partsOf(from)) yield csvLines(columns, items);
  }
  await pipeline(Readable.from(text()), createWriteStream(to, { mode: 0o600 }));
}

const types = { text: 'STRING', number: 'DOUBLE', boolean: 'BOOLEAN', time: 'TIMESTAMP' } as const;
const rowsPerGroup = 10_000;

/** Memory holds one row group at a time. */
async function writeParquet(from: string, to: string, columns: FlatColumn[]): Promise<void> {
  const { fileWriter, parquetWriteRows } = await import('hyparquet-writer');
  await writeFile(to, '', { mode: 0o600 }); // the library would let everybody read it
  async function* rows() {
    for await (const items of partsOf(from)) for (const item of items) yield rowOf(columns, item);
  }
  await parquetWriteRows({
    writer: fileWriter(to),
    rows: rows(),
    columns: columns.map(({ name, holds }) => ({ name, type: types[holds], nullable: true })),
    rowGroupSize: rowsPerGroup,
  });
}

const rowOf = (columns: FlatColumn[], item: object) =>
  Object.fromEntries(
    flatten(columns, item).map((value, i) => {
      const { name = '', holds = 'text' } = columns[i] ?? {};
      return [name, value !== null && holds === 'time' ? new Date(String(value)) : value];
    }),
  );
