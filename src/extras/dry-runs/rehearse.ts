import { type SQL, sql } from 'drizzle-orm';
import {
  byId,
  driverFields,
  type Known,
  knownFrom,
  vehicleFields,
} from '../../core/fleet/accidents/store.ts';
import { drivers } from '../../core/fleet/lists/drivers.ts';
import type { Source } from '../../core/fleet/lists/record.ts';
import { vehicles } from '../../core/fleet/lists/vehicles.ts';
import { accidentsOf, decideAll, readKnown } from '../../core/ingest/accidents.ts';
import { type Batch, batchesOf } from '../../core/ingest/batches.ts';
import type { Accepted, WouldNotify } from '../../core/ingest/schema.ts';
import {
  addDecided,
  addKept,
  keptOf,
  type WriteOptions,
  type WrittenRecords,
} from '../../core/ingest/write.ts';
import { columnList, type Database, type Results } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import type { AccountTable } from '../../core/platform/db/schema/types.ts';
import { ACCIDENT } from '../../core/webhooks/notifications/types.ts';
import {
  type NewEvent,
  type News,
  recipientsAmong,
  selectNews,
  subscribers,
} from './recipients.ts';

/*
 * A dry run reads what `src/core/ingest/write.ts` would write, and decides as it does. Records may be about vehicles
 * of the call, so its statements are those of the write on vehicles as the call would leave them:
 * CTEs give a few rows the name of the table.
 */

/** Finds what storing records would change, which it adds to `total`, and whom it would notify. */
export async function rehearseRecords(
  env: Env,
  caller: Caller,
  source: Source,
  accepted: Accepted[],
  { notify, refused }: WriteOptions,
  total: WrittenRecords,
): Promise<WouldNotify[]> {
  const batches = batchesOf(source, accepted);
  const accidents = accidentsOf(source, accepted);
  const statements = (db: Database) => ({
    batches: batches.map((batch) => rehearse(db, batches, batch, notify)),
    known: accidents.length > 0 ? readKnown(db, source, accidents) : undefined,
    changed: accidents.length > 0 ? changedFleet(db, batches) : undefined,
  });
  const found = await asCaller(env, caller, statements, { refused });
  const news: News[] = [];
  for (const [place, { kept, fresh = [] }] of found.batches.entries()) {
    const batch = batches[place] as Batch; // there is a result for each
    addKept(total, batch, kept);
    const toNotify = fresh.flatMap((event) => newsOfEvent(batch, event));
    news.push(...toNotify);
    total.heldBack += fresh.length - toNotify.length;
  }
  if (found.known) {
    const known = knownFrom(found.known);
    const fleet = fleetAfter(known.fleet, found.changed);
    const decided = decideAll(source, accidents, { ...known, fleet });
    addDecided(total, decided);
    for (const { index, notification } of notify ? decided.toNotify : []) {
      const vehicle = fleet.vehicles.find(({ id }) => id === notification.vehicleId);
      news.push({ index, notification, vehicle });
    }
  }
  if (news.length === 0) return [];
  const all = await asCaller(env, caller, (db) => subscribers(db, source, news));
  const recipientsOf = recipientsAmong(all);
  return news.flatMap((one) => wouldNotify(one, recipientsOf(one)));
}

/** The statements that find what would become of a batch. */
function rehearse(db: Database, batches: Batch[], batch: Batch, notify: boolean) {
  const before = vehiclesAfter(batches, batch);
  const all = notify ? [...batch.notifications, ...batch.heldBack] : [];
  const changed = sql`(select count(*) from ${changedIn(batch)})`;
  return {
    fresh: all.length > 0 ? selectNews(db, all, before) : undefined,
    // Raw: that of the write, on other tables.
    kept: db.all<{ value: string }>(sql`
      ${before && sql`with ${before}`}
      select ${keptOf(batch, changed)} as value`),
  };
}

/** SQL for the rows that a batch would add or change, as they would be. */
function changedIn({ keeper, entries }: Batch): SQL {
  const { table, columns, kept, incoming, differs } = keeper;
  const there = (name: string) => sql`${table}.${sql.identifier(name)}`;
  const after = columns.map((name) =>
    kept.includes(name)
      ? sql`coalesce(${there(name)}, excluded.${sql.identifier(name)}) as ${sql.identifier(name)}`
      : sql`excluded.${sql.identifier(name)}`,
  );
  const rows = entries.map(({ row }) => row);
  return sql`(
    with excluded (${columnList(columns)}) as (${incoming(rows)})
    select ${sql.join(after, sql`, `)}
    from excluded left join ${stored(table)} on ${there('id')} = excluded.id
    where ${there('id')} is null or (${differs}))`;
}

/** A table as it is: without `main`, its name may be that of rows above it. */
const stored = (table: AccountTable): SQL => sql`main.${table}`;

/** The CTEs of the vehicles of a batch's records as the vehicles' batch, if there is one, would leave them. */
function vehiclesAfter(batches: Batch[], batch: Batch): SQL | undefined {
  const changes = batchOf(batches, vehicles.kind);
  if (!changes || !batch.keeper.parents.some(({ kind }) => kind === vehicles.kind))
    return undefined;
  const { table, columns } = changes.keeper;
  const ids = JSON.stringify(batch.entries.map(({ row }) => row.vehicleId));
  return sql`
    changed as materialized ${changedIn(changes)},
    ${table} as materialized (
      select * from changed
      union all
      select ${columnList(columns)} from ${stored(table)}
      where id in (select value from json_each(${ids})) and id not in (select id from changed))`;
}

const batchOf = (batches: Batch[], kind: string) => batches.find((batch) => batch.kind === kind);

/** The statements that find which vehicles and drivers the call would add or change. */
function changedFleet(db: Database, batches: Batch[]) {
  const [ofVehicles, ofDrivers] = [batchOf(batches, vehicles.kind), batchOf(batches, drivers.kind)];
  const one = (fields: SQL) => sql<string>`${fields}`.as('one');
  return {
    vehicles: ofVehicles
      ? db.select({ one: one(vehicleFields) }).from(sql`${changedIn(ofVehicles)} v`)
      : undefined,
    drivers: ofDrivers
      ? db.select({ one: one(driverFields) }).from(changedIn(ofDrivers))
      : undefined,
  };
}

const fleetAfter = (
  before: Known['fleet'],
  { vehicles = [], drivers = [] }: Partial<Results<ReturnType<typeof changedFleet>>> = {},
): Known['fleet'] => ({
  ...before,
  vehicles: byId([...before.vehicles, ...vehicles.map(({ one }) => JSON.parse(one))]),
  drivers: byId([...before.drivers, ...drivers.map(({ one }) => JSON.parse(one))]),
});

/** The news of a new event, none if it is held back: those come behind the notifications. */
function newsOfEvent({ entries, notifications }: Batch, { place, ...vehicle }: NewEvent): News[] {
  const notification = notifications[place];
  const entry = entries.find(({ row }) => row.id === notification?.eventId);
  return notification && entry ? [{ index: entry.index, notification, vehicle }] : [];
}

/** The most webhooks of a record that a dry run names. */
export const maxNamed = 20;

/** The webhooks that a record would notify, if there are any. */
function wouldNotify({ index, notification }: News, all: WouldNotify['webhooks']): WouldNotify[] {
  if (all.length === 0) return [];
  return [
    {
      index,
      ...(notification.type === ACCIDENT && { notificationLevel: notification.level }),
      webhooks: all.slice(0, maxNamed),
      ...(all.length > maxNamed && { more: all.length - maxNamed }),
    },
  ];
}
