import { desc, sql } from 'drizzle-orm';
import { type Database, jsonList } from '../../core/platform/db/database.ts';
import { asCaller, type Caller, isReadOnly } from '../../core/platform/db/guard.ts';
import { hasId } from '../../core/platform/db/has-id.ts';
import { quarterMs } from '../../core/platform/durations.ts';
import { countsOf, nowAndBefore, type Span } from './read.ts';
import { recountLive } from './recount.ts';

/** How many drivers a ranking has: of those counted, the ones with the most events. */
export const maxRanked = 50;

/** How many trips of a driver are added up. */
const maxTrips = 1000;

/** A driver's events of risk 4 and 5 in a span, how far they drove in it, and the vehicle of their last trip. */
export type DriverFigures = {
  events: number;
  /** Null if it is not known. */
  km: number | null;
  vehicle: string | null;
};

/** Events per 1,000 km; null if it is not known how far. */
export const rateOf = ({ events, km }: Pick<DriverFigures, 'events' | 'km'>): number | null =>
  events === 0 ? 0 : km ? (1000 * events) / km : null;

/** The order of a ranking: those without a rate come last. */
export const byRate = (a: DriverFigures, b: DriverFigures): number =>
  (rateOf(b) ?? -1) - (rateOf(a) ?? -1) || b.events - a.events;

/** The figures of drivers by id: of these, or of the 50 with the most events. Reads up to 1,000 trips of each. */
export async function driverFigures(
  env: Env,
  caller: Caller,
  span: Span,
  of?: string[],
): Promise<Map<string, DriverFigures>> {
  const counted = (db: Database) => ({
    recounted: isReadOnly(caller) ? undefined : recountLive(db, caller.accountId),
    counted: selectMost(db, caller, span, of),
  });
  const first = of ? undefined : await asCaller(env, caller, counted);
  const ids = of ?? first?.counted.map(({ id }) => id) ?? [];
  const found = await asCaller(env, caller, (db) => ({
    ...(first ? { counted: selectMost(db, caller, span, ids) } : counted(db)),
    driven: selectDriven(db, span, ids),
  }));
  const events = new Map(found.counted.map((one) => [one.id, one.events]));
  return new Map(
    found.driven.map(({ id, ...one }) => [id, { ...one, events: events.get(id) ?? 0 }]),
  );
}

/** Those with the most events among 100 of each day, or their number for these drivers. */
function selectMost(db: Database, caller: Caller, span: Span, ids?: string[]) {
  const counts = countsOf(db, caller, nowAndBefore(span).slice(1));
  const events = sql<number>`sum(one.value->>0) + sum(one.value->>1)`.as('events');
  return db
    .select({ id: sql<string>`one.key`.as('id'), events })
    .from(counts)
    .crossJoin(sql`json_each(${counts.drivers}) one`)
    .where(ids && sql`one.key in ${jsonList(ids)}`)
    .groupBy(sql`one.key`)
    .orderBy(desc(events), sql`one.key`)
    .limit(maxRanked);
}

function selectDriven(db: Database, { days, starts }: Span, ids: string[]) {
  const [from, to] = [starts[days] ?? 0, starts[2 * days] ?? 0].map((start) => start * quarterMs);
  const id = sql<string>`driver.value`;
  const isTheirs = hasId(sql`driver_id`, id);
  return db
    .select({
      id: id.as('id'),
      km: sql<number | null>`(select sum(distance_km) from (
        select distance_km from trips where ${isTheirs} and started_at >= ${from} and started_at < ${to}
        order by started_at desc limit ${maxTrips}))`.as('km'),
      vehicle: sql<string | null>`(select name from vehicles where id = (
        select vehicle_id from trips where ${isTheirs} order by started_at desc limit 1))`.as(
        'vehicle',
      ),
    })
    .from(sql`json_each(${JSON.stringify(ids)}) driver`);
}
