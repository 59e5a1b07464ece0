import { and, sql } from 'drizzle-orm';
import { validate as isUuid } from 'uuid';
import { type Database, jsonList } from '../platform/db/database.ts';
import { asCaller, type Caller, isWithin, notBeingDeleted } from '../platform/db/guard.ts';
import { selected } from '../platform/db/pages.ts';
import { Refusal } from '../platform/errors.ts';
import { connections } from './lists/connections.ts';
import { drivers } from './lists/drivers.ts';
import type { List } from './lists/list.ts';
import { trips } from './lists/trips.ts';
import { vehicles } from './lists/vehicles.ts';
import { hiddenFrom } from './service.ts';

/** Finds an item of a list by id in D1. */
export async function findItem<T>(
  env: Env,
  caller: Caller,
  list: List<T>,
  id: string,
): Promise<T | undefined> {
  const [row] = await asCaller(env, caller, (db) => selectByIds(db, caller, list, [id]));
  return row && list.present(row);
}

export const notFound = ({ singular }: Pick<List, 'singular'>) =>
  new Refusal({ kind: 'not found', what: singular });

/** The id of an item in a path, in lower case. @throws Refusal: not found, if it cannot be one */
export function idOf(list: Pick<List, 'singular'>, text = ''): string {
  if (!isUuid(text)) throw notFound(list);
  return text.toLowerCase();
}

/** The ids of what a record refers to. */
export type References = {
  connectionId: string;
  vehicleId?: string | null;
  driverId?: string | null;
  tripId?: string | null;
};

/** What a record refers to, as its lists show it; undefined for what D1 does not have. */
export async function findReferences(env: Env, caller: Caller, ids: References) {
  const found = await asCaller(env, caller, (db) => {
    const rows = (list: List, id: string | null | undefined) =>
      selectByIds(db, caller, list, id ? [id] : []);
    return {
      connection: rows(connections.list, ids.connectionId),
      vehicle: rows(vehicles.list, ids.vehicleId),
      driver: rows(drivers.list, ids.driverId),
      trip: rows(trips.list, ids.tripId),
    };
  });
  const one = <T>({ present }: List<T>, [row]: Row[]) => row && present(row);
  return {
    connection: one(connections.list, found.connection),
    vehicle: one(vehicles.list, found.vehicle),
    driver: one(drivers.list, found.driver),
    trip: one(trips.list, found.trip),
  };
}

type Row = { [key: string]: unknown };

/** The items of a list with these ids. Reads a row for each. */
export const selectByIds = (db: Database, caller: Caller, list: List, ids: string[]) => {
  const { table, columns, connection } = list;
  const own = sql`${table.id} in ${jsonList(ids)} and +${table.accountId} = ${caller.accountId}`;
  // Raw as in pages of lists: fields read what D1 stores, in a table known only at run time.
  return db.all<Row>(sql`
    select ${selected(columns, hiddenFrom(caller, list))} from ${table}
    where ${and(own, notBeingDeleted(connection), isWithin(caller, connection))}`);
};
