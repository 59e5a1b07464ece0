import { type CsvError, parse } from 'csv-parse/sync';
import { cleanBoolean, numbersIn } from '../../../core/fleet/lists/clean.ts';
import type { Columns, Holds, Scalar } from '../../../core/fleet/lists/field.ts';
import { kindNamed, recordKinds } from '../../../core/fleet/lists/registry.ts';
import { isObject } from '../../../core/platform/fields.ts';
import { parsedJson } from '../../../core/platform/json.ts';
import { nearest } from '../../../core/platform/nearest.ts';
import { ApiError } from '../client.ts';

/** A line of a file: its number from 1, its record or problem, and the bytes read so far. */
export type Line = {
  line: number;
  record?: unknown;
  problem?: string | undefined;
  bytesRead: number;
};

/** A line of text, or what is wrong with it. */
export type Text = { line: number; text: string; problem?: string; bytesRead: number };

/** How many lines a quoted cell may have, so that an open quote costs no more. */
const maxLinesOfRow = 50;

/** What the first line says: what separates cells, and the names of fields. */
type Head = { separator: string; names: string[]; kind: string | undefined };

/** Reads records from lines of CSV, of which the first names the fields. @throws ApiError */
export async function* readCsv(lines: AsyncIterable<Text>, kind?: string): AsyncGenerator<Line> {
  let head: Head | undefined;
  const read: Text[] = [];
  for await (const line of lines) {
    if (head) read.push(line);
    // Excel may name the separator in a line of its own.
    else if (line.problem || !/^(sep=.|\s*)$/i.test(line.text)) head = headOf(line, kind);
    if (head) yield* rowsOf(read, head, false);
  }
  if (head) yield* rowsOf(read, head, true);
}

/**
 * Takes rows out of lines that were read. One with an open quote waits for further lines, up to the
 * end or too many; then its first line is given up, and the others are read again.
 */
function* rowsOf(lines: Text[], head: Head, isEnd: boolean): Generator<Line> {
  for (let count = 1; count <= lines.length; count++) {
    const part = lines.slice(0, count);
    const [first] = part as [Text]; // count is at least 1
    const isReadable = part.every(({ problem }) => !problem);
    const text = part.map((line) => line.text).join('\n');
    const { cells, isOpen } = isReadable ? cellsOf(text, head.separator) : {};
    if (isOpen && count < maxLinesOfRow && !(isEnd && count === lines.length)) continue;
    const [{ bytesRead = 0 } = {}] = lines.splice(0, cells ? count : 1).slice(-1);
    const at = { line: first.line, bytesRead };
    if (!cells)
      yield { ...at, problem: first.problem ?? cellsOf(first.text, head.separator).problem };
    else if (cells.some((cell) => cell !== '')) yield { ...at, ...recordIn(cells, head) };
    count = 0;
  }
}

type Cells = { cells?: string[]; problem?: string; isOpen?: boolean };

/** The cells of a row, or what is wrong with it; `isOpen` if a quote is not closed. */
function cellsOf(text: string, delimiter: string): Cells {
  if (!text.includes('"')) return { cells: text.split(delimiter).map((cell) => cell.trim()) };
  try {
    const [cells = []]: string[][] = parse(text, { delimiter, trim: true, relax_quotes: true });
    return { cells };
  } catch (error) {
    const { code, column } = error as CsvError & { column?: number }; // what csv-parse throws
    const cell = typeof column === 'number' ? `cell ${column + 1}` : 'line';
    const isOpen = code === 'CSV_QUOTE_NOT_CLOSED';
    return {
      problem: `${cell} has a quote ${isOpen ? 'that is not closed' : 'in the wrong place'}`,
      isOpen,
    };
  }
}

/** What separates the cells of a file: what its first line, which names fields, has most of. */
const separatorOf = (head: string): string =>
  [',', ';', '\t'].toSorted((a, b) => head.split(b).length - head.split(a).length)[0] ?? ',';

const nothingSent = (line: number | string, what: string) =>
  new ApiError(`line ${line}: ${what}${what.endsWith('?') ? '' : '.'} Nothing was sent`);

function headOf({ line, text, problem }: Text, kind?: string): Head {
  const separator = separatorOf(text);
  const { cells = [], problem: wrong = problem } = problem ? {} : cellsOf(text, separator);
  if (wrong) throw nothingSent(line, wrong);
  const known = namesFor(kind);
  const names = cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1);
  for (const [at, name] of names.entries()) {
    const refuse = (what: string) => nothingSent(`${line}, column ${at + 1}`, what);
    if (name === '') throw refuse('has no name');
    if (names.indexOf(name) < at) throw refuse(`${name} is there twice`);
    if (known.includes(name)) continue;
    const meant = nearest(name, known);
    const instead = meant ? `, did you mean ${meant}?` : `; known are ${known.join(', ')}`;
    throw refuse(`${name} is not a field here${instead}`);
  }
  return { separator, names, kind };
}

const columnsOf = new Map<string, Columns>(
  recordKinds.map(({ kind, recordFields }) => [kind, recordFields]),
);

/** The names of a kind's fields, or of all kinds' without one, as the first line has them. */
function namesFor(kind: string | undefined): string[] {
  const kinds = kind ? [columnsOf.get(kind) ?? {}] : [...columnsOf.values()];
  const fields = kinds.flatMap((columns) =>
    Object.entries(columns).flatMap(([name, { holds }]) =>
      isObject(holds) ? Object.keys(holds).map((inner) => `${name}.${inner}`) : [name],
    ),
  );
  return [...new Set(['kind', ...fields])];
}

/** The record in a row, or what is wrong with it. */
function recordIn(
  cells: string[],
  { names, separator, kind }: Head,
): Pick<Line, 'record' | 'problem'> {
  const extra = cells.findIndex((cell, at) => at >= names.length && cell !== '');
  if (extra >= 0)
    return { problem: `cell ${extra + 1} is in no column: the first line names ${names.length}` };
  const named = kindNamed(cells[names.indexOf('kind')] || kind);
  const record: Record<string, unknown> = named ? { kind: named } : {};
  const columns = columnsOf.get(String(named)) ?? {};
  for (const [at, name] of names.entries()) {
    const cell = cells[at] ?? '';
    if (cell === '' || name === 'kind') continue;
    const [outer = '', inner] = name.split('.');
    const holds = columns[outer]?.holds;
    const typed = (of: Holds | undefined) => typedCell(cell, of, separator);
    if (!inner) record[outer] = typed(holds);
    else {
      const before = isObject(record[outer]) ? record[outer] : {};
      record[outer] = {
        ...before,
        [inner]: typed(isObject(holds) ? (holds[inner] as Scalar) : undefined),
      };
    }
  }
  return { record };
}

/** A cell as the value of its field; an invalid one stays text, for the service to explain. */
function typedCell(cell: string, holds: Holds | undefined, separator: string): unknown {
  if (Array.isArray(holds) && isObject(holds[0])) return parsedJson(cell) ?? cell;
  if (Array.isArray(holds)) return cell.split('|').flatMap((item) => item.trim() || []);
  if (holds === 'boolean') return cleanBoolean(cell) ?? cell;
  if (holds !== 'number' && holds !== 'integer') return cell;
  // Where semicolons separate cells, commas are in numbers.
  const [number = Number.NaN, ...others] = numbersIn(cell, separator === ';');
  return Number.isFinite(number) && others.length === 0 ? number : cell;
}
