import { type CsvError, parse } from 'csv-parse/sync';
import type { Columns, Holds, Scalar } from '../../../fleet/lists/field.ts';
import { recordKinds } from '../../../fleet/lists/registry.ts';
import { nearest } from '../../../platform/fields.ts';
import { ApiError } from '../client.ts';
import { isObject, type Line, type Text } from './line.ts';

/** How many lines a quoted cell may have: a quote that is never closed costs no more of the file. */
const maxLinesOfRow = 50;

type Row = { line: number; cells: string[]; problem?: string | undefined; bytesRead: number };

/**
 * Reads records from the lines of a CSV file. The first one names the fields; a dot leads into an object
 * (`location.latitude`), a vertical bar separates the values of a list, and empty cells are left out. Commas, semicolons
 * or tabs separate cells. A row that cannot be read, or has more cells than the first line, is a problem of its own.
 *
 * @throws ApiError, if the first line cannot be read, or has a name that is no field, or one twice
 */
export async function* readCsv(lines: AsyncIterable<Text>, kind?: string): AsyncGenerator<Line> {
  let columns: string[] | undefined;
  let separator = ',';
  const rows = rowsOf(
    lines,
    () => separator,
    (head) => {
      separator = separatorOf(head);
    },
  );
  for await (const { cells, ...row } of rows) {
    if (row.problem && !columns) throw nothingSent(row.line, row.problem);
    if (row.problem) yield row;
    else if (!columns) columns = fieldsNamed(cells, row.line, kind);
    else if (cells.some((cell) => cell !== '')) {
      const extra = cells.findIndex((cell, at) => at >= (columns?.length ?? 0) && cell !== '');
      if (extra < 0) yield { ...row, record: recordIn(columns, cells, separator, kind) };
      else
        yield {
          ...row,
          problem: `cell ${extra + 1} is in no column: the first line names ${columns.length}`,
        };
    }
  }
}

/** What separates the cells of a file: what its first line, which names fields, has most of. */
const separatorOf = (head: string): string =>
  [',', ';', '\t'].toSorted((a, b) => head.split(b).length - head.split(a).length)[0] ?? ',';

/** Rows, of which one with a quoted cell may have several lines. `begin` is called with the first line. */
async function* rowsOf(
  lines: AsyncIterable<Text>,
  separator: () => string,
  begin: (head: string) => void,
): AsyncGenerator<Row> {
  let open: Text[] = [];
  /** Gives up the first line, whose quote is not closed where it should be, and reads the others again. */
  const giveUp = function* (): Generator<Row> {
    const [first, ...rest] = open;
    open = [];
    if (!first) return;
    const { problem } = cellsOf(first.text, separator());
    yield { line: first.line, cells: [], problem, bytesRead: first.bytesRead };
    for (const line of rest) yield* take(line);
  };
  const take = function* (next: Text): Generator<Row> {
    open.push(next);
    const { cells, problem, isOpen } = cellsOf(open.map(({ text }) => text).join('\n'), separator());
    if (isOpen && open.length < maxLinesOfRow) return;
    if (problem) return yield* giveUp();
    const [{ line } = next] = open;
    open = [];
    yield { line, cells, bytesRead: next.bytesRead };
  };
  let begun = false;
  for await (const next of lines) {
    if (!begun && next.text.trim() === '' && !next.problem) continue;
    if (!begun && /^sep=.$/i.test(next.text)) continue; // Excel's own line
    if (!begun) begin(next.text);
    begun = true;
    if (!next.problem) yield* take(next);
    else {
      while (open.length > 0) yield* giveUp();
      yield { line: next.line, cells: [], problem: next.problem, bytesRead: next.bytesRead };
    }
  }
  while (open.length > 0) yield* giveUp();
}

/** The cells of a row, or what is wrong with it; `isOpen` if a quote is not closed. */
function cellsOf(text: string, delimiter: string): { cells: string[]; problem?: string; isOpen?: true } {
  if (!text.includes('"')) return { cells: text.split(delimiter).map((cell) => cell.trim()) };
  try {
    const [cells = []]: string[][] = parse(text, { delimiter, trim: true, relax_quotes: true });
    return { cells };
  } catch (error) {
    const { code, column } = error as CsvError & { column?: number }; // what csv-parse throws
    const cell = typeof column === 'number' ? `cell ${column + 1}` : 'line';
    if (code !== 'CSV_QUOTE_NOT_CLOSED')
      return { cells: [], problem: `${cell} has a quote in the wrong place` };
    return { cells: [], problem: `${cell} has a quote that is not closed`, isOpen: true };
  }
}

const columnsOf = new Map<string, Columns>(
  recordKinds.map(({ kind, recordColumns }) => [kind, recordColumns]),
);

/** The names of a kind's fields, or of all kinds' without one, as the first line has them. */
function namesFor(kind: string | undefined): string[] {
  const kinds = kind ? [columnsOf.get(kind) ?? {}] : [...columnsOf.values()];
  const fields = kinds.flatMap((columns) =>
    Object.entries(columns).flatMap(([name, { holds }]) =>
      isObject(holds) ? Object.keys(holds).map((inner) => `${name}.${inner}`) : [name],
    ),
  );
  return [...new Set(['kind', 'sourceUpdatedAt', ...fields])];
}

const nothingSent = (line: number | string, what: string) =>
  new ApiError(`line ${line}: ${what}. Nothing was sent`);

function fieldsNamed(cells: string[], line: number, kind?: string): string[] {
  const known = namesFor(kind);
  const names = cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1);
  for (const [at, name] of names.entries()) {
    const refuse = (what: string) => nothingSent(`${line}, column ${at + 1}`, what);
    if (name === '') throw refuse('has no name');
    if (names.indexOf(name) < at) throw refuse(`${name} is there twice`);
    if (known.includes(name)) continue;
    const meant = nearest(name, known);
    throw refuse(
      `${name} is not a field here${meant ? `, did you mean ${meant}?` : `; known are ${known.join(', ')}`}`,
    );
  }
  return names;
}

function recordIn(
  names: string[],
  cells: string[],
  separator: string,
  kind?: string,
): Record<string, unknown> {
  const record: Record<string, unknown> = kind ? { kind } : {};
  const columns = columnsOf.get(cells[names.indexOf('kind')] || (kind ?? '')) ?? {};
  for (const [at, name] of names.entries()) {
    const cell = cells[at] ?? '';
    if (cell === '') continue;
    const [outer = '', inner] = name.split('.');
    const holds = columns[outer]?.holds;
    const typed = (of: Holds | undefined) => typedCell(cell, of, separator);
    if (!inner) record[outer] = typed(holds);
    else
      record[outer] = {
        ...(isObject(record[outer]) && record[outer]),
        [inner]: typed(isObject(holds) ? (holds[inner] as Scalar) : undefined),
      };
  }
  return record;
}

const booleans: { [cell: string]: boolean } = {
  true: true,
  yes: true,
  1: true,
  false: false,
  no: false,
  0: false,
};

/** A cell as the value of its field; an invalid one stays text, of which the service says what is wrong. */
function typedCell(cell: string, holds: Holds | undefined, separator: string): unknown {
  if (Array.isArray(holds))
    return cell
      .split('|')
      .map((item) => item.trim())
      .filter(Boolean);
  if (holds === 'boolean') return booleans[cell.toLowerCase()] ?? cell;
  if (holds !== 'number' && holds !== 'integer') return cell;
  // Where semicolons separate cells, commas are in numbers.
  const digits = separator === ';' ? cell.replace(/^(-?\d+),(\d+)$/, '$1.$2') : cell;
  return Number.isFinite(Number(digits)) ? Number(digits) : cell;
}
