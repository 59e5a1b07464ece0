import { and, eq, gte, inArray, lt, type SQLWrapper, sql } from 'drizzle-orm';
import { union } from 'drizzle-orm/sqlite-core';
import { drivers } from '../../core/fleet/lists/drivers.ts';
import type { List } from '../../core/fleet/lists/list.ts';
import { keyOf } from '../../core/fleet/lists/search-keys.ts';
import { vehicles } from '../../core/fleet/lists/vehicles.ts';
import { vinOf } from '../../core/fleet/lists/vin.ts';
import { type Database, jsonList } from '../../core/platform/db/database.ts';
import { asCaller, type Caller, notBeingDeleted } from '../../core/platform/db/guard.ts';
import { selected } from '../../core/platform/db/pages.ts';
import * as stored from '../../core/platform/db/schema/fleet.ts';
import { type Matched, maxMatches, type Typed } from '../../ui/added.ts';
import { names } from './tables.ts';

const kinds = { vehicle: vehicles.list, driver: drivers.list };

type Kinds = typeof kinds;
/** A vehicle or driver, with the name of its connection. */
export type NamedItem<K extends keyof Kinds> = ReturnType<Kinds[K]['present']> & {
  connectionName: string;
};

/** Reads vehicles or drivers by name, after the one with the id `after`. About four rows each. */
export async function listByName<K extends keyof Kinds>(
  env: Env,
  caller: Caller,
  kind: K,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<{ items: NamedItem<K>[]; next?: string }> {
  const list: List = kinds[kind];
  const position = sql`(coalesce((
    select search_keys->>0 from ${list.table}
    where id = ${after} and +account_id = ${caller.accountId}), ''), ${after})`;
  const which = and(
    eq(names.accountId, caller.accountId),
    eq(names.kind, kind),
    after === undefined ? undefined : sql`(${names.name}, ${names.id}) > ${position}`,
  );
  const rows = await asCaller(env, caller, (db) => {
    const ids = db.select({ id: names.id }).from(names).where(which);
    const some = ids.orderBy(names.name, names.id).limit(limit + 1);
    return selectItems(db, caller, list, some);
  });
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { items: present<K>(list, rows.slice(0, limit)), ...(last && { next: String(last.id) }) };
}

/** The vehicles or drivers with these ids. */
export async function listByIds<K extends keyof Kinds>(
  env: Env,
  caller: Caller,
  kind: K,
  ids: string[],
): Promise<NamedItem<K>[]> {
  const list: List = kinds[kind];
  const rows = await asCaller(env, caller, (db) => selectItems(db, caller, list, jsonList(ids)));
  return present<K>(list, rows);
}

/**
 * Finds vehicles and drivers by the start of a word of the name or a plate, or by VIN. Case, accents, spaces
 * and punctuation do not count. Returns at most `limit` and one more of each, by name.
 */
export async function findByName(
  env: Env,
  caller: Caller,
  text: string,
  limit: number,
): Promise<{ [K in keyof Kinds]: NamedItem<K>[] }> {
  const most = limit + 1;
  const found = await asCaller(env, caller, (db) => {
    const meant = vehiclesMeantBy(db, caller, text, most).limit(3 * most);
    const named = startingWith(db, caller, 'driver', text, most);
    return {
      vehicles: selectItems(db, caller, kinds.vehicle, meant),
      drivers: selectItems(db, caller, kinds.driver, named),
    };
  });
  return {
    vehicle: present<'vehicle'>(kinds.vehicle, found.vehicles).slice(0, most),
    driver: present<'driver'>(kinds.driver, found.drivers).slice(0, most),
  };
}

/** The items with these ids, in alphabetical order. */
const selectItems = (
  db: Database,
  { accountId }: Caller,
  { table, columns, connection }: List,
  ids: SQLWrapper,
) =>
  // Raw as in pages of lists: fields read what D1 stores, in a table known only at run time.
  db.all<{ [key: string]: unknown }>(sql`
    select ${selected(columns)},
      (select coalesce(name, tsp) from connections where id = connection_id) as "connectionName"
    from ${table}
    where id in ${ids} and +account_id = ${accountId} and ${notBeingDeleted(connection)}
    order by search_keys->>0, id`);

const present = <K extends keyof Kinds>(list: List, rows: { [key: string]: unknown }[]) =>
  rows.map((row) => list.present(row) as NamedItem<K>); // by this kind's own list, which keeps what else a row has

/** Finds at most 100 vehicles and drivers that match everything typed, also by id. */
export async function matchFleet(
  env: Env,
  caller: Caller,
  { vehicle, vin, driver }: Typed,
): Promise<Matched> {
  if (!vehicle && !vin && !driver) return {};
  const { vehicles, drivers } = await asCaller(env, caller, (db) => {
    const meant = vehicle && vehiclesMeantBy(db, caller, vehicle, maxMatches);
    const named = driver && startingWith(db, caller, 'driver', driver, maxMatches);
    return {
      vehicles: selectMatches(db, caller, stored.vehicles, [
        meant && sql`(${meant.getSQL()} union select ${vehicle})`,
        vin && withVin(db, caller, vin),
      ]),
      drivers: selectMatches(db, caller, stored.drivers, [
        named && sql`(${named.getSQL()} union select ${driver})`,
      ]),
    };
  });
  return { ...((vehicle || vin) && { vehicles }), ...(driver && { drivers }) };
}

/** The items that are among all of these ids; none without a condition. */
function selectMatches(
  db: Database,
  { accountId }: Caller,
  table: typeof stored.vehicles | typeof stored.drivers,
  wanted: (SQLWrapper | '' | undefined)[],
) {
  const among = wanted.flatMap((ids) => (ids ? [inArray(table.id, ids)] : []));
  return db
    .select({ id: table.id, name: table.name })
    .from(table)
    .where(and(and(...among) ?? sql`false`, sql`+${table.accountId} = ${accountId}`))
    .orderBy(table.name, table.id)
    .limit(maxMatches);
}

const vehiclesMeantBy = (db: Database, caller: Caller, text: string, most: number) =>
  startingWith(db, caller, 'vehicle', text, most).union(withVin(db, caller, text));

/** The ids with a key that begins with a text: as many for the whole name as for further words. */
function startingWith(
  db: Database,
  { accountId }: Caller,
  kind: keyof Kinds,
  text: string,
  most: number,
) {
  const key = keyOf(text);
  const begins = and(gte(names.name, key), lt(names.name, `${key}\u{10ffff}`));
  const among = (keys: keyof Kinds | `${keyof Kinds} word`) => {
    const some = db
      .select({ id: names.id })
      .from(names)
      .where(and(eq(names.accountId, accountId), eq(names.kind, keys), begins))
      .orderBy(names.name)
      .limit(most)
      .as('some');
    return db.select({ id: some.id }).from(some);
  };
  return union(among(kind), among(`${kind} word`));
}

const maxSameVin = 1000;

function withVin(db: Database, { accountId }: Caller, vin: string) {
  const { vehicles } = stored;
  const same = db
    .select({ id: vehicles.id })
    .from(vehicles)
    .where(and(eq(vehicles.accountId, accountId), eq(vehicles.vin, vinOf(vin))))
    .limit(maxSameVin)
    .as('same');
  return db.select({ id: same.id }).from(same);
}
