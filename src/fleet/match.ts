import { type SQL, sql } from 'drizzle-orm';
import { type Database, statement } from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';

/** What people type to say which vehicles and drivers they mean; an id is that of a link. */
export type Typed = { vehicle?: string; vin?: string; driver?: string };

/** What matches; undefined for what was not asked. */
export type Matched = { vehicles?: Match[]; drivers?: Match[] };
export type Match = { id: string; name: string };

/** More matches than this are not told apart from too many. */
export const maxMatches = 100;

/** How many accounts' vehicles with the same VIN are passed over. */
const maxSameVin = 1000;

/**
 * Finds the account's vehicles and drivers that match all that was typed: a vehicle by its id, name, licence plate or VIN,
 * a driver by id or name. Names and plates match from their beginning, in any case. Returns 100 of each at most, in one
 * round trip. All of it comes from index ranges.
 *
 * @throws Refusal: unauthenticated, forbidden
 */
export async function matchFleet(
  env: Env,
  caller: Caller,
  { vehicle, vin, driver }: Typed,
): Promise<Matched> {
  if (!vehicle && !vin && !driver) return {};
  const [vehicles, drivers] = await asCaller(env, caller, (db) => [
    matchVehicles(db, caller, vehicle, vin),
    matchDrivers(db, caller, driver),
  ]);
  return { ...((vehicle || vin) && { vehicles }), ...(driver && { drivers }) };
}

function matchVehicles(db: Database, caller: Caller, text: string | undefined, vin: string | undefined) {
  if (vin) return select(db, caller, 'vehicles', withVin(caller, vin), text && isMeantBy(text));
  if (!text) return nothing(db);
  const ids = sql`${startingWith(caller, 'vehicle', text)} union ${startingWith(caller, 'plate', text)}
    union ${withVin(caller, text)} union select ${text}`;
  return select(db, caller, 'vehicles', ids);
}

function matchDrivers(db: Database, caller: Caller, text: string | undefined) {
  if (!text) return nothing(db);
  return select(db, caller, 'drivers', sql`${startingWith(caller, 'driver', text)} union select ${text}`);
}

const nothing = (db: Database) => statement<Match>(db, sql`select null as id, null as name where 0`);

const select = (
  db: Database,
  { accountId }: Caller,
  table: 'vehicles' | 'drivers',
  ids: SQL,
  condition?: SQL | '' | undefined,
) =>
  statement<Match>(
    db,
    sql`select id, name from ${sql.raw(table)} where id in (${ids}) and +account_id = ${accountId}
      ${condition ? sql`and ${condition}` : sql.empty()} order by name, id limit ${maxMatches}`,
  );

const startingWith = ({ accountId }: Caller, kind: 'vehicle' | 'plate' | 'driver', text: string): SQL =>
  sql`select id from (select id from names where account_id = ${accountId} and kind = ${kind}
    and name >= ${text} and name < ${`${text}\u{10ffff}`} order by name limit ${maxMatches})`;

const withVin = ({ accountId }: Caller, vin: string): SQL =>
  sql`select id from (select id, account_id from vehicles where vin in (${vin}, ${vin.toUpperCase()})
    limit ${maxSameVin}) where account_id = ${accountId}`;

/** Whether a vehicle is one that a text names. `like` knows no other special characters than these. */
function isMeantBy(text: string): SQL {
  const beginning = `${text.replace(/[\\%_]/g, '\\$&')}%`;
  return sql`(id = ${text} or vin = ${text.toUpperCase()} or license_plate like ${beginning} escape '\\'
    or name like ${beginning} escape '\\')`;
}
