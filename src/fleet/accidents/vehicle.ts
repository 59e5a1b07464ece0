import { type SQL, sql } from 'drizzle-orm';
import { type Caller, isWithin } from '../../platform/db/guard.ts';
import { isBehind } from './notified.ts';

/*
 * Which vehicle an accident is of, as SQL, for webhooks' filters and the accident's row. `a` is its
 * row so far, or null; `record` is JSON, in which vehicleId is the vehicle that it names.
 */

/** How many vehicles of an account with the same VIN are read to choose one: the newest. */
export const maxVehicles = 50;

type Owner = { accountId: SQL; connectionId: SQL };

/**
 * The condition that a caller may see an accident's vehicle, by its id: found by its VIN, it may be of a connection that
 * their token does not have. Undefined for those who see all.
 */
export function isSeenBy(caller: Caller, vehicleId: SQL): SQL | undefined {
  const within = isWithin(caller, sql`seen.connection_id`);
  return (
    within && sql`exists (select 1 from vehicles seen where seen.id = ${vehicleId} and ${within})`
  );
}

/** SQL for whether a webhook covers the connection of the vehicle `v`. */
export const isCoveredBy = (webhookId: SQL): SQL =>
  sql`exists (select 1 from webhook_connections where webhook_id = ${webhookId} and connection_id = v.connection_id)`;

/** The accident's VIN after this record: that of the newest version that has one. */
export const vinAfter = (record: SQL): SQL =>
  sql`iif(${record}->>'vin' = '' or (${isBehind(record)} and a.vin <> ''), coalesce(a.vin, ''), ${record}->>'vin')`;

/** The id of the vehicle that the newest version with one names. */
export const namedAfter = (record: SQL): SQL =>
  sql`iif(${isBehind(record)}, coalesce(a.named_vehicle_id, ${record}->>'vehicleId'),
    coalesce(${record}->>'vehicleId', a.named_vehicle_id))`;

/** Whether its vehicle stays, which is decided at each level and with each VIN. */
export const isDecided = (record: SQL): SQL =>
  sql`(a.vehicle_id is not null and a.vin = ${vinAfter(record)} and a.named_vehicle_id is ${namedAfter(record)}
    and exists (select 1 from json_each(a.levels) where value->>'notificationLevel' = ${record}->>'notificationLevel'))`;

/** The id of its vehicle after this record; null if none is known. */
export const vehicleIdAfter = (record: SQL, owner: Owner): SQL =>
  sql`iif(${isDecided(record)}, a.vehicle_id,
    ${vehicleOf({ ...owner, named: namedAfter(record), vin: vinAfter(record) }, sql`id`)})`;

/** The vehicle that is named, otherwise of the VIN: active, of the connection, newest; or null. */
export const vehicleOf = (
  { accountId, connectionId, named, vin }: Owner & { named: SQL; vin: SQL },
  what: SQL,
): SQL => sql`coalesce(
  (select ${what} from vehicles where id = ${named} and +account_id = ${accountId}),
  (select iif(${isUnclear(accountId)}, null, ${what}) from (
    select * from (${withVin(accountId, vin)})
    order by status = 'active' desc, connection_id = ${connectionId} desc, created_at desc, id desc limit 1) v))`;

/** SQL for the VIN that an accident has afterwards, or else its vehicle's; empty if neither is known. */
export const knownVinAfter = (record: SQL, owner: Owner): SQL =>
  sql`coalesce(nullif(${vinAfter(record)}, ''),
    (select vin from vehicles where id = ${vehicleIdAfter(record, owner)}), '')`;

/** SQL for the places in `rows`, as JSON, of accidents that several vehicles could be meant by. */
export const unclearAmong = (rows: { id: string }[]): SQL => sql`(
  select json_group_array(r.key) from json_each(${JSON.stringify(rows.map(({ id }) => id))}) r
  cross join accidents a on a.id = r.value and a.vehicle_id is null
  where exists (
    select 1 from (${withVin(sql`a.account_id`, sql`a.vin`)}) v where ${isUnclear(sql`a.account_id`)}))`;

/** SQL for the vehicles of an account with a VIN, as far as they are read. */
export const withVin = (accountId: SQL, vin: SQL, vehicles = sql`vehicles`): SQL => sql`
  select * from ${vehicles} where account_id = ${accountId} and vin = ${vin}
  order by created_at desc, id desc limit ${maxVehicles}`;

/** Whether the vehicle `v` is one of several active ones of its connection with its VIN. */
const isUnclear = (accountId: SQL): SQL => sql`(v.status = 'active' and exists (
  select 1 from (${withVin(accountId, sql`v.vin`)}) o
  where o.id <> v.id and o.connection_id = v.connection_id and o.status = 'active'))`;
