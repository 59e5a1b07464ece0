import { and, eq, exists, getTableName, type SQL, sql } from 'drizzle-orm';
import { deletedAccountId, wrongName } from '../accounts/accounts.ts';
import { audit } from '../accounts/audit/write.ts';
import { type Database, refuseUnless, withoutText } from '../platform/db/database.ts';
import type { Caller } from '../platform/db/guard.ts';
import { hasIdIn } from '../platform/db/has-id.ts';
import { connections } from '../platform/db/schema/accounts.ts';
import { drivers } from '../platform/db/schema/fleet.ts';
import { untilNone } from '../platform/jobs/chunks.ts';
import { drivers as driverRecords } from './lists/drivers.ts';
import { columnName } from './lists/list.ts';
import { type Kind, recordKinds } from './lists/registry.ts';

/** How many records of each kind a chunk changes: each has several index entries. */
const perKind = 300;

/** Statements to run before records of a kind change. `ids` is a query with a column `id`. */
export type Alongside = (kind: Kind, ids: SQL) => SQL[];

/** Deletes records of a connection. */
export function removeRecords(
  db: Database,
  connectionId: string,
  alongside: Alongside,
): Promise<string | undefined> {
  const statements = recordKinds.flatMap(({ kind, table }) => {
    const id = sql.identifier(table.id.name);
    const byConnection = sql.identifier(`${getTableName(table)}_by_connection`);
    const ids = sql`select ${id} as id from ${table} indexed by ${byConnection}
      where ${hasIdIn(getTableName(table), sql`connection_id`, sql`${connectionId}`)} limit ${perKind}`;
    return [...alongside(kind, ids), sql`delete from ${table} where ${id} in (${ids})`];
  });
  return untilNone(
    db,
    statements.map((one) => db.run(one)),
  );
}

/** Removes an address in lower case from the events `keys`. */
export const eraseRecipient = (db: Database, keys: SQL, email: string) =>
  db.run(sql`
    update safety_events set recipients = ${withoutText(sql`recipients`, email)}
    where id in ${keys} and instr(lower(recipients), ${email}) > 0`);

/** The columns that refer to a driver, each with an index. */
const references = recordKinds.flatMap(({ kind, table, fields }) =>
  Object.entries(fields).flatMap(([key, { refersTo }]) =>
    refersTo?.kind === driverRecords.kind
      ? [{ kind, table, column: sql.identifier(columnName(key)), isNamed: 'driverName' in table }]
      : [],
  ),
);

/** Removes a driver from the records that refer to them, which count as changed now. */
export function eraseReferences(
  db: Database,
  driverId: string,
  alongside: Alongside,
): Promise<string | undefined> {
  const statements = references.flatMap(({ kind, table, column, isNamed }) => {
    const id = sql.identifier(table.id.name);
    const refers = hasIdIn(getTableName(table), sql`${column}`, sql`${driverId}`);
    const ids = sql`select ${id} as id from ${table} where ${refers} limit ${perKind}`;
    return [
      ...alongside(kind, ids),
      sql`update ${table} set ${column} = null${isNamed ? sql`, driver_name = null` : undefined},
        updated_at = ${Date.now()} where ${id} in (${ids})`,
    ];
  });
  return untilNone(
    db,
    statements.map((one) => db.run(one)),
  );
}

export const deleteDriverRow = (db: Database, accountId: string, id: string) =>
  db.delete(drivers).where(and(eq(drivers.id, id), eq(drivers.accountId, accountId)));

/** The statements that take a connection with this name from its account. */
export const takeConnection = (db: Database, caller: Caller, id: string, name: string) => {
  const own = and(eq(connections.id, id), eq(connections.accountId, caller.accountId));
  const called = sql`coalesce(${connections.name}, ${connections.tsp})`;
  const named = db.select({ id: connections.id }).from(connections);
  return [
    refuseUnless(db, exists(named.where(and(own, eq(called, name)))), wrongName),
    audit(db, caller, 'deleted', 'connections', id),
    db.update(connections).set({ accountId: deletedAccountId, externalId: null }).where(own),
  ] as const;
};

/** The statement that deletes a connection's row, once nothing refers to it. */
export const deleteConnectionRow = (db: Database, id: string) =>
  db.delete(connections).where(eq(connections.id, id));
