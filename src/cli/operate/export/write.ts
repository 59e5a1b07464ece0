import { createReadStream, createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { csvWriter, type ListWriter } from '../../../fleet/lists/csv.ts';
import type { Columns } from '../../../fleet/lists/field.ts';
import { parquetWriter } from '../../../fleet/lists/parquet.ts';
import { lists } from '../../../fleet/lists/registry.ts';

/** The formats of an export. Each converts a file of JSON lines. */
export const formats = {
  ndjson: rename,
  csv: (from, to, columns) => write(from, to, csvWriter(columns)),
  parquet: (from, to, columns) => write(from, to, parquetWriter(columns)),
} satisfies Record<string, (from: string, to: string, columns: Columns) => Promise<void>>;
export type Format = keyof typeof formats;

export const columnsOf = (kind: string): Columns =>
  lists.find((resource) => resource.kind === kind)?.itemColumns ?? {};

/** How many items are in memory at a time: a row group. */
const itemsPerPart = 10_000;

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

async function write(from: string, to: string, file: ListWriter): Promise<void> {
  async function* pieces() {
    for await (const items of partsOf(from)) yield file.add(items);
    yield file.end();
  }
  await pipeline(Readable.from(pieces()), createWriteStream(to, { mode: 0o600 }));
}
