import { and, eq, inArray, lt, notInArray, type SQL, sql } from 'drizzle-orm';
import { type Database, int, jsonList, transaction } from '../../core/platform/db/database.ts';
import { ofActiveAccount } from '../../core/platform/db/guard.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { dayMs, hourMs } from '../../core/platform/durations.ts';
import { inSteps, newBudget } from '../../core/platform/jobs/budget.ts';
import { fault } from '../../core/platform/log.ts';
import { isNotRecent, type Marked, recountLive, recountMarked } from './recount.ts';
import { eventCounting, eventCounts, eventCountsDue } from './tables.ts';

/** How many days the overview covers, today included: 90 against the 90 before. */
export const shownDays = 180;

/** Recent hours are counted by each reader, and by the job when they are this old. */
const liveMs = 6 * hourMs;

const accountsAtATime = 20;

/** Counts safety events for the overview: the marked hours, newest first, and those long unread. */
export async function countEvents(env: Env, now = Date.now(), budget = newBudget()): Promise<void> {
  const db = openDatabase(env);
  let work: Work[] = [];
  const failed: string[] = [];
  await inSteps(budget, async () => {
    if (work.length === 0) work = await workToDo(db, now, failed);
    const next = work.shift();
    if (next)
      await transaction(db, next.statements, { repeatable: true }).catch((error: unknown) => {
        failed.push(next.accountId);
        fault('error', 'A job failed', { job: 'trends', accountId: next.accountId }, error);
      });
    return next !== undefined;
  });
}

/** SQL for whether there is something to count. */
export const countsAreDue = (now: number): SQL => sql`(
  exists (select 1 from event_counting where ${isBehind(now)})
  or exists (select 1 from event_counts_due d where ${ofActiveAccount(sql`d.account_id`)}))`;

type Work = { accountId: string; statements: Parameters<typeof transaction>[1] };

async function workToDo(db: Database, now: number, failed: string[]): Promise<Work[]> {
  const { accountId, countedTo } = eventCounting;
  const except = jsonList(failed);
  const { behind, marked } = await transaction(db, {
    behind: db
      .select({ accountId })
      .from(eventCounting)
      .where(and(isBehind(now), notInArray(accountId, except)))
      .orderBy(countedTo)
      .limit(accountsAtATime),
    // The builder knows no `recursive`. Accounts come by chance, so that none waits for others.
    marked: db.all<Marked & { isArchived: 0 | 1 }>(sql`
      with recursive marked (account_id) as (
        select min(account_id) from event_counts_due
        union all
        select (select min(account_id) from event_counts_due where account_id > marked.account_id)
        from marked where account_id is not null)
      select d.account_id as accountId, d.day, d.hours, exists (
        select 1 from archived_days a
        where a.account_id = d.account_id and a.kind = 'safety-events' and a.day = d.day) as isArchived
      from marked m cross join event_counts_due d on d.account_id = m.account_id
        and d.day = (select max(day) from event_counts_due where account_id = m.account_id)
      where ${ofActiveAccount(sql`d.account_id`)} and d.account_id not in ${except}
      order by random() limit ${int(accountsAtATime)}`),
  });
  return [
    ...behind.map(({ accountId }) => ({
      accountId,
      statements: [...recountLive(db, accountId), forgetOld(db, accountId, now)],
    })),
    ...marked.map((mark) => ({
      accountId: mark.accountId,
      statements: mark.isArchived ? [forgetMark(db, mark)] : recountMarked(db, mark),
    })),
  ];
}

/** SQL for whether an active account's recent hours were not counted for long. */
const isBehind = (now: number): SQL => sql`
  event_counting.counted_to < ${now - liveMs} and ${isNotRecent}
    and ${ofActiveAccount(sql`event_counting.account_id`)}`;

/** An archived day keeps its counts: it was counted before. */
const forgetMark = (db: Database, { accountId, day }: Marked) =>
  db
    .delete(eventCountsDue)
    .where(and(eq(eventCountsDue.accountId, accountId), eq(eventCountsDue.day, day)));

function forgetOld(db: Database, accountId: string, now: number) {
  const first = (Math.floor(now / dayMs) - shownDays + 1) * 24;
  const own = and(eq(eventCounts.accountId, accountId), inArray(eventCounts.hours, [1, 24]));
  return db.delete(eventCounts).where(and(own, lt(eventCounts.start, first)));
}

/** The statement that removes the marks of an account. */
export const removeMarks = (db: Database, accountId: string) =>
  db.delete(eventCountsDue).where(eq(eventCountsDue.accountId, accountId));

/** A day of events is counted before it is archived. */
export const isCounted = (kind: string, accountId: SQL, day: SQL): SQL | undefined =>
  kind === 'safety-events'
    ? sql`not exists (
        select 1 from event_counts_due m where m.account_id = ${accountId} and m.day = ${day})`
    : undefined;
