import { getTableColumns, getTableName, type SQL, sql } from 'drizzle-orm';
import { drivers } from '../fleet/lists/drivers.ts';
import type { Field, Referable } from '../fleet/lists/field.ts';
import { columnName } from '../fleet/lists/list.ts';
import { type Database, type Write, write } from '../platform/db/database.ts';
import type { AccountTable } from '../platform/db/tables.ts';

/** How to store records of a kind, and the parents that each must have. */
export type Keeper = {
  parents: { key: string; kind: string; table: AccountTable }[];
  write: (db: Database, rows: { id: string; createdAt: number }[]) => Write;
  /** SQL for the places of those rows, just written, that deserve the warning, as JSON. */
  warning?: { field: string; message: string; among: (rows: { id: string }[]) => SQL };
};

/** Prepares to store records, with what they copy from parents. Skips rows without a parent. */
export function keeperOf({ kind, table, fields }: Pick<Referable, 'kind' | 'table' | 'fields'>): Keeper {
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
    from: Object.fromEntries([...copies, ...unlessErasedReferences(all)]),
    fixed: all.flatMap(([key, { fixed }]) => (fixed ? [columnName(key)] : [])),
  });
  return { parents, write };
}

/** An erased driver is not stored again. */
const unlessErased = `join (select 1) on r.value->>'id' not in (select id from erased_drivers)`;

/** Nor does anything refer to one again: `in` reads no row where it finds none. */
const unlessErasedReferences = (fields: [string, Field][]) =>
  fields.flatMap(([key, { refersTo }]) => {
    const value = `r.value->>'${key}'`;
    const kept = `iif(${value} in (select id from erased_drivers), null, ${value})`;
    return refersTo?.kind === drivers.kind ? [[columnName(key), kept]] : [];
  });

/** SQL for those of the ids that the table does not have, as JSON. */
export const missingAmong = (table: AccountTable, ids: unknown[]): SQL => sql`json((
  select json_group_array(value) from json_each(${JSON.stringify(ids)}) wanted
  where not exists (select 1 from ${table} t where t.id = wanted.value)))`;

/** The columns that identify a row; they never change. */
const identity = ['id', 'account_id', 'connection_id', 'source_id', 'created_at'];

/** What an upsert takes from elsewhere, as SQL in which `r.value` is a row's JSON. */
type UpsertOptions = {
  /** Where the values of columns come from, by the columns' names. */
  from: { [column: string]: string };
  /** The joins for these sources. A row that joins nothing is skipped. */
  join: string;
  /** Columns that keep their first value. */
  fixed: string[];
};

/** Inserts or updates records by one statement: identical and older rows cost no write. */
function upsertInto(table: AccountTable, { from, join, fixed }: UpsertOptions) {
  const columns = Object.entries(getTableColumns(table)).map(([key, { name }]) => ({ key, name }));
  const target = getTableName(table);
  const names = columns.map(({ name }) => name);
  const values = columns.map(({ key, name }) => from[name] ?? `r.value->>'${key}'`);
  const changing = names.filter((name) => ![...identity, ...fixed].includes(name));
  const compared = changing.filter((name) => name !== 'updated_at');
  const qualified = (prefix: string) => compared.map((name) => `${prefix}.${name}`).join(', ');
  const insert = `
    insert into ${target} (${names.join(', ')})
    select ${values.join(', ')} from json_each(`;
  const update = `) r ${join} where true
    on conflict (id) do update set ${changing.map((name) => `${name} = excluded.${name}`).join(', ')}
    where (${qualified(target)}) is not (${qualified('excluded')})
      and (excluded.source_updated_at >= ${target}.source_updated_at
        or excluded.source_updated_at is null or ${target}.source_updated_at is null)`;
  return (db: Database, rows: object[]) =>
    write(db)`${sql.raw(insert)}${JSON.stringify(rows)}${sql.raw(update)}`;
}
