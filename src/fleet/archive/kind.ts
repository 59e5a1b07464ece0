import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { AccountTable } from '../../platform/db/tables.ts';

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
  combine?: (archived: Row, late: Row) => Row;
};

/** A column of D1, and what it holds: the type in a Parquet file. */
export type ArchiveColumn = { column: SQLiteColumn; holds: Holds; nullable: boolean };

/** What a column of D1 holds. D1 keeps times as milliseconds since 1970, booleans as 0 and 1, and JSON as text. */
export type Holds = 'text' | 'uuid' | 'json' | 'time' | 'integer' | 'real' | 'boolean';

/** A row as D1 has it, by the keys of its kind. */
export type Row = { [key: string]: unknown };

/** A row's place in its list. */
export const placeOf = ({ order, id }: Pick<ArchiveKind, 'order' | 'id'>, row: Row) => ({
  sort: Number(row[order]),
  id: String(row[id]),
});
