import { getTableName, type SQL } from 'drizzle-orm';
import { drivers } from '../fleet/lists/drivers.ts';
import type { Fields } from '../fleet/lists/field.ts';
import { columnName } from '../fleet/lists/list.ts';
import { type Database, read, type Write } from '../platform/db/database.ts';
import type { AccountTable } from '../platform/db/tables.ts';
import { upsertInto } from '../platform/db/upsert.ts';

/** How to store records of a kind, and the parents that each must have. */
export type Keeper = {
  parents: { key: string; kind: string; table: AccountTable }[];
  write: (db: Database, rows: { id: string; createdAt: number }[]) => Write;
  /** SQL for the places of those rows, just written, that deserve the warning, as JSON. */
  warning?: { field: string; message: string; among: (rows: { id: string }[]) => SQL };
};

/** Prepares to store records, with what they copy from parents. Skips rows without a parent. */
export function keeperOf({
  kind,
  table,
  fields,
}: {
  kind: string;
  table: AccountTable;
  fields: Fields;
}): Keeper {
  const all = Object.entries(fields);
  const parents = all.flatMap(([key, { refersTo, nullable }]) =>
    refersTo && !nullable ? [{ key, kind: refersTo.kind, table: refersTo.table }] : [],
  );
  const joins = parents.map(
    ({ key, kind, table }) => `join ${getTableName(table)} "${kind}" on "${kind}".id = r.value->>'${key}'`,
  );
  const copies = all.flatMap(([key, { copyOf }]) =>
    copyOf ? [[columnName(key), `"${copyOf.resource.kind}".${columnName(copyOf.key)}`]] : [],
  );
  const write = upsertInto(table, {
    join: [...joins, ...(kind === drivers.kind ? [unlessErased] : [])].join(' '),
    from: Object.fromEntries([...copies, ...unlessErasedReferences(fields)]),
    fixed: all.flatMap(([key, { fixed }]) => (fixed ? [columnName(key)] : [])),
  });
  return { parents, write };
}

/** An erased driver is not stored again. */
const unlessErased = `join (select 1) on r.value->>'id' not in (select id from erased_drivers)`;

/** Nor does anything refer to one again: `in` reads no row where it finds none. */
const unlessErasedReferences = (fields: Fields) =>
  Object.entries(fields).flatMap(([key, { refersTo }]) =>
    refersTo?.kind === drivers.kind
      ? [
          [
            columnName(key),
            `iif(r.value->>'${key}' in (select id from erased_drivers), null, r.value->>'${key}')`,
          ],
        ]
      : [],
  );

/** Which of these ids the table has, including those just written. */
export const knownIds = (db: Database, table: AccountTable, ids: string[]) =>
  read<{ id: string }>(db)`
    select t.id from json_each(${JSON.stringify(ids)}) wanted cross join ${table} t on t.id = wanted.value`;
