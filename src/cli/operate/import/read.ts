import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { parse as parseCsv } from 'csv-parse';
import type { Columns, Holds } from '../../../fleet/lists/field.ts';
import { recordKinds } from '../../../fleet/lists/registry.ts';

/** One line of a file: its number from 1, its record or what is wrong with it, and the bytes read so far. */
export type Line = { line: number; record?: unknown; problem?: string; bytesRead: number };

/**
 * Streams the records of an NDJSON or CSV file (by its ending). The first line of a CSV file names the fields; a dot
 * leads into an object (`location.latitude`), `
 *
 * ` separates the values of a list, and empty cells are left out. `kind` is the default kind.
 */
export async function* readRecords(file: string, kind?: string): AsyncGenerator<Line> {
  if (/\.csv$/i.test(file)) yield* readCsv(file, kind);
  else yield* readNdjson(file, kind);
}

async function* readNdjson(file: string, kind?: string): AsyncGenerator<Line> {
  const input = createReadStream(file);
  let line = 0;
  for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    line++;
    if (text.trim() === '') continue;
    const bytesRead = input.bytesRead;
    try {
      const record: unknown = JSON.parse(text);
      yield { line, record: isObject(record) && kind ? { kind, ...record } : record, bytesRead };
    } catch {
      yield { line, problem: 'line is not JSON', bytesRead };
    }
  }
}

async function* readCsv(file: string, kind?: string): AsyncGenerator<Line> {
  const input = createReadStream(file);
  const parser = input.pipe(
    parseCsv({ columns: true, info: true, bom: true, trim: true, relax_column_count: true }),
  );
  input.on('error', (error) => parser.destroy(error));
  for await (const { record, info } of parser as AsyncIterable<{
    record: Record<string, string>;
    info: { lines: number };
  }>)
    yield { line: info.lines, record: fromCells(record, kind), bytesRead: input.bytesRead };
}

const columnsOf = new Map<unknown, Columns>(
  recordKinds.map(({ kind, recordColumns }) => [kind, recordColumns]),
);

function fromCells(cells: Record<string, string>, kind?: string): Record<string, unknown> {
  const record: Record<string, unknown> = kind ? { kind } : {};
  const columns = columnsOf.get(cells.kind || kind) ?? {};
  for (const [column, cell] of Object.entries(cells)) {
    if (cell === '') continue;
    const [outer = '', inner] = column.split('.');
    const holds = columns[outer]?.holds;
    if (!inner) record[outer] = typedCell(cell, holds);
    else
      record[outer] = {
        ...(isObject(record[outer]) && record[outer]),
        [inner]: typedCell(cell, isObject(holds) ? holds[inner] : undefined),
      };
  }
  return record;
}

/** A cell as the value of its field; an invalid one stays text, for the service to refuse. */
function typedCell(cell: string, holds: Holds | undefined): unknown {
  if (Array.isArray(holds)) return cell.split('|').map((item) => item.trim());
  if (holds === 'boolean') return cell === 'true' ? true : cell === 'false' ? false : cell;
  if (holds === 'number' || holds === 'integer') return Number.isFinite(Number(cell)) ? Number(cell) : cell;
  return cell;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
