import { getTableName, type SQL, sql } from 'drizzle-orm';
import { withVin } from '../fleet/accidents/vehicle.ts';
import { drivers } from '../fleet/lists/drivers.ts';
import type { Source } from '../fleet/lists/record.ts';
import { vehicles } from '../fleet/lists/vehicles.ts';
import { type Database, jsonList, listOf, read, readValue } from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import type { AccountTable } from '../platform/db/schema/types.ts';
import { newAmong } from '../webhooks/notifications/insert.ts';
import { ACCIDENT } from '../webhooks/notifications/types.ts';
import {
  type News,
  newsAmong,
  recipientsAmong,
  type Subscriber,
  subscribers,
} from '../webhooks/recipients.ts';
import { accidentKeeper, type Batch, batchesOf } from './batches.ts';
import { changedBy, keeperOf } from './keep.ts';
import type { Accepted, WouldNotify } from './schema.ts';
import { addKept, keptOf, type WriteOptions, type WrittenRecords } from './write.ts';

/*
 * A dry run reads what `write.ts` would write. Later records of a call may be about earlier ones, so its statements are
 * those of the write on tables that are as the call would leave them: `with` gives a few rows the names of the tables.
 */

/** Finds what storing records would change, and whom it would notify. Adds to `total`. */
export async function rehearseRecords(
  env: Env,
  caller: Caller,
  source: Source,
  accepted: Accepted[],
  { notify, refused }: Pick<WriteOptions, 'notify' | 'refused'>,
  total: WrittenRecords,
): Promise<void> {
  const batches = batchesOf(source, accepted);
  const statements = (db: Database) =>
    batches.map((batch) => {
      const { type, notifications, heldBack } = batch;
      const isOfOthers = batch.kind !== drivers.kind && batch.kind !== vehicles.kind;
      const before = isOfOthers ? tablesBefore(source, batches, batch) : sql.empty();
      const isNotified = notify && notifications.length > 0;
      return {
        news: isNotified
          ? read<News>(db)`${before} ${newsAmong(source, type, notifications)}`
          : undefined,
        webhooks: isNotified
          ? read<Subscriber>(db)`${before} ${subscribers(source.connectionId, type)}`
          : undefined,
        heldBack:
          notify && heldBack.length > 0
            ? readValue<number>(db)`${before} select ${newAmong(heldBack)}`
            : undefined,
        kept: readValue<string>(db)`${before} ${keptIn(batches, batch)}`,
      };
    });
  const results = await asCaller(env, caller, statements, { refused });
  for (const [place, { news = [], webhooks = [], heldBack, kept }] of results.entries()) {
    const batch = batches[place] as Batch; // there is a result for each
    total.heldBack += heldBack?.[0]?.value ?? 0;
    addKept(total, batch, kept);
    total.wouldNotify.push(...wouldNotify(batch, news, webhooks));
  }
}

const rowsOf = ({ entries }: Batch) => entries.map(({ row }) => row);

/** SQL for the rows that a batch would add or change, with the tables before it. */
const changedIn = (batch: Batch): SQL =>
  changedBy(
    batch.keeper,
    rowsOf(batch),
    batch.kind === 'accident' ? sql`accidents` : stored(batch.keeper.table),
  );

/** A table as it is: without `main`, its name may be that of rows above it. */
const stored = (table: AccountTable): SQL => sql`main.${table}`;

/** SQL for what would become of a batch, after the tables before it. */
function keptIn(batches: Batch[], batch: Batch): SQL {
  const { warning } = batch.keeper;
  const after = sql`select * from (${accidentsAfter(accidentsBefore(batches, batch), batch)})`;
  const warned =
    warning && sql`(with accidents as (${after}) select ${warning.among(rowsOf(batch))})`;
  return sql`select ${keptOf(batch, sql`(select count(*) from (${changedIn(batch)}))`, warned)}`;
}

/** What records of the call can be about, as it is before a batch. */
function tablesBefore({ accountId }: Source, batches: Batch[], batch: Batch): SQL {
  const valuesOf = (key: string) => {
    const values = batches.flatMap(rowsOf).flatMap((row) => row[key] ?? []);
    return sql`select value from json_each(${JSON.stringify([...new Set(values)])})`;
  };
  const accidents = batches.filter(({ kind }) => kind === 'accident').flatMap(rowsOf);
  const vins = JSON.stringify([...new Set(accidents.map(({ vin }) => vin))]);
  const sameVin = withVin(sql`${accountId}`, sql`w.vin`, sql`main.vehicles`);
  return sql`with
    known_accidents as materialized (
      select ${listOf(accidentKeeper.columns)} from main.accidents where id in ${jsonList(accidents.map(({ id }) => id))}),
    ${tableAfter(drivers, batches, sql`${valuesOf('driverId')} union select driver_id from known_accidents`)},
    ${tableAfter(
      vehicles,
      batches,
      sql`${valuesOf('vehicleId')}
        union select vehicle_id from known_accidents union select named_vehicle_id from known_accidents
        union select v.value
        from (select value as vin from json_each(${vins}) union select vin from known_accidents) w,
          json_each((select json_group_array(id) from (${sameVin}))) v`,
    )},
    accidents as materialized (select * from (${accidentsBefore(batches, batch)}))`;
}

/** SQL for a table with the rows of these ids, and of the records of the call, as the call leaves them. */
function tableAfter(resource: typeof vehicles | typeof drivers, batches: Batch[], ids: SQL): SQL {
  const { table, columns } = keeperOf(resource);
  const batch = batches.find(({ kind }) => kind === resource.kind);
  const changed = sql.identifier(`changed_${getTableName(table)}`);
  const there = sql`select ${listOf(columns)} from ${stored(table)} where id in (${ids})`;
  if (!batch) return sql`${table} as materialized (${there})`;
  return sql`
    ${changed} as materialized (${changedIn(batch)}),
    ${table} as materialized (
      select * from ${changed} union all ${there} and id not in (select id from ${changed}))`;
}

/** SQL for the accidents as the call's earlier batches leave them: a call may have three levels of one. */
const accidentsBefore = (batches: Batch[], batch: Batch): SQL =>
  batches
    .slice(0, batches.indexOf(batch))
    .filter(({ kind }) => kind === 'accident')
    .reduce(accidentsAfter, sql`select * from known_accidents`);

const accidentsAfter = (before: SQL, batch: Batch): SQL => sql`
  select * from (
    with accidents as materialized (${before}), changed as materialized (${changedIn(batch)})
    select * from changed union all select * from accidents where id not in (select id from changed))`;

/** The most webhooks of a record that a dry run names. */
export const maxNamed = 20;

/** Which records would notify whom. Each record of a batch is about another thing. */
function wouldNotify(
  { entries, notifications }: Batch,
  news: News[],
  webhooks: Subscriber[],
): WouldNotify[] {
  const recipientsOf = recipientsAmong(webhooks);
  const indexOf = new Map(entries.map(({ index, row }) => [row.id, index]));
  return news.flatMap((one) => {
    const notification = notifications[one.place];
    const all = notification ? recipientsOf(notification, one) : [];
    if (!notification || all.length === 0) return [];
    const { eventId, level, type } = notification;
    return {
      index: indexOf.get(eventId) ?? 0,
      ...(type === ACCIDENT && { notificationLevel: level }),
      webhooks: all.slice(0, maxNamed),
      ...(all.length > maxNamed && { more: all.length - maxNamed }),
    };
  });
}
