import { getTableColumns, getTableName } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { indexesOn, keyOf } from '../../core/platform/db/keys.ts';
import { owners } from './owners.ts';

/** A table with rows of accounts, by the names of its columns. */
export type Table = {
  name: string;
  columns: string[];
  /** The columns of its key. */
  key: string[];
  /** The column that leads to the account. */
  owner: string;
  /** What finds an owner's rows, unless the key begins with the owner: an index, or a scan. */
  index: string | undefined;
  isScanned: boolean;
  /** What follows the owner there, so that a page can begin after any row; of a scan, the key. */
  order: string[];
};

/** How rows of each table are found, moved and deleted, as the schema declares it. */
export const tables: Table[] = owners.map((owner) => {
  const key = keyOf(owner.table);
  const index = key[0] === owner ? undefined : indexesOn(owner).find(({ isPartial }) => !isPartial);
  const order = [...(index?.rest ?? []), ...key].filter((column) => column !== owner);
  return {
    name: getTableName(owner.table),
    columns: namesOf(Object.values(getTableColumns(owner.table))),
    key: namesOf(key),
    owner: owner.name,
    index: index?.name,
    isScanned: key[0] !== owner && !index,
    order: [...new Set(namesOf(order))],
  };
});

function namesOf(columns: SQLiteColumn[]): string[] {
  return columns.map(({ name }) => name);
}
