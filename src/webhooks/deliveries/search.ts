import { type SQL, sql } from 'drizzle-orm';
import { validate as isUuid } from 'uuid';
import { type Database, statement } from '../../platform/db/database.ts';
import type { Caller } from '../../platform/db/guard.ts';
import { firstIdAtSql } from '../../platform/db/ids.ts';
import { maxScanned } from '../../platform/db/pages.ts';
import { type BrowsedRow, listed } from './browse.ts';

/** How many deliveries a search finds at most, and how many events and accidents of a VIN it looks for, the newest. */
export const maxFound = 60;
const maxOfVin = 20;
const maxVehicles = 50;

/**
 * The statement that finds a webhook's deliveries by a Delivery-Id, by the id of an event or accident, or by a VIN. It
 * seeks an event's deliveries in the millisecond in which its notification was written, which holds those of one call
 * with records, 500 at most. Accidents of a VIN are looked for among the account's newest 1,000.
 */
export function selectFound(db: Database, caller: Caller, ownWebhook: SQL, text: string) {
  const query = text.trim();
  return statement<BrowsedRow>(
    db,
    sql`
    with events (id) as (${isUuid(query) ? sql`select ${query.toLowerCase()}` : eventsOfVin(caller, query)}),
    found (id) as (
      select d.id from events e
      cross join notifications n on n.event_id = e.id and n.account_id = ${caller.accountId}
      cross join deliveries d on d.webhook_id = ${ownWebhook}
        and d.id >= ${firstIdAtSql(sql`n.created_at`)} and d.id < ${firstIdAtSql(sql`(n.created_at + 1)`)}
        and d.event_id = n.event_id and d.level = n.level
      union select ${query.toLowerCase()})
    select ${listed(sql`1`)}, d.id as place, 1 as hit, 0 as nth
    from found f cross join deliveries d on d.webhook_id = ${ownWebhook} and d.id = f.id
    order by d.id desc limit ${maxFound}`,
  );
}

/** The newest events of each of the account's vehicles with a VIN, and its newest accidents. */
const eventsOfVin = ({ accountId }: Caller, vin: string): SQL => sql`
  select e.value as id from (select id, account_id from vehicles where vin = ${vin} limit ${maxVehicles}) v
  cross join json_each((select json_group_array(id) from (
    select id from safety_events where vehicle_id = v.id order by started_at desc limit ${maxOfVin}))) e
  where v.account_id = ${accountId}
  union all
  select * from (select id from (
    select id, vin from accidents where account_id = ${accountId} order by event_time desc limit ${maxScanned})
  where vin = ${vin} limit ${maxOfVin})`;
