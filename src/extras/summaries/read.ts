import { and, eq, sql } from 'drizzle-orm';
import { needsAttention } from '../../core/fleet/lists/accident-filters.ts';
import { type Database, transaction } from '../../core/platform/db/database.ts';
import { connections } from '../../core/platform/db/schema/accounts.ts';
import { quarterMs } from '../../core/platform/durations.ts';
import { isWithdrawn } from '../providers/connected.ts';
import { type Span, selectAffected, selectDays } from '../trends/read.ts';
import { recountLive } from '../trends/recount.ts';
import { daysUntil } from './zone.ts';

/** How many accidents and connections a summary names, and up to how many it counts. */
export const maxNamed = 5;
const maxCounted = 100;

/** What a summary has of an account: what needs attention now, and yesterday in a zone. */
export type Summary = Awaited<ReturnType<typeof readSummary>>;

export async function readSummary(db: Database, accountId: string, zone: string, now: number) {
  const days = daysUntil(zone, 2, now);
  const starts = days.map(({ start }) => Math.floor(start / quarterMs));
  const yesterday = days[1]?.day ?? '';
  const span: Span = { today: yesterday, days: 1, starts };
  const caller = { accountId, operator: true } as const;
  const found = await transaction(db, {
    recounted: recountLive(db, accountId),
    accidents: selectUnattended(db, accountId),
    connections: selectSilent(db, accountId),
    days: selectDays(db, caller, span),
    drivers: selectAffected(db, caller, 'drivers', span),
  });
  const { accidents } = found;
  return {
    ...found,
    day: yesterday,
    accidents: { count: accidents[0]?.count ?? 0, newest: accidents },
    risks: found.days.find(({ day }) => day === 1)?.risks ?? [0, 0, 0, 0, 0],
    drivers: found.drivers.slice(0, maxNamed),
  };
}

/** The newest accidents that need attention, each with how many there are in all. */
function selectUnattended(db: Database, accountId: string) {
  const of = sql`accidents indexed by accidents_unattended
    where account_id = ${accountId} and ${needsAttention}`;
  const newest = sql`(select * from ${of} order by event_time desc, id desc limit ${maxNamed}) a`;
  return db
    .select({
      id: sql<string>`a.id`.as('id'),
      vehicle: sql<string | null>`coalesce(a.vehicle_name, nullif(a.vin, ''))`.as('vehicle'),
      at: sql<number>`a.event_time`.as('at'),
      level: sql<number>`a.notification_level`.as('level'),
      count: sql<number>`(select count(*) from (select 1 from ${of} limit ${maxCounted}))`.as(
        'count',
      ),
    })
    .from(newest);
}

/** Connections that are late or unavailable: those to name, and one more if there are more. */
const selectSilent = (db: Database, accountId: string) =>
  db
    .select({
      id: connections.id,
      name: sql<string>`coalesce(${connections.name}, ${connections.tsp})`.as('called'),
      status: connections.healthStatus,
    })
    .from(connections)
    .where(
      and(
        eq(connections.accountId, accountId),
        sql`${connections.healthStatus} <> 1`,
        sql`not ${isWithdrawn(sql`${connections.id}`)}`,
      ),
    )
    .orderBy(connections.createdAt, connections.id)
    .limit(maxNamed + 1);
