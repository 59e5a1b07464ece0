import { integer, real, type SQLiteColumnBuilderBase, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountTable } from '../../platform/db/tables.ts';
import type { Fields, Scalar } from './field.ts';
import { columnName, type ListDeclaration, shown } from './list.ts';

/**
 * The table of a resource. `migrations/` creates it, with an index for each order in which its list is read: a test
 * compares the two. `unlisted` are columns that no list shows.
 */
export function tableOf(
  fields: Fields,
  { path, id }: Pick<ListDeclaration, 'path' | 'id'>,
  unlisted: { [key: string]: SQLiteColumnBuilderBase } = {},
): AccountTable {
  return sqliteTable(path.slice(1).replaceAll('-', '_'), {
    accountId: text('account_id').notNull(),
    sourceUpdatedAt: integer('source_updated_at'),
    ...Object.fromEntries(
      shown(fields)
        .filter(([key]) => key !== id)
        .map(([key, { holds, nullable }]) => {
          const builder = builders[typeof holds === 'object' ? 'text' : holds](columnName(key));
          return [key, nullable ? builder : builder.notNull()];
        }),
    ),
    ...unlisted,
    id: text().primaryKey(),
  });
}

const asText = (name: string) => text(name);
const asInteger = (name: string) => integer(name);
const builders = {
  text: asText,
  uuid: asText,
  time: asInteger,
  integer: asInteger,
  boolean: asInteger,
  number: (name: string) => real(name),
} satisfies Record<Scalar, unknown>;
