import { index, integer, real, type SQLiteColumn, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { Fields } from './field.ts';
import { columnName, type ListDeclaration, type ListTable, shown } from './list.ts';

/**
 * The table of a resource, with an index for each way in which its list is read: by account, unless requests must
 * name a connection; by connection; and by the fields that an index leads to. What D1 has is in `migrations/`: a test
 * compares the two.
 */
export function tableOf(
  fields: Fields,
  { path, order, connection, filters = {} }: ListDeclaration,
): ListTable {
  const name = path.slice(1).replaceAll('-', '_');
  const columns = {
    accountId: text('account_id').notNull(),
    sourceUpdatedAt: integer('source_updated_at'),
    ...Object.fromEntries(
      shown(fields).map(([key, { column, nullable }]) => {
        const builder = builders[column](columnName(key));
        return [key, nullable ? builder : builder.notNull()];
      }),
    ),
    id: text().primaryKey(),
  };
  const leads = [
    ...(connection === 'optional' ? ['accountId'] : []),
    'connectionId',
    ...Object.values(filters).flatMap((filter) => ('indexed' in filter ? [filter.field] : [])),
  ];
  return sqliteTable(name, columns, (table: { [key: string]: SQLiteColumn }) => {
    const columnOf = (key: string): SQLiteColumn => {
      const column = table[key];
      if (!column) throw new Error(`${name} has no column for ${key}`);
      return column;
    };
    return leads.map((lead) =>
      index(`${name}_by_${columnName(lead).replace(/_id$/, '')}`).on(
        columnOf(lead),
        columnOf(order),
        columnOf('id'),
      ),
    );
  });
}

const builders = {
  text: (name: string) => text(name),
  integer: (name: string) => integer(name),
  real: (name: string) => real(name),
};
