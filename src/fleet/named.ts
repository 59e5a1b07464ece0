import { sql } from 'drizzle-orm';
import { jsonList, statement } from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { accidentsByState } from './lists/accidents.ts';
import type { List } from './lists/list.ts';
import { safetyEvents } from './lists/safety-events.ts';
import { trips } from './lists/trips.ts';
import { type ListRequest, readList } from './service.ts';

/** Which key of an item refers to what, and the key under which the name of that is shown. */
type Naming<A extends string> = { key: string; of: 'drivers' | 'vehicles'; as: A };

/** A list whose items also say what people call the driver or vehicle that they refer to; null if it is unknown. */
export type NamedList<T, A extends string> = List<T & { [name in A]?: string | null }> & {
  naming: Naming<A>;
};

/** Lists as the portal shows them. */
export const eventsWithDrivers = named(safetyEvents.list, {
  key: 'driverId',
  of: 'drivers',
  as: 'driverName',
});
export const tripsWithDrivers = named(trips.list, { key: 'driverId', of: 'drivers', as: 'driverName' });
export const tripsWithVehicles = named(trips.list, { key: 'vehicleId', of: 'vehicles', as: 'vehicleName' });
export const accidentsWithVehicles = named(accidentsByState, {
  key: 'vehicleId',
  of: 'vehicles',
  as: 'vehicleName',
});

export type NamedEvent = ReturnType<typeof eventsWithDrivers.present>;

function named<T, A extends string>(list: List<T>, naming: Naming<A>): NamedList<T, A> {
  const { key, of, as } = naming;
  const also = sql.raw(`(select name from ${of} where id = "${key}") as "${as}"`);
  return { ...list, also, naming } as NamedList<T, A>; // what presents a row keeps all that it has
}

/**
 * Reads one page of a list with names, as `readList` does. Those of items from the archive take a look-up of their own.
 *
 * @throws Refusal: invalid, naming the parameter; unauthenticated; forbidden
 */
export async function readNamed<T extends object, A extends string>(
  env: Env,
  caller: Caller,
  list: NamedList<T, A>,
  request: ListRequest,
) {
  const page = await readList(env, caller, list, request);
  const { key, of, as } = list.naming;
  const unnamed = (page.items as { [key: string]: unknown }[]).filter((item) => item[key] && !(as in item)); // rows
  if (unnamed.length === 0) return page;
  const ids = [...new Set(unnamed.map((item) => String(item[key])))];
  const names = await namesOf(env, caller, of, ids);
  for (const item of unnamed) item[as] = names.get(item[key]) ?? null;
  return page;
}

/** What people call the drivers or vehicles with these ids. */
export async function namesOf(env: Env, caller: Caller, of: 'drivers' | 'vehicles', ids: string[]) {
  const [rows] = await asCaller(env, caller, (db) => [
    statement<{ id: string; name: string }>(db)`select id, name from ${sql.raw(of)}
            where id in ${jsonList(ids)} and +account_id = ${caller.accountId}`,
  ]);
  return new Map<unknown, string>(rows.map(({ id, name }) => [id, name]));
}
