import { type SQL, sql } from 'drizzle-orm';
import { read } from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { following, type SliceQuery } from '../platform/db/slices.ts';
import { connections } from '../platform/db/tables.ts';
import { hourMs } from '../platform/durations.ts';

/**
 * What was received from a connection; times in milliseconds since 1970. Counts stop at a limit, which means that many
 * or more.
 */
export type ConnectionActivity = {
  vehicles: number;
  /** When the latest record was received; null if there is none. */
  arrivedAt: number | null;
  /** Safety events of this hour and the 23 before. */
  events: number;
  /** The same by hour, oldest first; undefined if there are too many to count. */
  byHour: number[] | undefined;
};

/** How many vehicles, and events of a day, are counted for each connection of the list. */
export const maxCountedInList = 1000;

/** How many records of a kind are counted on a connection's page. */
export const maxCounted = 10_000;

const hours = 24;

/** The beginning of the first hour whose events are counted: full hours, of which the last is not over. */
const firstHour = (): number => (Math.floor(Date.now() / hourMs) - (hours - 1)) * hourMs;

/**
 * What was received from the connections of a slice, by id. Reads ranges of indexes: up to 1,000 vehicles and 1,000
 * events each.
 */
export async function connectionActivity(
  env: Env,
  caller: Caller,
  slice: SliceQuery,
): Promise<Map<string, ConnectionActivity>> {
  const own = sql`connections.id`;
  const [rows] = await asCaller(env, caller, (db) => [
    read<{ id: string; vehicles: number; arrivedAt: number | null; hours: string }>(db)`
        select id, ${countUpTo(sql`vehicles where connection_id = ${own}`, maxCountedInList)} as vehicles,
          nullif(max(${sql.join(
            kinds.map((kind) => sql`coalesce(${latest(kind, own)}, 0)`),
            sql`, `,
          )}), 0) as arrivedAt,
          ${eventsByHour(own)} as hours
        from connections
        where account_id = ${caller.accountId} and ${following(connections, slice) ?? sql`true`}
        order by created_at, id limit ${slice.limit}`,
  ]);
  return new Map(rows.map(({ id, hours, ...row }) => [id, { ...row, ...summedUp(hours) }]));
}

/** How many records of a kind a connection has, up to 10,000, and when the latest was received. */
export type RecordCount = {
  kind: (typeof kinds)[number]['kind'];
  count: number;
  arrivedAt: number | null;
};

/** The records of one connection by kind. Reads ranges of indexes: up to 10,000 entries for each kind. */
export async function connectionRecords(env: Env, caller: Caller, id: string): Promise<RecordCount[]> {
  const own = sql`(select id from connections where id = ${id} and account_id = ${caller.accountId})`;
  const counts = await asCaller(env, caller, (db) =>
    kinds.map(
      (kind) =>
        read<Omit<RecordCount, 'kind'>>(db)`
          select ${countUpTo(sql`${sql.identifier(kind.table)} where connection_id = ${own}`, maxCounted)} as count,
            ${latest(kind, own)} as arrivedAt`,
    ),
  );
  return kinds.flatMap(({ kind }, i) => (counts[i] ?? []).map((row) => ({ kind, ...row })));
}

/** The kinds of records, with the table and the order of its index. */
const kinds = [
  { kind: 'vehicles', table: 'vehicles', order: 'created_at' },
  { kind: 'drivers', table: 'drivers', order: 'created_at' },
  { kind: 'trips', table: 'trips', order: 'started_at' },
  { kind: 'safety events', table: 'safety_events', order: 'started_at' },
  { kind: 'accidents', table: 'accidents', order: 'event_time' },
] as const;

/** When a connection's latest record of a kind was received. Reads one entry of an index, and its row. */
const latest = ({ table, order }: (typeof kinds)[number], connection: SQL) => sql`(
  select created_at from ${sql.identifier(table)} where connection_id = ${connection}
  order by ${sql.identifier(order)} desc, id desc limit 1)`;

/** How many rows there are, up to `most`. */
const countUpTo = (rows: SQL, most: number) =>
  sql`(select count(*) from (select 1 from ${rows} limit ${most}))`;

/** A connection's events of the last 24 hours by hour, as JSON. */
const eventsByHour = (connection: SQL) => sql`(
  select json_group_object(hour, n) from (
    select hour, count(*) as n from (
      select cast((started_at - ${firstHour()}) / ${hourMs} as integer) as hour from safety_events
      where connection_id = ${connection} and started_at >= ${firstHour()}
        and started_at < ${firstHour() + hours * hourMs}
      order by started_at desc limit ${maxCountedInList})
    group by hour))`;

function summedUp(json: string): Pick<ConnectionActivity, 'events' | 'byHour'> {
  const counts = JSON.parse(json) as { [hour: string]: number }; // as the statement makes it
  const byHour = Array.from({ length: hours }, (_, i) => counts[i] ?? 0);
  const events = byHour.reduce((sum, n) => sum + n, 0);
  return { events, byHour: events >= maxCountedInList ? undefined : byHour };
}
