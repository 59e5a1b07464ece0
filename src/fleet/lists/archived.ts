import { getTableColumns } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { AccountTable } from '../../platform/db/tables.ts';
import type { Columns, Fields, Holds } from './field.ts';

/** A kind of record that is archived. */
export type ArchiveKind = {
  /** As its list's path has it: `safety-events`. */
  name: string;
  table: AccountTable;
  /** Everything that a row holds but its account, which the folder names. */
  columns: { [key: string]: ArchiveColumn };
  /** The keys of the id and of the time that the list is in order of. */
  id: string;
  order: string;
  /** The keys that keep the value they had first. */
  fixed: string[];
  /**
   * Puts a row that came in after its record was archived together with what the archive has. Without it, the newer
   * version wins.
   */
  combine?: (archived: ArchivedRow, late: ArchivedRow) => ArchivedRow;
};

/** A column of D1, and what it holds. */
export type ArchiveColumn = Columns[string] & { column: SQLiteColumn };

/** A row as D1 has it, by the keys of its kind. */
export type ArchivedRow = { [key: string]: unknown };

/** A row's place in its list. */
export const placeOf = ({ order, id }: Pick<ArchiveKind, 'order' | 'id'>, row: ArchivedRow) => ({
  sort: Number(row[order]),
  id: String(row[id]),
});

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
  const known = new Set(Object.values(columns));
  const others = Object.entries(getTableColumns(table)).filter(
    ([, column]) => !known.has(column) && column !== table.accountId,
  );
  return {
    ...names,
    table,
    columns: Object.fromEntries(
      [...Object.entries(columns), ...others].map(([key, column]) => [
        key,
        { column, holds: fields[key]?.holds ?? heldBy(key), nullable: !column.notNull },
      ]),
    ),
    fixed: Object.keys(columns).filter((key) => fields[key]?.fixed),
  };
}

/** What no list shows is a time or a number. */
const heldBy = (key: string): Holds => (key.endsWith('At') ? 'time' : 'integer');
