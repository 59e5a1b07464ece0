import { getTableColumns } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { AccountTable } from '../../platform/db/tables.ts';
import type { Columns, Fields, Holds } from './field.ts';

/** A kind of record that is archived. */
export type ArchiveKind = {
  /** As in its list's path: `safety-events`. */
  name: string;
  table: AccountTable;
  /** All columns except the account, which the folder names: what they hold, and where D1 stores it. */
  columns: Columns;
  stored: { [key: string]: SQLiteColumn };
  /** The keys of the id, and of the time that orders the list. */
  id: string;
  order: string;
  /** The keys that keep their first value. */
  fixed: string[];
  /** Merges a late row with the archived one. By default the newer version wins. */
  combine?: (archived: ArchivedRow, late: ArchivedRow) => ArchivedRow;
};

/** A row of D1, by the keys of its kind. */
export type ArchivedRow = { [key: string]: unknown };

export const placeOf = ({ order, id }: Pick<ArchiveKind, 'order' | 'id'>, row: ArchivedRow) => ({
  sort: Number(row[order]),
  id: String(row[id]),
});

/**
 * How the items of a list are archived: their fields under the same names, and what else is needed to compare them with
 * later versions.
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
  const stored = { ...columns, ...Object.fromEntries(others) };
  return {
    ...names,
    table,
    stored,
    columns: Object.fromEntries(
      Object.entries(stored).map(([key, column]) => [
        key,
        { holds: fields[key]?.holds ?? heldBy(key), nullable: !column.notNull },
      ]),
    ),
    fixed: Object.keys(columns).filter((key) => fields[key]?.fixed),
  };
}

/** Columns that no list shows are times or numbers. */
const heldBy = (key: string): Holds => (key.endsWith('At') ? 'time' : 'integer');

/**
 * The archived row after its record was received again: the newer version, as an upsert of a hot row would leave it.
 * Returns the archived row itself if nothing changes.
 */
export function newerOf(kind: ArchiveKind, archived: ArchivedRow, late: ArchivedRow): ArchivedRow {
  const merged = kind.combine ? kind.combine(archived, late) : upserted(kind, archived, late);
  return isSame(kind, { ...merged, updatedAt: archived.updatedAt }, archived) ? archived : merged;
}

/** Whether two rows have the same values. */
export const isSame = ({ columns }: ArchiveKind, a: ArchivedRow, b: ArchivedRow): boolean =>
  Object.keys(columns).every((key) => a[key] === b[key]);

/** The rule of `db/upsert.ts`: an older version never replaces a newer one. */
function upserted({ fixed }: ArchiveKind, archived: ArchivedRow, late: ArchivedRow): ArchivedRow {
  const [was, is] = [archived.sourceUpdatedAt, late.sourceUpdatedAt];
  if (typeof was === 'number' && typeof is === 'number' && is < was) return archived;
  return { ...late, ...Object.fromEntries(['createdAt', ...fixed].map((key) => [key, archived[key]])) };
}
