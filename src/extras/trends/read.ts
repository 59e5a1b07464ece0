import { and, desc, eq, gt, gte, lt, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { unionAll } from 'drizzle-orm/sqlite-core';
import type { Database } from '../../core/platform/db/database.ts';
import type { Caller } from '../../core/platform/db/guard.ts';
import { drivers, vehicles } from '../../core/platform/db/schema/fleet.ts';
import { eventCounts } from './tables.ts';

const maxTypes = 6;
const maxAffected = 7;

/** Days in the reader's zone and as many before; `starts` are the quarters of an hour in which they begin. */
export type Span = { today: string; days: number; starts: number[] };

type Quarters = [from: number, to: number];

/** The quarters of a span after those of the one before. */
export const nowAndBefore = ({ days, starts }: Span): Quarters[] => [
  [starts[0] ?? 0, starts[days] ?? 0],
  [starts[days] ?? 0, starts[2 * days] ?? 0],
];

/** The counts of time spans by `place`: of UTC days, of hours around them, and of quarters. */
export function countsOf(db: Database, { accountId }: Caller, spans: Quarters[]) {
  const place = sql<number>`span.key`.as('place');
  const [from, to] = [sql`span.value->>0`, sql`span.value->>1`];
  const [firstHour, lastHour] = [sql`(${from} + 3) / 4`, sql`${to} / 4`];
  const [firstDay, lastDay] = [sql`(${firstHour} + 23) / 24 * 24`, sql`${lastHour} / 24 * 24`];
  const json = sql`json_each(${JSON.stringify(spans)}) span`;
  const { start, quarters, risk1, risk2, risk3, risk4, risk5, ...names } = eventCounts;
  const named = { types: names.types, vehicles: names.vehicles, drivers: names.drivers };
  const of = (hours: 1 | 24) =>
    and(eq(eventCounts.accountId, accountId), eq(eventCounts.hours, hours));
  const part = (hours: 1 | 24, since: SQL, before: SQL) =>
    db
      .select({ place, risk1, risk2, risk3, risk4, risk5, ...named })
      .from(json)
      .crossJoin(eventCounts)
      .where(and(of(hours), gte(start, since), lt(start, before)));
  const at = sql`${start} * 4 + quarter.key`;
  const risk = (i: number) =>
    sql<number>`quarter.value->>${sql.raw(`'$.risks[${i}]'`)}`.as(`risk_${i + 1}`);
  const begun = sql`
    ${start} in (iif(${from} % 4, ${from} / 4, null), iif(${to} % 4, ${to} / 4, null))`;
  const inQuarters = db
    .select({
      place,
      risk1: risk(0),
      risk2: risk(1),
      risk3: risk(2),
      risk4: risk(3),
      risk5: risk(4),
      types: sql<string>`quarter.value->'types'`.as('types'),
      vehicles: sql<string>`quarter.value->'vehicles'`.as('vehicles'),
      drivers: sql<string>`quarter.value->'drivers'`.as('drivers'),
    })
    .from(json)
    .crossJoin(eventCounts)
    .crossJoin(sql`json_each(${quarters}) quarter`)
    .where(and(of(1), begun, gte(at, from), lt(at, to)));
  return unionAll(
    part(24, firstDay, lastDay),
    part(1, firstHour, sql`min(${lastHour}, ${firstDay})`),
    part(1, sql`max(${firstDay}, ${lastDay})`, lastHour),
    inQuarters,
  ).as('counts');
}

/** The days with events of a span and of the one before: up to 25 rows each, or one in UTC. */
export function selectDays(db: Database, caller: Caller, { starts }: Span) {
  const days = starts.slice(1).map((end, i): Quarters => [starts[i] ?? end, end]);
  const counts = countsOf(db, caller, days);
  const { risk1, risk2, risk3, risk4, risk5 } = counts;
  const risks = sql`
    json_array(sum(${risk1}), sum(${risk2}), sum(${risk3}), sum(${risk4}), sum(${risk5}))`;
  return db
    .select({ day: counts.place, risks: risks.mapWith(risksIn).as('risks') })
    .from(counts)
    .groupBy(sql`${counts.place}`);
}

type Risks = [number, number, number, number, number];

const risksIn = (json: string): Risks => JSON.parse(json);

/** The events of a day, by risk from 1 to 5. `day` is its place in the span, oldest first. */
export type DayCount = Awaited<ReturnType<typeof selectDays>>[number];

/** The most frequent incident types of a span, with their events then and before. */
export function selectTypes(db: Database, caller: Caller, span: Span) {
  const counts = countsOf(db, caller, nowAndBefore(span));
  const sumOf = (isCounted: SQL) => sql<number>`sum(iif(${isCounted}, type.value, 0))`;
  const events = sumOf(sql`${counts.place} = 1`).as('events');
  return db
    .select({
      type: sql<string>`type.key`.as('name'),
      events,
      before: sumOf(sql`${counts.place} = 0`).as('before'),
    })
    .from(counts)
    .crossJoin(sql`json_each(${counts.types}) type`)
    .groupBy(sql`type.key`)
    .having(gt(sql`${events}`, 0))
    .orderBy(desc(events), sql`type.key`)
    .limit(maxTypes);
}

export type TypeCount = Awaited<ReturnType<typeof selectTypes>>[number];

/** Those with the most events of risk 4 and 5, among 100 of each day, and what their provider calls them. */
export function selectAffected(
  db: Database,
  caller: Caller,
  which: 'vehicles' | 'drivers',
  span: Span,
) {
  const table = which === 'vehicles' ? vehicles : drivers;
  const counts = countsOf(db, caller, nowAndBefore(span).slice(1));
  const most = db
    .select({
      named: sql<string>`one.key`.as('named'),
      risk4: sql<number>`sum(one.value->>0)`.as('risk4'),
      risk5: sql<number>`sum(one.value->>1)`.as('risk5'),
    })
    .from(counts)
    .crossJoin(sql`json_each(${counts[which]}) one`)
    .groupBy(sql`one.key`)
    .orderBy(sql`risk4 + risk5 desc`, sql`risk5 desc`, sql`one.key`)
    .limit(maxAffected)
    .as('most');
  return db
    .select({
      ...{ id: table.id, name: table.name, sourceId: table.sourceId },
      ...{ risk4: most.risk4, risk5: most.risk5 },
    })
    .from(most)
    .crossJoin(table)
    .where(and(eq(table.id, most.named), eq(table.accountId, caller.accountId)))
    .orderBy(sql`risk4 + risk5 desc`, sql`risk5 desc`, table.id);
}

/** A vehicle or driver, with its events of risk 4 and 5. */
export type Affected = Awaited<ReturnType<typeof selectAffected>>[number];

/**
 * Events of risk 4 and 5 of a day so far, and both by this time in the four weeks before. `since` and `end` are quarters of
 * an hour since 1970: that in which the day began, and the end of this hour.
 */
export function selectToday(db: Database, caller: Caller, since: number, end: number) {
  const weeks = [0, 1, 2, 3, 4].map((week): Quarters => {
    const before = week * quartersOfWeek;
    return [since - before, end - before];
  });
  const counts = countsOf(db, caller, weeks);
  const { place, risk4, risk5 } = counts;
  const total = (isCounted: SQL, events: SQL) =>
    sql<number>`total(iif(${isCounted}, ${events}, 0))`;
  return db
    .select({
      risk4: total(sql`${place} = 0`, sql`${risk4}`).as('risk4'),
      risk5: total(sql`${place} = 0`, sql`${risk5}`).as('risk5'),
      typical: sql<number>`${total(sql`${place} > 0`, sql`${risk4} + ${risk5}`)} / 4`.as('typical'),
    })
    .from(counts);
}

const quartersOfWeek = 7 * 24 * 4;

/** The safety events of an account on a day since 1970, UTC. */
export function eventsOn(db: Database, accountId: SQLWrapper, day: number): SQLWrapper {
  const { risk1, risk2, risk3, risk4, risk5, hours, start } = eventCounts;
  return db
    .select({ events: sql`${risk1} + ${risk2} + ${risk3} + ${risk4} + ${risk5}`.as('events') })
    .from(eventCounts)
    .where(and(eq(eventCounts.accountId, accountId), eq(hours, 24), eq(start, day * 24)));
}
