import type { Columns, Scalar } from './field.ts';

/** A column of a flat table. */
export type FlatColumn = { name: string; holds: Scalar };
type FlatValue = string | number | boolean | null;

/** The columns of a flat table of items: an object has one for each member, such as `location.latitude`. */
export const flatColumns = (columns: Columns): FlatColumn[] =>
  Object.entries(columns).flatMap(([name, { holds }]): FlatColumn[] => {
    if (Array.isArray(holds)) return [{ name, holds: 'text' }];
    if (typeof holds === 'string') return [{ name, holds }];
    return Object.entries(holds).map(([inner, held]) => ({ name: `${name}.${inner}`, holds: held }));
  });

/** An item's values in the order of the columns. The values of a list are separated by a vertical bar. */
const flatten = (columns: FlatColumn[], item: object, time: (at: string) => string): FlatValue[] =>
  columns.map(({ name, holds }) => {
    const [outer = '', inner] = name.split('.');
    const field = (item as { [name: string]: unknown })[outer]; // an item of the list of these columns
    const value = inner && field ? (field as { [name: string]: unknown })[inner] : field;
    if (Array.isArray(value)) return value.map(textOf).join('|');
    if (value === undefined || value === null) return null;
    return holds === 'time' ? time(String(value)) : (value as FlatValue); // as its column says
  });

/** Levels of accidents are objects. */
const textOf = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value);

/** The first line of a CSV file with these columns. */
export const csvHead = (columns: FlatColumn[]): string => lineOf(columns.map(({ name }) => name));

/**
 * Lines of a CSV file (RFC 4180). Text that a spreadsheet would take for a formula gets an apostrophe in front, as
 * OWASP advises, because others wrote it. `time` formats times, by default as in lists.
 */
export const csvLines = (
  columns: FlatColumn[],
  items: readonly object[],
  time = (at: string): string => at,
): string => items.map((item) => lineOf(flatten(columns, item, time))).join('');

/** Writes items to a file piece by piece, to be concatenated in order. */
export type ListWriter = {
  /** The bytes of some items. In Parquet they are a row group, or several of so many rows. */
  add: (items: readonly object[], rowGroupSize?: number) => Uint8Array;
  end: () => Uint8Array;
};

/** Writes a CSV file, or continues one that has `begun`. */
export function csvWriter(columns: Columns, begun = false): ListWriter {
  const flat = flatColumns(columns);
  const encoder = new TextEncoder();
  let head = begun ? '' : csvHead(flat);
  const taken = (lines: string) => {
    const bytes = encoder.encode(head + lines);
    head = '';
    return bytes;
  };
  return { add: (items) => taken(csvLines(flat, items)), end: () => taken('') };
}

/** The libraries for this need Node, or bring 80 KB of polyfills into the Worker. */
const lineOf = (values: FlatValue[]): string => `${values.map(cellOf).join(',')}\r\n`;

/**
 * How spreadsheet formulas begin, and the wide forms that some convert; also after a `;`, at which some, such as Excel
 * in German or French, begin a cell.
 */
const formula = /^(?=[=+\-@\t\r\uff1d\uff0b\uff0d\uff20])|(?<=;)(?="*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20])/g;
const special = /[",\r\n]/;

function cellOf(value: FlatValue): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const text = value.replace(formula, "'");
  return special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
