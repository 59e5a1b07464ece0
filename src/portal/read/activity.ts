import { and, count, desc, eq, getTableName, gte, type SQL, sql } from 'drizzle-orm';
import { selectWords } from '../../core/fleet/incidents/unmapped.ts';
import { following, type SliceQuery } from '../../core/platform/db/cursor.ts';
import { type Database, int } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { hasId, hasIdIn } from '../../core/platform/db/has-id.ts';
import { connections } from '../../core/platform/db/schema/accounts.ts';
import * as stored from '../../core/platform/db/schema/fleet.ts';
import { hourMs, quarterMs } from '../../core/platform/durations.ts';

/** What was received from a connection. Counts stop at a limit, which means that many or more. */
export type ConnectionActivity = {
  vehicles: number;
  /** When the latest record was received; null if there is none. */
  arrivedAt: number | null;
  /** Safety events of this hour and the 23 before. */
  events: number;
  /** The same by hour, oldest first; undefined if there are too many to count. */
  byHour: number[] | undefined;
};

export const maxCountedInList = 1000;

const hours = 24;

/** What was received from the connections of a slice, by id. Reads up to 2,000 rows of each. */
export async function connectionActivity(
  env: Env,
  caller: Caller,
  slice: SliceQuery,
): Promise<Map<string, ConnectionActivity>> {
  const rows = await asCaller(env, caller, (db) => {
    const newest = kinds.map((kind) => sql`coalesce(${latest(db, kind)}, 0)`);
    return db
      .select({
        id: connections.id,
        vehicles: countUpTo(db, maxCountedInList, kinds[0]),
        arrivedAt: sql<number | null>`nullif(max(${sql.join(newest, sql`, `)}), 0)`.as('arrivedAt'),
        hours: eventsByHour().as('hours'),
      })
      .from(connections)
      .where(and(eq(connections.accountId, caller.accountId), following(connections, slice)))
      .orderBy(connections.createdAt, connections.id)
      .limit(slice.limit);
  });
  return new Map(rows.map(({ id, hours, ...row }) => [id, { ...row, ...summedUp(hours) }]));
}

/** A connection's events of the last 24 full hours, including this one, by hour, as JSON. */
function eventsByHour(): SQL<string> {
  const first = (Math.floor(Date.now() / hourMs) - (hours - 1)) * hourMs;
  return sql`(
    select json_group_object(hour, n) from (
      select hour, count(*) as n from (
        select cast((started_at - ${first}) / ${hourMs} as integer) as hour from safety_events
        where ${hasId(sql`connection_id`, sql`connections.id`)} and started_at >= ${first}
          and started_at < ${first + hours * hourMs}
          and not exists (
            select 1 from safety_events w indexed by safety_events_withdrawn
            where w.id = safety_events.id and w.withdrawn = 1)
        order by started_at desc limit ${maxCountedInList})
      group by hour))`;
}

function summedUp(json: string): Pick<ConnectionActivity, 'events' | 'byHour'> {
  const counts = JSON.parse(json) as { [hour: string]: number }; // as the statement makes it
  const byHour = Array.from({ length: hours }, (_, i) => counts[i] ?? 0);
  const events = byHour.reduce((sum, n) => sum + n, 0);
  return { events, byHour: events >= maxCountedInList ? undefined : byHour };
}

export const maxRecordsCounted = 10_000;

/** The records of one connection by kind, up to 10,000 entries of each, and the labels of its last events. */
export async function connectionRecords(env: Env, caller: Caller, id: string) {
  const { accountId } = caller;
  const { counts, words } = await asCaller(env, caller, (db) => ({
    counts: kinds.map((kind) =>
      db
        .select({
          count: countUpTo(db, maxRecordsCounted, kind),
          arrivedAt: latest(db, kind).as('arrivedAt'),
        })
        .from(connections)
        .where(and(eq(connections.id, id), eq(connections.accountId, accountId))),
    ),
    words: selectWords(db, caller, id),
  }));
  const records = kinds.flatMap(({ kind }, i) =>
    (counts[i] ?? []).map((row) => ({ kind, ...row })),
  );
  return { records, words };
}

/** How many records of a kind a connection has, up to 10,000, and when the latest was received. */
export type RecordCount = Awaited<ReturnType<typeof connectionRecords>>['records'][number];

const { vehicles, drivers, trips, safetyEvents, accidents } = stored;

const kinds = [
  { kind: 'vehicles', table: vehicles, order: vehicles.createdAt },
  { kind: 'drivers', table: drivers, order: drivers.createdAt },
  { kind: 'trips', table: trips, order: trips.startedAt },
  { kind: 'safety events', table: safetyEvents, order: safetyEvents.startedAt },
  { kind: 'accidents', table: accidents, order: accidents.eventTime },
] as const;

/** The records of a kind of the connection that the statement around it reads. */
const ofConnection = ({ table }: (typeof kinds)[number]) =>
  hasIdIn(getTableName(table), sql`${table.connectionId}`, sql`${connections.id}`);

const latest = (db: Database, kind: (typeof kinds)[number]) => {
  const { table, order } = kind;
  const newest = db
    .select({ at: table.createdAt })
    .from(table)
    .where(ofConnection(kind))
    .orderBy(desc(order), desc(table.id))
    .limit(1);
  return sql<number | null>`${newest}`;
};

const countUpTo = (db: Database, most: number, kind: (typeof kinds)[number]) => {
  const { table } = kind;
  return db.$count(
    db.select({ id: table.id }).from(table).where(ofConnection(kind)).limit(most).as('some'),
  );
};

export const maxRisksCounted = 2000;

/** Counts events of a vehicle or driver by risk and quarter of an hour. Reads two rows for each. */
export function countByRisk(
  env: Env,
  caller: Caller,
  of: 'vehicle' | 'driver',
  id: string,
  since: number,
) {
  const column = of === 'vehicle' ? safetyEvents.vehicleId : safetyEvents.driverId;
  const which = and(
    hasId(sql`${column}`, sql`${id}`),
    gte(safetyEvents.startedAt, since),
    sql`+${safetyEvents.accountId} = ${caller.accountId}`,
    sql`${safetyEvents.withdrawn} is not 1`,
  );
  return asCaller(env, caller, (db) => {
    const some = db
      .select({ startedAt: safetyEvents.startedAt, risk: safetyEvents.eventRisk })
      .from(safetyEvents)
      .where(which)
      .orderBy(desc(safetyEvents.startedAt))
      .limit(maxRisksCounted)
      .as('some');
    const at = sql<number>`(${some.startedAt} / ${int(quarterMs)}) * ${int(quarterMs)}`;
    return db
      .select({ at: at.as('at'), risk: some.risk, count: count() })
      .from(some)
      .groupBy(sql`1`, sql`2`);
  });
}

/** How many events of a risk began within 15 minutes from `at`, in milliseconds since 1970. */
export type RiskCount = Awaited<ReturnType<typeof countByRisk>>[number];
