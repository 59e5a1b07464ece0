import { sql } from 'drizzle-orm';
import { type Database, jsonList, read } from '../platform/db/database.ts';
import { asCaller, type Caller, notBeingDeleted } from '../platform/db/guard.ts';
import { selected, sizeOf } from '../platform/db/pages.ts';
import { bucketOf } from './archive/bucket.ts';
import { connections } from './lists/connections.ts';
import { drivers } from './lists/drivers.ts';
import type { List } from './lists/list.ts';
import { trips } from './lists/trips.ts';
import { vehicles } from './lists/vehicles.ts';
import { readList } from './service.ts';

/**
 * Finds an item of a list by id: a row of D1. Archived items are found by their time in the list's order, in
 * milliseconds since 1970.
 *
 * @throws Refusal: unauthenticated, forbidden
 */
export async function findItem<T>(
  env: Env,
  caller: Caller,
  list: List<T>,
  id: string,
  at?: number,
): Promise<T | undefined> {
  const [[row]] = await asCaller(env, caller, (db) => [selectByIds(db, caller, list, [id])]);
  if (row) return list.present(row);
  // Nothing of the future is archived.
  const isArchived = list.archive && bucketOf(env) && at !== undefined && at <= Date.now();
  return isArchived ? findAt(env, caller, list, id, at) : undefined;
}

/** Finds an item by its time, among the first 500 of that millisecond. */
async function findAt<T>(env: Env, caller: Caller, list: List<T>, id: string, at: number) {
  const [from, to] = [at, at + 1].map((time) => new Date(time).toISOString());
  const { items } = await readList(env, caller, list, {
    connectionId: undefined,
    query: { from: [from ?? ''], to: [to ?? ''], limit: ['500'] },
  });
  return items.find((item) => (item as { [key: string]: unknown })[list.id] === id); // an item of the list
}

/** The ids of what a record refers to. */
export type References = {
  connectionId: string;
  vehicleId?: string | null;
  driverId?: string | null;
  tripId?: string | null;
};

/** What a record refers to, as its lists show it, in one round trip; undefined for what D1 does not have. */
export async function findReferences(env: Env, caller: Caller, ids: References) {
  const one = (id: string | null | undefined) => (id ? [id] : []);
  const [[connection], [vehicle], [driver], [trip]] = await asCaller(env, caller, (db) => [
    selectByIds(db, caller, connections.list, [ids.connectionId]),
    selectByIds(db, caller, vehicles.list, one(ids.vehicleId)),
    selectByIds(db, caller, drivers.list, one(ids.driverId)),
    selectByIds(db, caller, trips.list, one(ids.tripId)),
  ]);
  return {
    connection: connection && connections.list.present(connection),
    vehicle: vehicle && vehicles.list.present(vehicle),
    driver: driver && drivers.list.present(driver),
    trip: trip && trips.list.present(trip),
  };
}

/** An item as its list shows it, and its size as JSON. */
export type SizedItem = { id: string; item: unknown; size: number };

/** The items of a list with these ids. Reads a row for each. */
export const selectByIds = (
  db: Database,
  { accountId }: Caller,
  { table, columns, connection }: List,
  ids: string[],
) =>
  read<{ [key: string]: unknown }>(db)`select ${selected(columns)}
      from ${table} where ${table.id} in ${jsonList(ids)} and +${table.accountId} = ${accountId}
        and ${notBeingDeleted(connection)}`;

export const presentSized = (list: List, row: { [key: string]: unknown }): SizedItem => ({
  id: String(row[list.id]),
  size: sizeOf(row),
  item: list.present(row),
});

const tables = {
  event: 'safety_events',
  accident: 'accidents',
  vehicle: 'vehicles',
  driver: 'drivers',
  trip: 'trips',
} as const;

export type FoundKind = keyof typeof tables;

/**
 * The account's records in D1 with this id, usually one or none. Reads a row for each kind.
 *
 * @throws Refusal: unauthenticated, forbidden
 */
export async function findAny(env: Env, caller: Caller, id: string): Promise<FoundKind[]> {
  const each = Object.entries(tables).map(
    ([kind, table]) =>
      sql`select ${kind} as kind from ${sql.identifier(table)}
        where id = ${id} and account_id = ${caller.accountId} and ${notBeingDeleted(sql`connection_id`)}`,
  );
  const [found] = await asCaller(env, caller, (db) => [
    read<{ kind: FoundKind }>(db)`${sql.join(each, sql` union all `)}`,
  ]);
  return found.map(({ kind }) => kind);
}
