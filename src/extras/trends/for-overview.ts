import { and, desc, eq, gt, gte, inArray, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import type { Database } from '../../core/platform/db/database.ts';
import { asCaller, type Caller, isReadOnly } from '../../core/platform/db/guard.ts';
import { safetyEvents } from '../../core/platform/db/schema/fleet.ts';
import { hourMs, quarterMs } from '../../core/platform/durations.ts';
import { type Span, selectAffected, selectDays, selectToday, selectTypes } from './read.ts';
import { eventsOf, recountLive } from './recount.ts';
import { eventCounts } from './tables.ts';

/** What the overview counts, in one round trip. Counts the last hours first; a job counts earlier ones. */
export async function readTrends(env: Env, caller: Caller, span: Span) {
  const now = Date.now();
  const today = span.starts.findLast((start) => start * quarterMs <= now) ?? 0;
  const { high, latestHigh, ...found } = await asCaller(env, caller, (db) => ({
    // An operator who looks writes nothing: the job counts, too.
    recounted: isReadOnly(caller) ? undefined : recountLive(db, caller.accountId),
    high: selectToday(db, caller, today, 4 * (Math.floor(now / hourMs) + 1)),
    latestHigh: selectLatestHigh(db, caller, today * quarterMs),
    days: selectDays(db, caller, span),
    types: selectTypes(db, caller, span),
    vehicles: selectAffected(db, caller, 'vehicles', span),
    drivers: selectAffected(db, caller, 'drivers', span),
  }));
  const today4And5 = high[0] ?? { risk4: 0, risk5: 0, typical: 0 };
  return { ...found, today: { ...today4And5, latest: latestHigh } };
}

const maxLatest = 3;

/** How many hours with events of risk 4 and 5 are read for the latest ones. */
const maxHours = 3;

const e = alias(safetyEvents, 'e');

/** The newest events of risk 4 and 5 since a time in milliseconds, of the latest three hours with any. */
function selectLatestHigh(db: Database, { accountId }: Caller, since: number) {
  const hours = db
    .select({ start: eventCounts.start })
    .from(eventCounts)
    .where(
      and(
        eq(eventCounts.accountId, accountId),
        eq(eventCounts.hours, 1),
        gte(eventCounts.start, Math.trunc(since / hourMs)),
        gt(sql`${eventCounts.risk4} + ${eventCounts.risk5}`, 0),
      ),
    )
    .orderBy(desc(eventCounts.start))
    .limit(maxHours)
    .as('hours');
  const ids = eventsOf(sql`${accountId}`, sql`${hours.start}`);
  return db
    .select({
      ...{ id: e.id, risk: e.eventRisk, withdrawn: e.withdrawn, startedAt: e.startedAt },
      ...{ types: e.translatedIncidentTypes, vehicleName: e.vehicleName },
    })
    .from(hours)
    .crossJoin(e)
    .where(
      and(
        inArray(e.id, ids),
        gte(e.eventRisk, 4),
        gte(e.startedAt, since),
        sql`${e.withdrawn} is not 1`,
      ),
    )
    .orderBy(desc(e.startedAt), desc(e.id))
    .limit(maxLatest);
}
