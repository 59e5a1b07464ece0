import { type SQL, sql } from 'drizzle-orm';
import { type Database, statement } from '../platform/db/database.ts';
import { asCaller, type Caller, connectionsBeingDeleted } from '../platform/db/guard.ts';
import { selected } from '../platform/db/pages.ts';
import { drivers } from './lists/drivers.ts';
import type { List } from './lists/list.ts';
import { vehicles } from './lists/vehicles.ts';

/** What has a name, by its kind in `names`. */
const kinds = { vehicle: vehicles.list, driver: drivers.list };

type Kinds = typeof kinds;
/** A vehicle or driver, with what people call its connection. */
export type NamedItem<K extends keyof Kinds> = ReturnType<Kinds[K]['present']> & { connectionName: string };

/**
 * Reads vehicles or drivers of the account by name, in the order of the alphabet: those that come after the one with the
 * id `after`, or the first ones. Reads about four rows for each, from an index range. Returns whether more follow.
 *
 * @throws Refusal: unauthenticated, forbidden
 */
export async function listByName<K extends keyof Kinds>(
  env: Env,
  caller: Caller,
  kind: K,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<{ items: NamedItem<K>[]; next?: string }> {
  const list: List = kinds[kind];
  const position = sql`(coalesce((select name from ${list.table} where id = ${after} and +account_id = ${caller.accountId}), ''), ${after})`;
  const ids = sql`select id from names where account_id = ${caller.accountId} and kind = ${kind}
    ${after === undefined ? sql.empty() : sql`and (name, id) > ${position}`} order by name, id limit ${limit + 1}`;
  const [leaving, rows] = await asCaller(env, caller, (db) => [
    connectionsBeingDeleted(db, caller),
    select(db, caller, list, ids),
  ]);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { items: present<K>(list, rows.slice(0, limit), leaving), ...(last && { next: String(last.id) }) };
}

/**
 * Finds the account's vehicles whose name or licence plate begins with `text`, whose VIN it is, and the drivers whose
 * name begins with it, in any case of the letters A to Z. Returns `limit` and one more of each at most, by name. All of
 * it comes from index ranges; other accounts' vehicles with the same VIN are passed over, 1,000 of them at most.
 *
 * @throws Refusal: unauthenticated, forbidden
 */
export async function findByName(env: Env, caller: Caller, text: string, limit: number) {
  const { accountId } = caller;
  const most = limit + 1;
  const starting = (kind: string) =>
    sql`select id from (select id from names where account_id = ${accountId} and kind = ${kind}
      and name >= ${text} and name < ${`${text}\u{10ffff}`} order by name limit ${most})`;
  const withVin = sql`select id from (select id, account_id from vehicles
    where vin in (${text}, ${text.toUpperCase()}) limit ${maxSameVin}) where account_id = ${accountId}`;
  const found = sql`${starting('vehicle')} union ${starting('plate')} union ${withVin}`;
  const [leaving, vehicleRows, driverRows] = await asCaller(env, caller, (db) => [
    connectionsBeingDeleted(db, caller),
    select(db, caller, kinds.vehicle, sql`${found} limit ${3 * most}`),
    select(db, caller, kinds.driver, starting('driver')),
  ]);
  return {
    vehicles: present<'vehicle'>(kinds.vehicle, vehicleRows, leaving).slice(0, most),
    drivers: present<'driver'>(kinds.driver, driverRows, leaving),
  };
}

const maxSameVin = 1000;

type Row = { [key: string]: unknown };

/** The items with these ids, in the order of the alphabet. */
const select = (db: Database, { accountId }: Caller, { table, columns }: List, ids: SQL) =>
  statement<Row>(
    db,
    sql`select ${selected(columns).columns},
        (select coalesce(name, tsp) from connections where id = connection_id) as "connectionName"
      from ${table} where id in (${ids}) and +account_id = ${accountId} order by name collate nocase, id`,
  );

/** Those of connections that are being deleted are the account's no more. */
const present = <K extends keyof Kinds>(list: List, rows: Row[], leaving: { id: string }[]) =>
  rows
    .filter(({ connectionId }) => leaving.every(({ id }) => id !== connectionId))
    .map((row) => list.present(row) as NamedItem<K>); // by this kind's own list, which keeps what else a row has
