import { and, inArray, sql } from 'drizzle-orm';
import { accidentsByState } from '../../core/fleet/lists/accidents.ts';
import type { List } from '../../core/fleet/lists/list.ts';
import { safetyEvents } from '../../core/fleet/lists/safety-events.ts';
import { trips } from '../../core/fleet/lists/trips.ts';
import { type ListRequest, type ReadPage, readList } from '../../core/fleet/service.ts';
import { jsonList } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import * as stored from '../../core/platform/db/schema/fleet.ts';
import { timestamp } from '../../core/platform/fields.ts';

/** References by id, such as `driverId`, that get a name, such as `driverName`. */
type Named = 'driver' | 'vehicle';

/** An item with the names of its driver or vehicle; null if unknown. */
export type NamedOf<T> = T & { [name in Named as `${name}Name`]?: string | null };

export type NamedList<T> = List<NamedOf<T>> & { names: Named[] };

export const eventsWithDrivers = named(safetyEvents.list, 'driver');
export const tripsWithNames = named(trips.list, 'vehicle', 'driver');
export const accidentsWithVehicles = named(accidentsByState, 'vehicle');

export type NamedEvent = ReturnType<typeof eventsWithDrivers.present>;
export type NamedTrip = ReturnType<typeof tripsWithNames.present>;
export type Accident = ReturnType<typeof accidentsWithVehicles.present>;

function named<T>(list: List<T>, ...names: Named[]): NamedList<T> {
  const also = names.map(
    (name) => `(select name from ${name}s where id = "${name}Id") as "${name}Name"`,
  );
  return { ...list, also: sql.raw(also.join(', ')), names } as NamedList<T>; // what presents a row keeps all that it has
}

/** Reads one page of a list with names, as `readList` does. Archived items need extra look-ups. */
export async function readNamed<T extends object>(
  env: Env,
  caller: Caller,
  readPage: ReadPage,
  list: NamedList<T>,
  request: ListRequest,
) {
  const page = await readList(env, caller, list, request, readPage);
  for (const name of list.names) {
    const [id, as] = [`${name}Id`, `${name}Name`];
    const unnamed = (page.items as { [key: string]: unknown }[]).filter(
      (item) => item[id] && !(as in item),
    ); // rows
    if (unnamed.length === 0) continue;
    const found = await namesOf(env, caller, name, [
      ...new Set(unnamed.map((item) => String(item[id]))),
    ]);
    for (const item of unnamed) item[as] = found.get(item[id]) ?? null;
  }
  return page;
}

/** A time (milliseconds since 1970) for a list's query, limited to 1970 to 9999. */
export const listTime = (at: number): string =>
  timestamp(Math.min(Math.max(at, 0), Date.UTC(10_000, 0, 1) - 1));

/** The first or the newest records of vehicles or drivers that began in a time span. */
export async function readWithin<T extends object>(
  env: Env,
  caller: Caller,
  readPage: ReadPage,
  list: NamedList<T>,
  within: {
    of: Named;
    ids: string[];
    from: number;
    to: number;
    limit: number;
    descending?: boolean;
  },
) {
  const { of, ids, from, to, limit, descending = false } = within;
  const query = {
    [`${of}Ids`]: ids,
    from: [listTime(from)],
    to: [listTime(to)],
    limit: [String(limit)],
  };
  const request = { connectionId: undefined, query, descending };
  return (await readNamed(env, caller, readPage, list, request)).items;
}

async function namesOf(env: Env, caller: Caller, of: Named, ids: string[]) {
  const table = of === 'driver' ? stored.drivers : stored.vehicles;
  const own = and(inArray(table.id, jsonList(ids)), sql`+${table.accountId} = ${caller.accountId}`);
  const rows = await asCaller(env, caller, (db) =>
    db.select({ id: table.id, name: table.name }).from(table).where(own),
  );
  return new Map<unknown, string>(rows.map(({ id, name }) => [id, name]));
}
