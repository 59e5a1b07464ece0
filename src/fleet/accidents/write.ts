import { type SQL, sql } from 'drizzle-orm';
import { type Database, listOf, write } from '../../platform/db/database.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';
import { timestamp } from '../../platform/fields.ts';
import { contextKeys } from '../lists/accidents.ts';
import { columnName } from '../lists/list.ts';
import { type ChangeSource, recordChange } from '../record-changes.ts';
import { dismissedAfter, isBehind, isOlder, notifiedAfter } from './notified.ts';
import { isDecided, namedAfter, vehicleOf, vinAfter } from './vehicle.ts';

export type AccidentRow = { id: string; createdAt: number };

/**
 * Adds records to the accidents that they are about, each of another one, as one statement:
 *
 * - vin, eventTime and location are of the newest version, and so are reportUrl and what a claim needs,
 *   among those that have it; without `sourceUpdatedAt` a lower level is older than a higher one;
 * - reportReady and isAccurate are of the highest level, but a false alarm is never accurate;
 * - each level is there once, in order of level, with when it first came;
 * - the vehicle is decided at each level, and until one is found; its name and plate are as then.
 */
export const writeAccidents = (db: Database, rows: AccidentRow[]) =>
  write(db)`
    insert into accidents (${listOf(accidentColumns)})
    ${accidentsAfter(rows)}
    where true
    on conflict (id) do update set
      ${listOf([...compared, ...besides], (name) => sql`${name} = excluded.${name}`)}
    where ${accidentDiffers}`;

/** SQL for the accidents after these records. */
export const accidentsAfter = (rows: AccidentRow[]): SQL => sql`
    select
      r->>'id', r->>'accountId', r->>'connectionId', coalesce(tsp, r->>'tSP'),
      iif(vin_now = '', coalesce(vehicle_now->>3, ''), vin_now), vehicle_now->>0, named_now,
      iif(behind, event_time, r->>'eventTime'), iif(behind, location, r->>'location'),
      max(level, coalesce(notification_level, 0)), iif(leads, r->>'reportReady', report_ready),
      case
        when dismissed_now then 0
        when leads then r->>'isAccurate'
        when dismissed then notification_level >= 2 -- reopened by a version of a lower level
        else is_accurate
      end,
      dismissed_now,
      iif(behind, coalesce(report_url, r->>'reportUrl'), coalesce(r->>'reportUrl', report_url)),
      iif(
        exists (select 1 from json_each(levels) where value->>'notificationLevel' = level), levels,
        (select json_group_array(json(value)) from (
          select value from json_each(json_insert(coalesce(levels, '[]'), '$[#]',
            json_object('notificationLevel', level, 'receivedAt', r->>'receivedAt')))
          order by value->>'notificationLevel'))),
      notified_now,
      max(coalesce(source_updated_at, r->>'sourceUpdatedAt'), coalesce(r->>'sourceUpdatedAt', source_updated_at)),
      coalesce(created_at, r->>'createdAt'), r->>'updatedAt', r->>'sourceId', vehicle_now->>1, vehicle_now->>2,
      coalesce((select name from drivers where id = ${newest('driverId')}),
        iif(driver_id is ${newest('driverId')}, driver_name, null)),
      ${sql.join(contextKeys.map(newest), sql`, `)}
    from (select *, iif(decided, json_array(vehicle_id, vehicle_name, license_plate),
        ${vehicleOf(
          {
            accountId: sql`r->>'accountId'`,
            connectionId: sql`r->>'connectionId'`,
            named: sql`named_now`,
            vin: sql`vin_now`,
          },
          sql`json_array(id, name, license_plate, vin)`,
        )}) as vehicle_now
    from (
      select r.value as r, a.*, r.value->>'notificationLevel' as level,
        ${isBehind(record)} as behind, ${vinAfter(record)} as vin_now, ${namedAfter(record)} as named_now,
        ${isDecided(record)} as decided,
        ${dismissedAfter(record)} as dismissed_now, ${notifiedAfter(record)} as notified_now,
        case
          when a.id is null then 1
          when ${isOlder(record)} then r.value->>'notificationLevel' > a.notification_level
          else r.value->>'notificationLevel' >= a.notification_level
        end as leads
      from json_each(${JSON.stringify(rows.map(withTime))}) r
      left join accidents a on a.id = r.value->>'id' limit -1) limit -1)`;

const context = contextKeys.map(columnName);

const named = (names: string): string[] => names.split(' ');

/** The columns of which one has to change for anything to be written, and those besides. */
const compared = [
  ...named('vin vehicle_id named_vehicle_id event_time location notification_level report_ready'),
  ...named(
    'is_accurate dismissed report_url levels notified source_updated_at source_id driver_name',
  ),
  ...context,
];
const besides = named('updated_at vehicle_name license_plate');

/** The columns of what `accidentsAfter` selects. */
export const accidentColumns = [
  ...named('id account_id connection_id tsp vin vehicle_id named_vehicle_id event_time location'),
  ...named(
    'notification_level report_ready is_accurate dismissed report_url levels notified source_updated_at',
  ),
  ...named('created_at updated_at source_id vehicle_name license_plate driver_name'),
  ...context,
];

const ofEach = (table: string): SQL =>
  listOf(compared, (name) => sql`${sql.identifier(table)}.${name}`);

/** SQL for whether an accident changes. */
export const accidentDiffers = sql`(${ofEach('accidents')}) is not (${ofEach('excluded')})`;

/** The value of the newest version that has it. A driver who was erased is in none. */
function newest(key: string): SQL {
  const known = sql.identifier(columnName(key));
  const given = sql.raw(`r->>'${key}'`);
  const said =
    key === 'driverId'
      ? sql`iif(${given} in (select id from erased_drivers), null, ${given})`
      : given;
  return sql`iif(behind, coalesce(${known}, ${said}), coalesce(${said}, ${known}))`;
}

const record = sql`r.value`;

/** Adds the time of receipt, as lists show it. */
const withTime = (row: AccidentRow) => ({ ...row, receivedAt: timestamp(row.createdAt) });

/** The statements that tell of new evidence of an accident. A report that this link leads to is at `page` from now on. */
export const noteEvidence = (
  db: Database,
  source: ChangeSource,
  accidentId: string,
  { link, page }: { link: string | null; page: string },
) => [
  write(db)`
    update accidents set updated_at = ${source.now}, report_url = iif(report_url = ${link}, ${page}, report_url)
    where id = ${accidentId}`,
  recordChange(db, source, 'changed', 'accident', [accidentId]),
];

/** What somebody can do about an accident, and its state afterwards. */
export const handlings = {
  assign: 'assigned',
  acknowledge: 'acknowledged',
  close: 'closed',
  reopen: 'reopened',
} as const;
export type Handling = keyof typeof handlings;

export const maxNote = 500;

const handledIn = {
  assign: 'assigned_to',
  acknowledge: 'acknowledged',
  close: 'closed',
  reopen: 'closed',
} as const satisfies { [does in Handling]: string };

/**
 * Handles an accident in a user's name, or assigns it `to` a person of the account, by address, or to nobody. Returns
 * false if somebody has done so already.
 */
export async function handleAccident(
  env: Env,
  caller: Caller,
  { eventId, connectionId }: { eventId: string; connectionId: string },
  { does, by, note, to }: { does: Handling; by: string; note: string | null; to: string | null },
): Promise<boolean> {
  const now = Date.now();
  const { accountId } = caller;
  const source = { accountId, connectionId, now };
  const handled = JSON.stringify({ at: timestamp(now), by, ...(note && { note }) });
  const column = sql.identifier(handledIn[does]);
  const value = does === 'assign' ? to : does === 'reopen' ? null : handled;
  const isPerson = sql`exists (select 1 from portal_users where account_id = ${accountId} and email = ${to})`;
  const changes =
    does === 'assign'
      ? sql`${column} is not ${to} and ${to === null ? sql`true` : isPerson}`
      : sql`(${column} is null) = ${Number(does !== 'reopen')}`;
  const { handling } = await asCaller(env, caller, (db) => ({
    handling: write(db)`
      update accidents set ${column} = ${value}, updated_at = ${now}
      where id = ${eventId} and account_id = ${accountId} and connection_id = ${connectionId} and ${changes}`,
    change: recordChange(
      db,
      source,
      'changed',
      'accident',
      sql`select ${eventId} as id where changes() > 0`,
    ),
  }));
  return handling.meta.changes > 0;
}
