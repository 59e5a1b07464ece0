import { getTableColumns, type SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import * as v from 'valibot';
import type { AccountTable } from '../../platform/db/schema/types.ts';
import { type QuerySchema, QueryText } from '../../platform/query.ts';
import type { Columns, Field, Fields } from './field.ts';
import type { Filter } from './filters.ts';

/** The Connection-Id that stands for all the caller's connections. */
export const allConnections = 'all';

export const mustBeConnection = `must be a UUID or ${allConnections}`;

export type ListDeclaration<N extends string = string> = {
  path: `/${string}`;
  /** The key of an item's identifier, if it is not `id`. */
  id?: N;
  /** The time that orders the list, oldest first, and that `from` and `to` apply to. */
  order: N;
  /** Whether requests must name a connection. */
  connection: 'optional' | 'required';
  /** Whether requests may, or must, have `from` and `to`; otherwise these are unknown. */
  range?: 'optional' | 'required';
  filters?: { [parameter: string]: Filter<N> } & {
    [own in 'limit' | 'cursor' | 'from' | 'to']?: never;
  };
  /** Whether old days are archived. */
  archived?: boolean;
  /** What items have of the vehicle in `vehicleId`, if that may be of another connection. Its filters look within. */
  ofVehicle?: N[];
};

/** A kind of record that may be archived. */
export type ArchiveKind = {
  /** As in its list's path: `safety-events`. */
  name: string;
  table: AccountTable;
  /** All columns except the account, which the folder names, and those of D1. */
  columns: Columns;
  stored: { [key: string]: SQLiteColumn };
  /** The key of the time that orders the list. */
  order: string;
  /** The keys that keep their first value, each while that of another key is the same. */
  fixed: { [key: string]: string };
};

/** A list: what its declaration says, its columns and items. */
export type List<T = unknown> = Pick<ListDeclaration, 'path' | 'order' | 'range'> & {
  /** Its items in words, plural and singular: `safety events`, `safety event`. */
  plural: string;
  singular: string;
  table: AccountTable;
  columns: { [key: string]: SQLiteColumn };
  id: string;
  connection: SQLiteColumn;
  connectionRequired: boolean;
  filters: { [parameter: string]: Filter & { query: QuerySchema; column: SQLiteColumn } };
  /** What else is looked up for each item in D1. */
  also?: SQL;
  archive?: ArchiveKind;
  /** The keys of what items have of a vehicle that not everybody may see. */
  ofVehicle: string[];
  /** Turns a row of `columns` into an item, in place because every item passes here. */
  present: (row: { [key: string]: unknown }) => T;
};

export type Item<F extends Fields> = {
  [N in keyof F as F[N]['use'] extends 'unlisted' | 'internal' ? never : N]: F[N] extends Field<
    unknown,
    unknown,
    infer Shown
  >
    ? Shown
    : never;
};

/** Makes the list of `fields`, whose columns are in `table` under their names. */
export function declareList<F extends Fields>(
  fields: F,
  table: AccountTable,
  {
    id = 'id',
    connection,
    filters = {},
    archived = false,
    ofVehicle = [],
    ...declared
  }: ListDeclaration,
): List<Item<F>> {
  const { path, order } = declared;
  const columnOf = columnsByKey(getTableColumns(table));
  const columnFor = (key: string) => (key === id ? table.id : columnOf(key));
  const filterOf = (filter: Filter) => {
    const query = filter.query ?? fields[filter.field]?.query ?? QueryText;
    return {
      ...filter,
      query: filter.where ? query : asList(query),
      column: columnFor(filter.field),
    };
  };
  const columns = Object.fromEntries(shown(fields).map(([key]) => [key, columnFor(key)]));
  const plural = path.slice(1).replaceAll('-', ' ');
  return {
    ...declared,
    ofVehicle,
    plural,
    singular: plural.slice(0, -1),
    table,
    columns,
    id,
    connection: 'connectionId' in fields ? columnFor('connectionId') : table.id,
    connectionRequired: connection === 'required',
    filters: Object.fromEntries(
      Object.entries(filters).map(([name, filter]) => [name, filterOf(filter)]),
    ),
    ...(archived && {
      archive: {
        name: path.slice(1),
        order,
        table,
        stored: { ...columns, sourceUpdatedAt: columnOf('sourceUpdatedAt') },
        columns: {
          ...itemOf(fields).itemFields,
          sourceUpdatedAt: { holds: 'time', nullable: true },
        },
        fixed: {
          createdAt: 'id',
          ...Object.fromEntries(
            shown(fields).flatMap(([key, { fixedBy }]) => (fixedBy ? [[key, fixedBy]] : [])),
          ),
        },
      },
    }),
    present: presenter(fields),
  };
}

const asList = (query: QuerySchema): QuerySchema =>
  v.pipe(
    query,
    v.transform((value) => [value].flat()),
  );

/** What the API's document needs of an item. */
export const itemOf = <F extends Fields>(fields: F) => {
  const map = <T>(value: (field: Field) => T) =>
    Object.fromEntries(shown(fields).map(([key, field]) => [key, value(field)]));
  const item: v.GenericSchema = v.object(map(({ output }) => output));
  return {
    item: item as v.GenericSchema<Item<F>>, // its entries are these very fields
    itemFields: Object.fromEntries(shown(fields)),
    itemExample: map(({ example }) => example) as Item<F>, // each field's example is of what it shows
  };
};

export const shown = (fields: Fields) =>
  Object.entries(fields).filter(([, { use }]) => use !== 'unlisted' && use !== 'internal');

function presenter<F extends Fields>(fields: F): List<Item<F>>['present'] {
  const reads = shown(fields).flatMap(([key, { read }]) => (read ? [{ key, read }] : []));
  return (row) => {
    for (const { key, read } of reads) {
      const stored = row[key];
      if (stored !== null) row[key] = read(stored as never); // what this field's column holds
    }
    return row as Item<F>; // the columns of these fields, each as its field reads it
  };
}

/** The part of a row that a list shows. */
export const shownOf = ({ columns }: Pick<List, 'columns'>, row: { [key: string]: unknown }) =>
  Object.fromEntries(Object.keys(columns).map((key) => [key, row[key] ?? null]));

/** Finds columns by the keys of their fields. @throws Error for a key without one */
function columnsByKey(columns: { [key: string]: SQLiteColumn }): (key: string) => SQLiteColumn {
  const byName = new Map(Object.values(columns).map((column) => [column.name, column]));
  return (key) => {
    const column = byName.get(columnName(key));
    if (!column) throw new Error(`No column for ${key}`);
    return column;
  };
}

/** `source_id` for `sourceId`. The spec has its own spelling of tSP. */
export const columnName = (key: string): string =>
  key === 'tSP' ? 'tsp' : key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
