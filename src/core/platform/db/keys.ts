import { getTableConfig, type SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core';
import { isOfColumn } from './drizzle.ts';

/** The columns of a table's primary key. */
export function keyOf(table: SQLiteTable): SQLiteColumn[] {
  const { columns, primaryKeys } = getTableConfig(table);
  return primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary);
}

/** An index, the columns after its first, and whether it has only some rows. */
type Index = { name: string; rest: SQLiteColumn[]; isPartial: boolean };

/** The indexes whose first column is this one, or an expression of it, as declared. */
export const indexesOn = (column: SQLiteColumn): Index[] =>
  getTableConfig(column.table).indexes.flatMap(({ config }) => {
    const [first, ...rest] = config.columns;
    return isOfColumn(first, column)
      ? [{ name: config.name, rest: rest as SQLiteColumn[], isPartial: Boolean(config.where) }]
      : [];
  });
