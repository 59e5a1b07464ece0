import { type SQL, sql } from 'drizzle-orm';
import { change, type Database, openDatabase, statement, transaction } from '../../platform/db/database.ts';
import { andNotMoving } from '../../platform/db/moving.ts';
import { dayMs, hourMs } from '../../platform/durations.ts';
import { inSteps, newBudget } from '../../platform/jobs/budget.ts';
import { hotSince } from '../archive/day.ts';
import { hoursOfMask, int, type Marked, recountLive, recountMarked } from './recount.ts';

/** How many days the overview covers, today included: 90 against the 90 before. */
export const shownDays = 180;

/** Recent hours are counted by each reader, and by the job when they are this old. */
const liveMs = 6 * hourMs;

/** A gap longer than what is counted without marks. */
const gapMs = 12 * hourMs;

/** How many accounts are handled at a time for each reason. */
const accountsAtATime = 20;

/** How many hours of a day one transaction counts. */
const hoursAtATime = 8;

/**
 * Counts safety events for the overview: the marked hours, newest first and account by account, and those that nobody
 * has read for six hours. May be repeated.
 */
export async function countEvents(env: Env, now = Date.now(), budget = newBudget()): Promise<void> {
  const db = openDatabase(env);
  let work: Work[] = [];
  await inSteps(budget, async () => {
    if (work.length === 0) work = await workToDo(env, db, now);
    const next = work.shift();
    if (next) await transaction(db, next, { repeatable: true });
    return next !== undefined;
  });
}

/** SQL for whether there is something to count. */
export const countsAreDue = (env: Env, now: number): SQL =>
  sql`(exists (${behindSince(env, 0, now - liveMs)}) or exists (${firstMarked(env)}))`;

type Work = Parameters<typeof transaction>[1];

async function workToDo(env: Env, db: Database, now: number): Promise<Work[]> {
  const [behind, quiet, marked] = await transaction(
    db,
    [
      statement<Behind>(db)`${behindSince(env, 0, now - gapMs)}`,
      statement<Behind>(db)`${behindSince(env, now - gapMs, now - liveMs)}`,
      statement<Marked>(db)`${firstMarked(env)}`,
    ],
    { repeatable: true },
  );
  return [
    ...behind.map(({ accountId }): Work => markGap(db, accountId, now)),
    ...quiet.map(({ accountId }): Work => [...recountLive(db, accountId), forgetOld(db, accountId, now)]),
    ...marked.map(
      (mark): Work =>
        mark.day * dayMs < hotSince(env, now)
          ? [forgetMark(db, mark)]
          : recountMarked(db, { ...mark, hours: newestHours(mark.hours) }),
    ),
  ];
}

type Behind = { accountId: string };

/** The accounts last counted in a time span. */
const behindSince = (env: Env, from: number, to: number): SQL => sql`
  select account_id as accountId from event_counting where counted_to >= ${from} and counted_to < ${to}
    ${andNotMoving(env, sql`event_counting.account_id`)}
  order by counted_to limit ${int(accountsAtATime)}`;

/** The newest marked day of each of some accounts: as many rows as accounts. */
const firstMarked = (env: Env): SQL => sql`
  with recursive marked (account_id) as (
    select min(account_id) from event_counts_due
    union all
    select (select min(account_id) from event_counts_due where account_id > marked.account_id)
    from marked where account_id is not null)
  select d.account_id as accountId, d.day, d.hours
  from marked m cross join event_counts_due d on d.account_id = m.account_id
    and d.day = (select max(day) from event_counts_due where account_id = m.account_id) ${andNotMoving(env, sql`d.account_id`)}
  limit ${int(accountsAtATime)}`;

const newestHours = (mask: number): number =>
  hoursOfMask(mask)
    .slice(-hoursAtATime)
    .reduce((bits, hour) => bits | (1 << hour), 0);

/** Archived days keep the counts made before. */
const forgetMark = (db: Database, { accountId, day }: Marked) =>
  change(db)`delete from event_counts_due where account_id = ${accountId} and day = ${int(day)}`;

/** Marks the uncounted days of an account: all of them the first time, or those since the job last ran. */
const markGap = (db: Database, accountId: string, now: number) =>
  [
    change(db)`
      with recursive days (day) as (
        select max((counted_to - ${int(hourMs)}) / ${int(dayMs)}, ${int(Math.floor(now / dayMs) - shownDays + 1)})
        from event_counting where account_id = ${accountId}
        union all select day + 1 from days where day < ${int(Math.floor(now / dayMs))})
      insert into event_counts_due (account_id, day, hours)
      select ${accountId}, day, ${int(allHours)} from days
      where exists (
        select 1 from connections c cross join safety_events e on e.connection_id = c.id
          and e.started_at >= days.day * ${int(dayMs)} and e.started_at < (days.day + 1) * ${int(dayMs)}
        where c.account_id = ${accountId})
      on conflict (account_id, day) do update set hours = ${int(allHours)}`,
    change(db)`
      update event_counting set counted_to = ${int(Math.floor(now / hourMs) * hourMs)} where account_id = ${accountId}`,
  ] as const;

const allHours = 2 ** 24 - 1;

/** Deletes counts older than what is shown. */
const forgetOld = (db: Database, accountId: string, now: number) =>
  change(db)`
    delete from event_counts where account_id = ${accountId} and hours in (1, 24)
      and start < ${int((Math.floor(now / dayMs) - shownDays + 1) * 24)}`;

/** The statement that removes the marks of an account. */
export const removeMarks = (db: Database, accountId: string) =>
  change(db)`delete from event_counts_due where account_id = ${accountId}`;
