import type { Cell } from './field.ts';

/** What a column of a flat table holds. */
export type FlatColumn = { name: string; holds: 'text' | 'number' | 'boolean' | 'time' };
export type FlatValue = string | number | boolean | null;

/** What cells of a list's items hold, by the names of their fields. */
export type ItemCells = { [name: string]: Cell | 'time' };

/** The columns of a flat table of items: an object has one for each of its values, as in `location.latitude`. */
export const flatColumns = (cells: ItemCells): FlatColumn[] =>
  Object.entries(cells).flatMap(([name, cell]): FlatColumn[] =>
    typeof cell === 'object'
      ? Object.entries(cell).map(([inner, holds]) => ({ name: `${name}.${inner}`, holds }))
      : [{ name, holds: cell === 'list' ? 'text' : cell }],
  );

/** An item's values, in the order of the columns. The values of a list are separated by `|`. */
export const flatten = (columns: FlatColumn[], item: object): FlatValue[] =>
  columns.map(({ name }) => {
    const [outer = '', inner] = name.split('.');
    const field = (item as { [name: string]: unknown })[outer]; // an item of the list of these columns
    const value = inner && field ? (field as { [name: string]: unknown })[inner] : field;
    if (Array.isArray(value)) return value.map(textOf).join('|');
    return value === undefined || value === null ? null : (value as FlatValue); // as its cell says
  });

/** Levels of accidents are objects. */
const textOf = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value);

/** The first line of a CSV file with these columns. */
export const csvHead = (columns: FlatColumn[]): string => lineOf(columns.map(({ name }) => name));

/**
 * Lines of a CSV file (RFC 4180). Text that a spreadsheet would take for a formula gets an apostrophe in front, as OWASP
 * advises: others have written it.
 */
export const csvLines = (columns: FlatColumn[], items: readonly object[]): string =>
  items.map((item) => lineOf(flatten(columns, item))).join('');

/** The libraries for this need Node, or bring 80 KB of polyfills for it into the Worker. */
const lineOf = (values: FlatValue[]): string => `${values.map(cellOf).join(',')}\r\n`;

/**
 * What spreadsheets begin a formula with, and the wide forms that some turn into these; also after a `;`, at which some,
 * such as Excel in German or French, begin a cell.
 */
const formula = /^(?=[=+\-@\t\r\uff1d\uff0b\uff0d\uff20])|(?<=;)(?="*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20])/g;
const special = /[",\r\n]/;

function cellOf(value: FlatValue): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const text = value.replace(formula, "'");
  return special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
