import { getTableColumns } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { AccountTable } from '../../platform/db/tables.ts';
import type { ArchiveKind, Holds } from '../archive/kind.ts';
import type { Field, Fields } from './field.ts';

/**
 * How the items of a list are archived: what they show, under the same names, and what else a row has, so that a
 * version that comes in later can be compared with it.
 */
export function archiveKindOf(
  names: Pick<ArchiveKind, 'name' | 'id' | 'order'>,
  fields: Fields,
  table: AccountTable,
  columns: { [key: string]: SQLiteColumn },
): ArchiveKind {
  const listed = Object.entries(columns).map(([key, column]) => {
    const field = fields[key];
    return [key, { column, holds: field ? heldBy(field) : 'text', nullable: !column.notNull }] as const;
  });
  const known = new Set(Object.values(columns));
  const others = Object.entries(getTableColumns(table))
    .filter(([, column]) => !known.has(column) && column !== table.accountId)
    .map(([key, column]) => [key, { column, holds: heldByColumn(key), nullable: !column.notNull }] as const);
  return {
    ...names,
    table,
    columns: Object.fromEntries([...listed, ...others]),
    fixed: Object.keys(columns).filter((key) => fields[key]?.fixed),
  };
}

const heldBy = ({ holds, column }: Field): Holds => holds ?? column;

/** What no list shows is a time or a number. */
const heldByColumn = (key: string): Holds => (key.endsWith('At') ? 'time' : 'integer');
