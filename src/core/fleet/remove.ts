import {
  and,
  eq,
  exists,
  getTableName,
  inArray,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm';
import { deletedAccountId, wrongName } from '../accounts/accounts.ts';
import { audit } from '../accounts/audit/write.ts';
import {
  type Database,
  refuseUnless,
  type Statement,
  withoutText,
} from '../platform/db/database.ts';
import type { Caller } from '../platform/db/guard.ts';
import { hasIdIn } from '../platform/db/has-id.ts';
import { connections } from '../platform/db/schema/accounts.ts';
import { drivers, safetyEvents } from '../platform/db/schema/fleet.ts';
import { untilNone } from '../platform/jobs/chunks.ts';
import { drivers as driverRecords } from './lists/drivers.ts';
import { columnName } from './lists/list.ts';
import { type Kind, recordKinds } from './lists/registry.ts';

/** How many records of each kind a chunk changes: each has several index entries. */
const perKind = 300;

/** Statements to run before records of a kind change. `ids` is a query in parentheses with a column `id`. */
export type Alongside = (db: Database, kind: Kind, ids: SQLWrapper) => Statement<D1Result>[];

/** Deletes records of a connection. */
export function removeRecords(
  db: Database,
  connectionId: string,
  alongside: Alongside,
): Promise<string | undefined> {
  const statements = recordKinds.flatMap(({ kind, table: records }) => {
    const byConnection = sql.identifier(`${getTableName(records)}_by_connection`);
    const isOf = hasIdIn(getTableName(records), sql`connection_id`, sql`${connectionId}`);
    // It names the index.
    const ids = sql`(
      select id from ${records} indexed by ${byConnection} where ${isOf} limit ${perKind})`;
    return [...alongside(db, kind, ids), db.delete(records).where(inArray(records.id, ids))];
  });
  return untilNone(db, statements);
}

/** The statement that removes an address in lower case from the events `keys`. */
export function eraseRecipient(db: Database, keys: SQL, email: string) {
  const { id, recipients } = safetyEvents;
  return db
    .update(safetyEvents)
    .set({ recipients: withoutText(sql`${recipients}`, email) })
    .where(and(inArray(id, keys), sql`instr(lower(${recipients}), ${email}) > 0`));
}

/** The columns that refer to a driver, each with an index. */
const references = recordKinds.flatMap(({ kind, table, fields }) =>
  Object.entries(fields).flatMap(([key, { refersTo }]) =>
    refersTo?.kind === driverRecords.kind
      ? [{ kind, table, key, isNamed: 'driverName' in table }]
      : [],
  ),
);

/** Removes a driver from the records that refer to them, which count as changed now. */
export function eraseReferences(
  db: Database,
  driverId: string,
  alongside: Alongside,
): Promise<string | undefined> {
  const statements = references.flatMap(({ kind, table: records, key, isNamed }) => {
    const column = sql.identifier(columnName(key));
    const refers = hasIdIn(getTableName(records), sql`${column}`, sql`${driverId}`);
    const ids = db.select({ id: records.id }).from(records).where(refers).limit(perKind);
    const changes = { [key]: null, ...(isNamed && { driverName: null }), updatedAt: Date.now() };
    return [
      ...alongside(db, kind, ids),
      db.update(records).set(changes).where(inArray(records.id, ids)),
    ];
  });
  return untilNone(db, statements);
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
