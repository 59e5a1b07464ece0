import { type SQL, sql } from 'drizzle-orm';
import { type Database, read } from '../platform/db/database.ts';
import { asCaller, type Caller, notBeingDeleted } from '../platform/db/guard.ts';
import { selected } from '../platform/db/pages.ts';
import { drivers } from './lists/drivers.ts';
import type { List } from './lists/list.ts';
import { keyOf } from './lists/search-keys.ts';
import { vehicles } from './lists/vehicles.ts';
import { vinOf } from './lists/vin.ts';

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
  const ids = sql`select id from names where account_id = ${caller.accountId} and kind = ${kind}
    ${after === undefined ? undefined : sql`and (name, id) > ${position}`} order by name, id limit ${limit + 1}`;
  const rows = await asCaller(env, caller, (db) => selectItems(db, caller, list, ids));
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { items: present<K>(list, rows.slice(0, limit)), ...(last && { next: String(last.id) }) };
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
  const ids = vehiclesMeantBy(caller, text, most);
  const found = await asCaller(env, caller, (db) => ({
    vehicles: selectItems(db, caller, kinds.vehicle, sql`${ids} limit ${3 * most}`),
    drivers: selectItems(db, caller, kinds.driver, startingWith(caller, 'driver', text, most)),
  }));
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
  ids: SQL,
) =>
  read<{ [key: string]: unknown }>(db)`select ${selected(columns)},
        (select coalesce(name, tsp) from connections where id = connection_id) as "connectionName"
      from ${table} where id in (${ids}) and +account_id = ${accountId} and ${notBeingDeleted(connection)}
      order by search_keys->>0, id`;

const present = <K extends keyof Kinds>(list: List, rows: { [key: string]: unknown }[]) =>
  rows.map((row) => list.present(row) as NamedItem<K>); // by this kind's own list, which keeps what else a row has

/** What people type to find vehicles and drivers; an id comes from a link. */
export type Typed = { vehicle?: string; vin?: string; driver?: string };

/** The matches; undefined for what was not typed. */
export type Matched = { vehicles?: Match[]; drivers?: Match[] };
export type Match = { id: string; name: string };

export const maxMatches = 100;

/** Finds at most 100 vehicles and drivers that match everything typed, also by id. */
export async function matchFleet(
  env: Env,
  caller: Caller,
  { vehicle, vin, driver }: Typed,
): Promise<Matched> {
  if (!vehicle && !vin && !driver) return {};
  const meant =
    vehicle && sql`${vehiclesMeantBy(caller, vehicle, maxMatches)} union select ${vehicle}`;
  const named =
    driver && sql`${startingWith(caller, 'driver', driver, maxMatches)} union select ${driver}`;
  const { vehicles, drivers } = await asCaller(env, caller, (db) => ({
    vehicles: selectMatches(db, caller, 'vehicles', [meant, vin && withVin(caller, vin)]),
    drivers: selectMatches(db, caller, 'drivers', [named]),
  }));
  return { ...((vehicle || vin) && { vehicles }), ...(driver && { drivers }) };
}

/** The items that are among all of these ids; none without a condition. */
function selectMatches(
  db: Database,
  { accountId }: Caller,
  table: 'vehicles' | 'drivers',
  wanted: (SQL | '' | undefined)[],
) {
  const among = wanted.flatMap((ids) => (ids ? [sql`id in (${ids})`] : []));
  const condition = among.length > 0 ? sql.join(among, sql` and `) : sql`false`;
  return read<Match>(db)`
    select id, name from ${sql.identifier(table)} where ${condition} and +account_id = ${accountId}
    order by name, id limit ${maxMatches}`;
}

const vehiclesMeantBy = (caller: Caller, text: string, most: number): SQL =>
  sql`${startingWith(caller, 'vehicle', text, most)} union ${withVin(caller, text)}`;

/** The ids with a key that begins with a text: as many for the whole name as for further words. */
function startingWith({ accountId }: Caller, kind: keyof Kinds, text: string, most: number): SQL {
  const key = keyOf(text);
  const among = (keys: string) => sql`select id from (select id from names
    where account_id = ${accountId} and kind = ${keys} and name >= ${key} and name < ${`${key}\u{10ffff}`}
    order by name limit ${most})`;
  return sql`${among(kind)} union ${among(`${kind} word`)}`;
}

const maxSameVin = 1000;

const withVin = ({ accountId }: Caller, vin: string): SQL =>
  sql`select id from (select id from vehicles where account_id = ${accountId}
    and vin = ${vinOf(vin)} limit ${maxSameVin})`;
