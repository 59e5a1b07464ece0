import type { Columns, Scalar } from '../core/fleet/lists/field.ts';

/** Writes items to a file piece by piece, to be concatenated in order. */
export type ListWriter = {
  /** The bytes of some items. In Parquet they are a row group, or several of so many rows. */
  add: (items: readonly object[], rowGroupSize?: number) => Uint8Array;
  end: () => Uint8Array;
};

/** How a file for people shows times: in a zone, which the heads of their columns name; and what it calls columns. */
type LocalTimes = {
  zone: string;
  format: (at: string) => string;
  heads?: { [column: string]: string };
};

/** Writes a CSV file (RFC 4180), or continues one. An object has a column for each member. */
export function csvWriter(
  columns: Columns,
  { begun = false, times }: { begun?: boolean; times?: LocalTimes } = {},
): ListWriter {
  const flat = flatColumns(columns);
  const encoder = new TextEncoder();
  let head = begun ? '' : headOf(flat, times);
  const write = (items: readonly object[]) => {
    const lines = items.map((item) => lineOf(flat.map((column) => valueIn(column, item, times))));
    const bytes = encoder.encode(head + lines.join(''));
    head = '';
    return bytes;
  };
  return { add: (items) => write(items), end: () => write([]) };
}

type FlatColumn = { name: string; holds: Scalar };
type FlatValue = string | number | boolean | null;

const flatColumns = (columns: Columns): FlatColumn[] =>
  Object.entries(columns).flatMap(([name, { holds }]): FlatColumn[] => {
    if (Array.isArray(holds)) return [{ name, holds: 'text' }];
    if (typeof holds === 'string') return [{ name, holds }];
    return Object.entries(holds).map(([inner, held]) => ({
      name: `${name}.${inner}`,
      holds: held,
    }));
  });

/** Without it Excel takes UTF-8 for the encoding of the computer. */
const byteOrderMark = '\ufeff';

function headOf(columns: FlatColumn[], times?: LocalTimes): string {
  const inZone = ({ name, holds }: FlatColumn) => {
    const head = times?.heads?.[name] ?? name;
    return holds === 'time' ? `${head} (${times?.zone})` : head;
  };
  return times
    ? byteOrderMark + lineOf(columns.map(inZone))
    : lineOf(columns.map(({ name }) => name));
}

function valueIn({ name, holds }: FlatColumn, item: object, times?: LocalTimes): FlatValue {
  const [outer = '', inner] = name.split('.');
  const field = (item as { [name: string]: unknown })[outer]; // an item of the list of these columns
  const value = inner && field ? (field as { [name: string]: unknown })[inner] : field;
  if (Array.isArray(value)) return value.map(textOf).join('|');
  if (value === undefined || value === null) return null;
  return times && holds === 'time' ? times.format(String(value)) : (value as FlatValue); // as its column says
}

/** Levels of accidents are objects. */
const textOf = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value);

/** The libraries for this need Node, or bring 80 KB of polyfills into the Worker. */
const lineOf = (values: FlatValue[]): string => `${values.map(cellOf).join(',')}\r\n`;

/**
 * How formulas begin, and the wide forms that some spreadsheets convert; also after a `;`, at which
 * Excel in German or French begins a cell. They get an apostrophe in front, as OWASP advises.
 */
const formula =
  /^(?=[=+\-@\t\r\uff1d\uff0b\uff0d\uff20])|(?<=;)(?="*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20])/g;
const special = /[",\r\n]/;

function cellOf(value: FlatValue): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const text = value.replace(formula, "'");
  return special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
