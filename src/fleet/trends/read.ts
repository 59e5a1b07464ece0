import { type SQL, sql } from 'drizzle-orm';
import { type Database, int, read } from '../../platform/db/database.ts';
import type { Caller } from '../../platform/db/guard.ts';

const maxTypes = 6;
const maxAffected = 7;

/** Days in the reader's zone and as many before; `starts` are the quarters of an hour in which they begin. */
export type Span = { today: string; days: number; starts: number[] };

type Quarters = [from: number, to: number];

const nowAndBefore = ({ days, starts }: Span): Quarters[] => [
  [starts[0] ?? 0, starts[days] ?? 0],
  [starts[days] ?? 0, starts[2 * days] ?? 0],
];

/** The place of the days themselves in `nowAndBefore`. */
const current = sql`1`;

/** The counts of time spans by `place`: of UTC days, of hours around them, and of quarters. */
function countsOf({ accountId }: Caller, spans: Quarters[]): SQL {
  const [from, to] = [sql`d.value->>0`, sql`d.value->>1`];
  const [firstHour, lastHour] = [sql`(${from} + 3) / 4`, sql`${to} / 4`];
  const [firstDay, lastDay] = [sql`(${firstHour} + 23) / 24 * 24`, sql`${lastHour} / 24 * 24`];
  const counts = (
    hours: number,
  ) => sql`json_each(${JSON.stringify(spans)}) d cross join event_counts k
    on k.account_id = ${accountId} and k.hours = ${int(hours)}`;
  const part = (hours: number, since: SQL, before: SQL) => sql`
    select d.key as place, risk_1, risk_2, risk_3, risk_4, risk_5, types, vehicles, drivers
    from ${counts(hours)} and k.start >= ${since} and k.start < ${before}`;
  const at = sql`k.start * 4 + q.key`;
  const risks = [0, 1, 2, 3, 4].map((i) => sql.raw(`q.value->>'$.risks[${i}]'`));
  const parts = [
    part(24, firstDay, lastDay),
    part(1, firstHour, sql`min(${lastHour}, ${firstDay})`),
    part(1, sql`max(${firstDay}, ${lastDay})`, lastHour),
    sql`select d.key, ${sql.join(risks, sql`, `)}, q.value->'types', q.value->'vehicles', q.value->'drivers'
      from ${counts(1)} and k.start in (iif(${from} % 4, ${from} / 4, null), iif(${to} % 4, ${to} / 4, null))
      cross join json_each(k.quarters) q where ${at} >= ${from} and ${at} < ${to}`,
  ];
  return sql`(${sql.join(parts, sql` union all `)})`;
}

/** The events of a day, by risk from 1 to 5. `day` is its place in the span, oldest first. */
export type DayCount = { day: number; risks: [number, number, number, number, number] };
type DayRow = { day: number; risks: string };

/** The days with events of a span and of the one before: up to 25 rows each, or one in UTC. */
export const selectDays = (db: Database, caller: Caller, { starts }: Span) => {
  const days = starts.slice(1).map((end, i): Quarters => [starts[i] ?? end, end]);
  return read<DayRow>(db)`
    select place as day, json_array(sum(risk_1), sum(risk_2), sum(risk_3), sum(risk_4), sum(risk_5)) as risks
    from ${countsOf(caller, days)} group by place`;
};

export const asDay = ({ day, risks }: DayRow): DayCount => ({ day, risks: JSON.parse(risks) });

/** The most frequent incident types of a span, with their events then and before. */
export type TypeCount = { type: string; events: number; before: number };

export const selectTypes = (db: Database, caller: Caller, span: Span) =>
  read<TypeCount>(db)`
    select t.key as type, sum(iif(place = ${current}, t.value, 0)) as events,
      sum(iif(place <> ${current}, t.value, 0)) as before
    from ${countsOf(caller, nowAndBefore(span))} k cross join json_each(k.types) t
    group by t.key having events > 0 order by events desc, t.key limit ${maxTypes}`;

/** A vehicle or driver, with its events of risk 4 and 5. */
export type Affected = { id: string; name: string; risk4: number; risk5: number };

/** Those with the most events of risk 4 and 5, among 100 of each day. */
export const selectAffected = (
  db: Database,
  caller: Caller,
  which: 'vehicles' | 'drivers',
  span: Span,
) => {
  const table = sql.identifier(which);
  const { accountId } = caller;
  return read<Affected>(db)`
    select m.id, v.name, m.risk4, m.risk5
    from (
      select n.key as id, sum(n.value->>0) as risk4, sum(n.value->>1) as risk5
      from ${countsOf(caller, nowAndBefore(span).slice(1))} k cross join json_each(k.${table}) n
      group by n.key order by risk4 + risk5 desc, risk5 desc, n.key limit ${maxAffected}) m
    cross join ${table} v on v.id = m.id and v.account_id = ${accountId}
    order by m.risk4 + m.risk5 desc, m.risk5 desc, m.id`;
};

/** Events of risk 4 and 5 of a day so far, and both by this time in the four weeks before. */
export type Today = { risk4: number; risk5: number; typical: number };

/** Quarters of an hour since 1970: that in which the day began, and the end of this hour. */
export const selectToday = (db: Database, caller: Caller, since: number, end: number) =>
  read<Today>(db)`
    select total(iif(place = 0, risk_4, 0)) as risk4, total(iif(place = 0, risk_5, 0)) as risk5,
      total(iif(place > 0, risk_4 + risk_5, 0)) / 4 as typical
    from ${countsOf(
      caller,
      [0, 1, 2, 3, 4].map((week) => [since - week * quartersOfWeek, end - week * quartersOfWeek]),
    )}`;

const quartersOfWeek = 7 * 24 * 4;
