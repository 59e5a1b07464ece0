import { getTableColumns, getTableName, type SQL, sql } from 'drizzle-orm';
import { drivers } from '../fleet/lists/drivers.ts';
import type { Field, Referable } from '../fleet/lists/field.ts';
import { columnName } from '../fleet/lists/list.ts';
import type { Database, Statement } from '../platform/db/database.ts';
import type { AccountTable } from '../platform/db/schema/types.ts';

/** How to store records of a kind, and the parents that each must have. */
export type Keeper = Upsert & {
  parents: { key: string; kind: string; table: AccountTable }[];
  write: (db: Database, rows: KeptRow[]) => Statement<D1Result>;
};

type KeptRow = { id: string; createdAt: number };

/** What an upsert writes, and when. */
type Upsert = {
  table: AccountTable;
  columns: string[];
  /** Those of the columns that a row which is there keeps. */
  kept: string[];
  /** SQL for the values of these columns. */
  incoming: (rows: KeptRow[]) => SQL;
  /** SQL for whether a row of the table changes by one that is `excluded`. */
  differs: SQL;
};

/** Prepares to store records, with what they copy from parents. Skips rows without a parent. */
export function keeperOf({
  kind,
  table,
  fields,
}: Pick<Referable, 'kind' | 'table' | 'fields'>): Keeper {
  const all = Object.entries(fields);
  const parents = all.flatMap(([key, { refersTo, nullable }]) =>
    refersTo && !nullable ? [{ key, kind: refersTo.kind, table: refersTo.table }] : [],
  );
  const joins = parents.map(
    ({ key, kind, table }) =>
      `join ${getTableName(table)} "${kind}" on "${kind}".id = r.value->>'${key}'`,
  );
  const copies = all.flatMap(([key, { copyOf }]) =>
    copyOf ? [[columnName(key), `"${copyOf.resource.kind}".${columnName(copyOf.key)}`]] : [],
  );
  const upsert = upsertInto(table, {
    join: [...joins, ...(kind === drivers.kind ? [unlessErased] : [])].join(' '),
    from: Object.fromEntries([...copies, ...unlessErasedReferences(all)]),
    fixed: Object.fromEntries(
      all.flatMap(([key, { fixedBy }]) =>
        fixedBy ? [[columnName(key), columnName(fixedBy)]] : [],
      ),
    ),
  });
  return { parents, ...upsert };
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
  /** Columns that keep their first value, each while that of another column is the same. */
  fixed: { [column: string]: string };
};

/** Inserts or updates records by one statement: identical and older rows cost no write. */
function upsertInto(
  table: AccountTable,
  { from, join, fixed }: UpsertOptions,
): Upsert & Pick<Keeper, 'write'> {
  const all = Object.entries(getTableColumns(table)).map(([key, { name }]) => ({ key, name }));
  const target = getTableName(table);
  const columns = all.map(({ name }) => name);
  const kept = [...identity, ...Object.keys(fixed)];
  const values = all.map(({ key, name }) => from[name] ?? `r.value->>'${key}'`);
  const changing = columns.filter((name) => !kept.includes(name));
  const compared = changing.filter((name) => name !== 'updated_at');
  const qualified = (prefix: string) => compared.map((name) => `${prefix}.${name}`).join(', ');
  const [beforeRows, afterRows] = [
    sql.raw(`select ${values.join(', ')} from json_each(`),
    sql.raw(`) r ${join} where true`),
  ];
  const incoming = (rows: object[]) => sql`${beforeRows}${JSON.stringify(rows)}${afterRows}`;
  const differs = sql.raw(`(${qualified(target)}) is not (${qualified('excluded')})
      and (excluded.source_updated_at >= ${target}.source_updated_at
        or excluded.source_updated_at is null or ${target}.source_updated_at is null)`);
  const insert = sql.raw(`insert into ${target} (${columns.join(', ')})`);
  const changes = [
    ...changing.map((name) => `${name} = excluded.${name}`),
    ...Object.entries(fixed)
      .filter(([, by]) => by !== 'id')
      .map(
        ([name, by]) =>
          `${name} = iif(${target}.${by} = excluded.${by}, ${target}.${name}, excluded.${name})`,
      ),
  ];
  const update = sql.raw(`on conflict (id) do update set ${changes.join(', ')}`);
  const write = (db: Database, rows: object[]) =>
    // Set-based: any number of rows by one parameter.
    db.run(sql`
      ${insert}
      ${incoming(rows)}
      ${update}
      where ${differs}`);
  return { table, columns, kept, incoming, differs, write };
}
