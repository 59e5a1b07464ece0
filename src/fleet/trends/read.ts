import { sql } from 'drizzle-orm';
import { type Database, statement } from '../../platform/db/database.ts';
import type { Caller } from '../../platform/db/guard.ts';
import { int } from './recount.ts';

/** How many types, vehicles and drivers are shown. */
const maxTypes = 6;
const maxAffected = 7;

/** A span of whole days, UTC, as days since 1970: `days` of them up to `today`, and as many before. */
export type Span = { today: number; days: number };

const firstOf = ({ today, days }: Span) => int((today - days + 1) * 24);
const firstBefore = ({ today, days }: Span) => int((today - 2 * days + 1) * 24);

/** The events of a day, by risk from 1 to 5. */
export type DayCount = { day: number; risks: [number, number, number, number, number] };
type DayRow = { day: number; risk1: number; risk2: number; risk3: number; risk4: number; risk5: number };

/** The days of a span and those before that had events, oldest first: a row each. */
export const selectDays = (db: Database, { accountId }: Caller, span: Span) =>
  statement<DayRow>(db)`
    select start / 24 as day, risk_1 as risk1, risk_2 as risk2, risk_3 as risk3, risk_4 as risk4, risk_5 as risk5
    from event_counts where account_id = ${accountId} and hours = 24 and start >= ${firstBefore(span)} order by start`;

export const asDay = ({ day, risk1, risk2, risk3, risk4, risk5 }: DayRow): DayCount => ({
  day,
  risks: [risk1, risk2, risk3, risk4, risk5],
});

/** The most frequent incident types of a span, each with its events then and before. */
export type TypeCount = { type: string; events: number; before: number };

export const selectTypes = (db: Database, { accountId }: Caller, span: Span) =>
  statement<TypeCount>(db)`
    select t.key as type, sum(iif(k.start >= ${firstOf(span)}, t.value, 0)) as events,
      sum(iif(k.start < ${firstOf(span)}, t.value, 0)) as before
    from event_counts k cross join json_each(k.types) t
    where k.account_id = ${accountId} and k.hours = 24 and k.start >= ${firstBefore(span)}
    group by t.key having events > 0 order by events desc, t.key limit ${maxTypes}`;

/** A vehicle or driver, with its events of risk 4 and 5. */
export type Affected = { id: string; name: string; risk4: number; risk5: number };

/**
 * The vehicles or drivers with the most events of risk 4 and 5 in a span; of each day, those among its 100 most affected.
 */
export const selectAffected = (
  db: Database,
  { accountId }: Caller,
  which: 'vehicles' | 'drivers',
  span: Span,
) => {
  const table = sql.raw(which);
  return statement<Affected>(db)`
    select m.id, v.name, m.risk4, m.risk5
    from (
      select n.key as id, sum(n.value->>0) as risk4, sum(n.value->>1) as risk5
      from event_counts k cross join json_each(k.${table}) n
      where k.account_id = ${accountId} and k.hours = 24 and k.start >= ${firstOf(span)}
      group by n.key order by risk4 + risk5 desc, risk5 desc, n.key limit ${maxAffected}) m
    cross join ${table} v on v.id = m.id and v.account_id = ${accountId}
    order by m.risk4 + m.risk5 desc, m.risk5 desc, m.id`;
};

/**
 * Events of risk 4 and of risk 5 since an hour (counted since 1970), and how many of both there were on average by this
 * time of the same weekday in the four weeks before.
 */
export type Today = { risk4: number; risk5: number; typical: number };

export const selectToday = (db: Database, { accountId }: Caller, since: number, thisHour: number) =>
  statement<Today>(db)`
    select total(iif(w.value = 0, risk_4, 0)) as risk4, total(iif(w.value = 0, risk_5, 0)) as risk5,
      total(iif(w.value > 0, risk_4 + risk_5, 0)) / 4 as typical
    from json_each('[0, 1, 2, 3, 4]') w cross join event_counts k
    on k.account_id = ${accountId} and k.hours = 1 and k.start >= ${int(since)} - w.value * 168
      and k.start <= ${int(thisHour)} - w.value * 168`;

/** How many days are still to be counted, for events that came in late or were corrected. */
export const selectDue = (db: Database, { accountId }: Caller) =>
  statement<{ days: number }>(db)`
    select count(*) as days from (select 1 from event_counts_due where account_id = ${accountId} limit 200)`;
