import type { Columns } from '../../core/fleet/lists/field.ts';
import { capital } from '../../core/platform/text.ts';
import type { NamedList } from '../read/named-lists.ts';

/** A list's CSV file: name, columns, what pages call them, and what replaces values that people cannot read. */
export type CsvFile<T> = {
  name: string;
  columns: Columns;
  /** The columns of the page in its order, by their names here; members as `location.address`. */
  heads: { [column: string]: string };
  inWords?: (item: T, time: (at: string) => string) => object;
};

/** The columns as people read them: those of the page, the others, and ids, each after its name. */
export function columnsForPeople<T>(
  { names }: Pick<NamedList<T>, 'names'>,
  { columns: listed, heads }: CsvFile<T>,
): { columns: Columns; heads: { [column: string]: string } } {
  const text = { holds: 'text', nullable: true } as const;
  const all: Columns = {
    ...Object.fromEntries([...names, 'connection'].map((name) => [`${name}Name`, text])),
    ...listed,
  };
  const order = [...new Set(Object.keys(heads).map((name) => name.split('.')[0] ?? name))];
  const placeOf = (key: string): number => {
    const place = order.indexOf(key);
    return place >= 0 ? place : isId(key) ? order.length + 1 : order.length;
  };
  const sorted = Object.entries(all).toSorted(([a], [b]) => placeOf(a) - placeOf(b));
  const flat = sorted.flatMap(([key, { holds }]) =>
    typeof holds === 'object' && !Array.isArray(holds)
      ? Object.keys(holds).map((inner) => `${key}.${inner}`)
      : [key],
  );
  return {
    columns: Object.fromEntries(sorted),
    heads: { ...Object.fromEntries(flat.map((name) => [name, inWords(name)])), ...heads },
  };
}

const isId = (key: string): boolean => /^id$|Id$/.test(key);

/** "Location latitude" for `location.latitude`, "Event ID" for `eventId`, "Max speed km/h" for `maxSpeedKph`. */
const inWords = (name: string): string =>
  capital(name.replaceAll('.', ' ').replace(/[A-Z]+/g, (letter) => ` ${letter.toLowerCase()}`))
    .replace(/\b(?:id|vin)\b/gi, (word) => word.toUpperCase())
    .replace(/ kph$/, ' km/h')
    .replace(/^T sp$/, 'Provider');
