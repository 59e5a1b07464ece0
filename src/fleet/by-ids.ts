import { sql } from 'drizzle-orm';
import { type Database, jsonList, statement } from '../platform/db/database.ts';
import type { Caller } from '../platform/db/guard.ts';
import { selected } from '../platform/db/pages.ts';
import type { List } from './lists/list.ts';

/** An item as its list shows it, and how many bytes it has as JSON. */
export type SizedItem = { id: string; item: unknown; size: number };

type Row = { recordId: string; size: number; [key: string]: unknown };

/** Which items of a list have these ids. Reads a row for each. */
export const selectByIds = (db: Database, { accountId }: Caller, { table, columns }: List, ids: string[]) => {
  const row = selected(columns);
  return statement<Row>(
    db,
    sql`select ${table.id} as "recordId", ${row.size} as size, ${row.columns}
        from ${table} where ${table.id} in ${jsonList(ids)} and +${table.accountId} = ${accountId}`,
  );
};

/** Turns what `selectByIds` found into items. */
export const presentSized = (list: List, { recordId, size, ...row }: Row): SizedItem => ({
  id: recordId,
  item: list.present(row),
  size,
});
