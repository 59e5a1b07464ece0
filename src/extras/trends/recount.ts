import { and, eq, ne, type SQL, sql } from 'drizzle-orm';
import { type Database, int } from '../../core/platform/db/database.ts';
import { hasId } from '../../core/platform/db/has-id.ts';
import { hourMs, quarterMs } from '../../core/platform/durations.ts';
import { eventCounting, eventCountsDue } from './tables.ts';

/** How many vehicles and drivers a span keeps counts of: those with the most of risk 4 and 5. */
export const maxNamed = 100;

/** How many events of an account an hour counts at most, which bounds a recount. */
export const maxPerHour = 10_000;

/** How many hours are counted again at a time without marks: see the migration. */
const liveHours = 4;

/** How long the recent hours of an account are not counted again. */
const liveForSeconds = 5;

/** SQL for D1's current hour since 1970. The marks use the same clock. */
const thisHour = sql`(unixepoch() / 3600)`;

/** SQL for `with`: `due`, the hours of an account without marks since those counted last. */
const liveHoursOf = (accountId: string): SQL => sql`
  due (account_id, start, last) as (
    select account_id, counted_to / ${int(hourMs)} - 1, ${lastHour} + 1
    from event_counting where account_id = ${accountId} and ${isNotRecent}
    union all select account_id, start + 1, last from due where start < last)`;

/** Hours of a day to count again, as bits. */
export type Marked = { accountId: string; day: number; hours: number };

/** SQL for whether an account's recent hours may be counted again. */
export const isNotRecent = sql`live_at <= unixepoch() - ${int(liveForSeconds)}`;

const lastHour = sql`min(${thisHour}, counted_to / ${int(hourMs)} + ${int(liveHours)})`;

/** The statements that bring an account's recent counts up to date, at most every five seconds. */
export const recountLive = (db: Database, accountId: string) => {
  const live = liveHoursOf(accountId);
  return [
    countHours(db, live),
    addUpDays(db, live),
    db
      .update(eventCounting)
      .set({ liveAt: sql`unixepoch()`, countedTo: sql`${lastHour} * ${int(hourMs)}` })
      .where(and(eq(eventCounting.accountId, accountId), isNotRecent)),
  ] as const;
};

/** How many marked hours of a day one transaction counts, the newest. */
const hoursAtATime = 4;

/** The statements that count marked hours of a day again and remove their marks. */
export const recountMarked = (db: Database, { accountId, day, hours: mask }: Marked) => {
  const all = Array.from({ length: 24 }, (_, hour) => hour).filter((hour) => mask & (1 << hour));
  const hours = all.slice(-hoursAtATime);
  const bits = int(hours.reduce((sum, hour) => sum | (1 << hour), 0));
  const due = sql`
    due (account_id, start) as (
      select ${accountId}, ${int(day * 24)} + value from json_each(${JSON.stringify(hours)}))`;
  const mark = and(eq(eventCountsDue.accountId, accountId), eq(eventCountsDue.day, day));
  const rest = sql`${eventCountsDue.hours} & ~${bits}`;
  return [
    countHours(db, due),
    addUpDays(db, due),
    db.delete(eventCountsDue).where(and(mark, eq(rest, 0))),
    db
      .update(eventCountsDue)
      .set({ hours: rest })
      .where(and(mark, ne(sql`${eventCountsDue.hours} & ${bits}`, 0))),
  ] as const;
};

/** Counts the events of hours: reads each of them, and its entry in the index. */
function countHours(db: Database, due: SQL) {
  const byName = (id: SQL): SQL => sql`(
    select start, quarter, ${id} as name, sum(risk_4) as risk_4, sum(risk_5) as risk_5 from e
    where risk_4 + risk_5 > 0 and ${id} is not null group by start, quarter, ${id})`;
  return writeCounts(
    db,
    1,
    sql`${due},
    spans as (select account_id, start from due),
    e as materialized (
      select d.start, e.started_at / ${int(quarterMs)} % 4 as quarter,
        ${ofRisks((name) => `e.event_risk = ${name.at(-1)} as ${name}`)},
        e.translated_incident_types as types, e.vehicle_id, e.driver_id
      from due d cross join safety_events e on e.id in ${eventsOf(sql`d.account_id`, sql`d.start`)}
      where e.withdrawn is not 1),
    types as (
      select start, quarter, t.value as name, count(*) as n from e cross join json_each(e.types) t
      group by start, quarter, t.value),
    vehicles as ${byName(sql`vehicle_id`)},
    drivers as ${byName(sql`driver_id`)},
    quarters as (
      select start, quarter, json_array(${ofRisks((name) => `sum(${name})`)}) as risks from e group by start, quarter)`,
    sql`coalesce((
      select json_group_object(q.quarter, json_object('risks', json(q.risks), 'types', json(${typesOf(ofQuarter)}),
        'vehicles', json(${named(sql`vehicles`, ofQuarter)}), 'drivers', json(${named(sql`drivers`, ofQuarter)})))
      from quarters q where q.start = d.start), '{}')`,
  );
}

/** SQL for the ids of the events of an account that an hour counts. */
export const eventsOf = (accountId: SQL, hour: SQL): SQL => sql`(
  select s.id from connections c cross join safety_events s
  on ${hasId(sql`s.connection_id`, sql`c.id`)} and s.started_at >= ${hour} * ${int(hourMs)}
    and s.started_at < (${hour} + 1) * ${int(hourMs)}
  where c.account_id = ${accountId} limit ${int(maxPerHour)})`;

/** Adds up the days of these hours: reads 24 rows a day at most. */
function addUpDays(db: Database, due: SQL) {
  const added = (names: SQL): SQL => sql`(
    select e.start, n.key as name, sum(n.value->>0) as risk_4, sum(n.value->>1) as risk_5
    from e cross join json_each(${names}) n group by e.start, n.key)`;
  return writeCounts(
    db,
    24,
    sql`${due},
    spans as (select distinct account_id, start / 24 * 24 as start from due),
    e as materialized (
      select d.start, ${ofEach((name) => `k.${name}`)} from spans d cross join event_counts k
      on k.account_id = d.account_id and k.hours = 1 and k.start >= d.start and k.start < d.start + 24),
    types as (
      select e.start, t.key as name, sum(t.value) as n from e cross join json_each(e.types) t group by e.start, t.key),
    vehicles as ${added(sql`e.vehicles`)},
    drivers as ${added(sql`e.drivers`)}`,
    sql`'{}'`,
  );
}

/** Writes the counts of spans, where they differ, from their events or shorter spans. */
const writeCounts = (db: Database, hours: 1 | 24, tables: SQL, quarters: SQL) =>
  // Set-based: the builder knows no `materialized`, and the tables differ.
  db.run(sql`
    insert into event_counts (account_id, hours, start, ${ofEach((name) => name)})
    with recursive ${tables}
    select d.account_id, ${int(hours)}, d.start, ${ofRisks((name) => `coalesce(r.${name}, 0)`)},
      ${typesOf(ofSpan)}, ${named(sql`vehicles`, ofSpan)}, ${named(sql`drivers`, ofSpan)}, ${quarters}
    from spans d left join (
      select start, ${ofRisks((name) => `sum(${name}) as ${name}`)} from e group by start) r on r.start = d.start
    where r.start is not null or exists (
      select 1 from event_counts k where k.account_id = d.account_id and k.hours = ${int(hours)} and k.start = d.start)
    on conflict (account_id, hours, start) do update set ${ofEach((name) => `${name} = excluded.${name}`)}
    where (${ofEach((name) => `event_counts.${name}`)})
      is not (${ofEach((name) => `excluded.${name}`)})`);

const risks = ['risk_1', 'risk_2', 'risk_3', 'risk_4', 'risk_5'];
type Each = (name: string) => string;
const ofRisks = (each: Each): SQL => sql.raw(risks.map(each).join(', '));
const ofEach = (each: Each): SQL =>
  sql.raw([...risks, 'types', 'vehicles', 'drivers', 'quarters'].map(each).join(', '));

/** The counts by name, `n`, of a span `d`, and of its quarter of an hour `q`. */
const ofSpan = sql`n.start = d.start`;
const ofQuarter = sql`n.start = q.start and n.quarter = q.quarter`;

const typesOf = (which: SQL): SQL => sql`
  coalesce((select json_group_object(name, events) from (
    select name, sum(n) as events from types n where ${which} group by name order by name)), '{}')`;

const named = (from: SQL, which: SQL): SQL => sql`
  coalesce((select json_group_object(name, json_array(four, five)) from (
    select name, sum(risk_4) as four, sum(risk_5) as five from ${from} n where ${which}
    group by name order by four + five desc, five desc, name limit ${int(maxNamed)})), '{}')`;
