import { getTableName, type SQL, sql } from 'drizzle-orm';
import { change, type Database, openDatabase } from '../platform/db/database.ts';
import { type Remover, untilNone } from '../platform/jobs/chunks.ts';
import { drivers } from './lists/drivers.ts';
import { columnName } from './lists/list.ts';
import { recordKinds } from './lists/registry.ts';

/** How many records of each kind a chunk changes at most: each has several index entries. */
const perKind = 300;

/** Every kind of record that a table keeps. */
const kept = recordKinds.flatMap((resource) => ('table' in resource ? [resource] : []));

/**
 * Statements that others run in the transaction that changes records of a kind, ahead of it. `ids` is a query with a
 * column `id`: which records.
 */
export type Alongside = (kind: (typeof kept)[number]['kind'], ids: SQL) => SQL[];

const nothing: Alongside = () => [];

/** Deletes records of a connection. */
export function removeRecords(
  env: Env,
  connectionId: string,
  alongside = nothing,
): Promise<string | undefined> {
  const [first, ...others] = kept.flatMap(({ kind, table }) => {
    const id = sql.raw(table.id.name);
    const byConnection = sql.raw(`${getTableName(table)}_by_connection`);
    const ids = sql`select ${id} as id from ${table} indexed by ${byConnection}
      where connection_id = ${connectionId} limit ${perKind}`;
    return [...alongside(kind, ids), sql`delete from ${table} where ${id} in (${ids})`];
  });
  return first ? untilNone(openDatabase(env), [first, ...others]) : Promise.resolve(undefined);
}

/** The columns that name a driver. An index leads to a driver's rows by each. */
const references = kept.flatMap(({ kind, table, fields }) =>
  Object.entries(fields).flatMap(([key, { refersTo }]) =>
    refersTo?.kind === drivers.kind ? [{ kind, table, column: sql.raw(columnName(key)) }] : [],
  ),
);

/** Takes a driver from the records that name them, which count as changed now. */
export const eraseReferences =
  (driverId: string, alongside = nothing): Remover =>
  async (env) => {
    const [first, ...others] = references.flatMap(({ kind, table, column }) => {
      const id = sql.raw(table.id.name);
      const ids = sql`select ${id} as id from ${table} where ${column} = ${driverId} limit ${perKind}`;
      return [
        ...alongside(kind, ids),
        sql`update ${table} set ${column} = null, updated_at = ${Date.now()} where ${id} in (${ids})`,
      ];
    });
    return first ? untilNone(openDatabase(env), [first, ...others]) : undefined;
  };

/** The statement that deletes a driver's row, and no more. */
export const deleteDriverRow = (db: Database, accountId: string, id: string) =>
  change(db, sql`delete from drivers where id = ${id} and account_id = ${accountId}`);
