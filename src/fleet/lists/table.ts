import {
  index,
  integer,
  real,
  type SQLiteColumn,
  type SQLiteColumnBuilderBase,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core';
import type { AccountTable } from '../../platform/db/tables.ts';
import type { Fields } from './field.ts';
import { columnName, columnsByKey, type ListDeclaration, shown } from './list.ts';

/**
 * The table of a resource, with an index for each way in which its list is read: by account, unless requests must
 * name a connection; by connection; and by the fields that an index leads to. What D1 has is in `migrations/`: a test
 * compares the two. `unlisted` are columns that no list shows; `further` are indexes that pages of the portal need, by
 * their fields.
 */
export function tableOf<N extends string>(
  fields: Fields,
  { path, id, order, connection, filters = {} }: ListDeclaration<N>,
  unlisted: { [key: string]: SQLiteColumnBuilderBase } = {},
  further: { [name: string]: (N | 'accountId' | 'id')[] } = {},
): AccountTable {
  const name = path.slice(1).replaceAll('-', '_');
  const columns = {
    accountId: text('account_id').notNull(),
    sourceUpdatedAt: integer('source_updated_at'),
    ...Object.fromEntries(
      shown(fields)
        .filter(([key]) => key !== id)
        .map(([key, { column, nullable }]) => {
          const builder = builders[column](columnName(key));
          return [key, nullable ? builder : builder.notNull()];
        }),
    ),
    ...unlisted,
    id: text().primaryKey(),
  };
  const leads = [
    ...(connection === 'optional' ? [['accountId']] : []),
    ['connectionId'],
    ...Object.values(filters).flatMap((filter) =>
      'indexed' in filter && !filter.unique
        ? [[...(filter.ofAccount ? ['accountId'] : []), filter.field]]
        : [],
    ),
  ];
  const unique = Object.values(filters).flatMap((filter) =>
    'indexed' in filter && filter.unique ? [filter.field] : [],
  );
  return sqliteTable(name, columns, (table: { [key: string]: SQLiteColumn }) => {
    const columnFor = columnsByKey(table);
    const indexed = leads.map((lead) => {
      const [first = '', ...rest] = lead;
      return index(`${name}_by_${shortName(lead.at(-1) ?? '')}`).on(
        columnFor(first),
        ...[...rest, order, 'id'].map(columnFor),
      );
    });
    const others = Object.entries(further).map(([name, keys]) => {
      const [first, ...rest] = keys.map(columnFor);
      if (!first) throw new Error(`Index ${name} has no columns`);
      return index(name).on(first, ...rest);
    });
    const once = unique.map((key) =>
      uniqueIndex(`${name}_by_${shortName(key)}`).on(columnFor('accountId'), columnFor(key)),
    );
    return [...indexed, ...others, ...once];
  });
}

const shortName = (key: string): string => columnName(key).replace(/_id$/, '');

const builders = {
  text: (name: string) => text(name),
  integer: (name: string) => integer(name),
  real: (name: string) => real(name),
};
