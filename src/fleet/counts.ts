import { type SQL, sql } from 'drizzle-orm';
import { following, type SliceQuery } from '../platform/db/cursor.ts';
import { type Database, int, read } from '../platform/db/database.ts';
import { asCaller, type Caller, rowsFor } from '../platform/db/guard.ts';
import { leads, leadsIn } from '../platform/db/leads.ts';
import { connections } from '../platform/db/schema/accounts.ts';
import { hourMs } from '../platform/durations.ts';
import { type Feed, isMapped } from './incidents/translate.ts';
import { quarterMs } from './trends/recount.ts';

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
  const own = sql`connections.id`;
  const newest = kinds.map((kind) => sql`coalesce(${latest(kind, own)}, 0)`);
  type Row = { id: string; vehicles: number; arrivedAt: number | null; hours: string };
  const rows = await rowsFor<Row>(env, caller)`
    select id, ${countUpTo(maxCountedInList, sql`vehicles where connection_id = ${own}`)} as vehicles,
      nullif(max(${sql.join(newest, sql`, `)}), 0) as arrivedAt, ${eventsByHour(own)} as hours
    from connections
    where account_id = ${caller.accountId} and ${following(connections, slice) ?? sql`true`}
    order by created_at, id limit ${slice.limit}`;
  return new Map(rows.map(({ id, hours, ...row }) => [id, { ...row, ...summedUp(hours) }]));
}

/** A connection's events of the last 24 full hours, including this one, by hour, as JSON. */
function eventsByHour(connection: SQL): SQL {
  const first = (Math.floor(Date.now() / hourMs) - (hours - 1)) * hourMs;
  return sql`(
    select json_group_object(hour, n) from (
      select hour, count(*) as n from (
        select cast((started_at - ${first}) / ${hourMs} as integer) as hour from safety_events
        where ${leads(sql`connection_id`, connection)} and started_at >= ${first}
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

/** How many records of a kind a connection has, up to 10,000, and when the latest was received. */
export type RecordCount = {
  kind: (typeof kinds)[number]['kind'];
  count: number;
  arrivedAt: number | null;
};

/** The records of one connection by kind. Reads up to 10,000 entries for each. */
export async function connectionRecords(
  env: Env,
  caller: Caller,
  id: string,
): Promise<RecordCount[]> {
  const counts = await asCaller(env, caller, (db) =>
    kinds.map((kind) => {
      const records = sql`${sql.identifier(kind.table)}
        where ${leadsIn(kind.table, sql`connection_id`, ownConnection(caller, id))}`;
      return read<Omit<RecordCount, 'kind'>>(db)`
        select ${countUpTo(maxRecordsCounted, records)} as count,
          ${latest(kind, ownConnection(caller, id))} as arrivedAt`;
    }),
  );
  return kinds.flatMap(({ kind }, i) => (counts[i] ?? []).map((row) => ({ kind, ...row })));
}

const kinds = [
  { kind: 'vehicles', table: 'vehicles', order: 'created_at' },
  { kind: 'drivers', table: 'drivers', order: 'created_at' },
  { kind: 'trips', table: 'trips', order: 'started_at' },
  { kind: 'safety events', table: 'safety_events', order: 'started_at' },
  { kind: 'accidents', table: 'accidents', order: 'event_time' },
] as const;

const latest = ({ table, order }: (typeof kinds)[number], connection: SQL) => sql`(
  select created_at from ${sql.identifier(table)} where ${leadsIn(table, sql`connection_id`, connection)}
  order by ${sql.identifier(order)} desc, id desc limit 1)`;

const countUpTo = (most: number, rows: SQL) =>
  sql`(select count(*) from (select 1 from ${rows} limit ${most}))`;

const ownConnection = ({ accountId }: Caller, id: string): SQL =>
  sql`(select id from connections where id = ${id} and account_id = ${accountId})`;

/** A provider's label, and how many of the last events have it. */
export type WordCount = { word: string; count: number };

export const eventsLookedAt = 1_000;

/** The labels of a connection's last 1,000 events, the most frequent first. */
export const selectWords = (db: Database, connection: SQL) =>
  read<WordCount>(db)`
    select word.value as word, count(*) as count from (
      select incident_types from safety_events where ${leads(sql`connection_id`, connection)}
      order by started_at desc limit ${eventsLookedAt}) e, json_each(e.incident_types) word
    group by word.value order by count(*) desc`;

/** The labels without a mapping. */
export const unmappedOf = (feed: Feed, words: WordCount[]): WordCount[] =>
  words.filter(({ word }) => !isMapped(feed, word));

/** The unmapped labels of the last 1,000 events of a connection of the account. */
export async function unmappedWords(
  env: Env,
  caller: Caller,
  connection: { id: string; provider: string; incidentTypeMap: Feed['incidentTypeMap'] | null },
): Promise<WordCount[]> {
  const { id, provider, incidentTypeMap } = connection;
  const words = await asCaller(env, caller, (db) => selectWords(db, ownConnection(caller, id)));
  return unmappedOf({ provider, incidentTypeMap: incidentTypeMap ?? undefined }, words);
}

/** How many events of a risk began within 15 minutes from `at`, in milliseconds since 1970. */
export type RiskCount = { at: number; risk: number; count: number };

export const maxRisksCounted = 2000;

/** Counts events of a vehicle or driver by risk and quarter of an hour. Reads two rows for each. */
export const countByRisk = (
  env: Env,
  caller: Caller,
  of: 'vehicle' | 'driver',
  id: string,
  since: number,
): Promise<RiskCount[]> =>
  rowsFor<RiskCount>(env, caller)`
    select (started_at / ${int(quarterMs)}) * ${int(quarterMs)} as at, event_risk as risk, count(*) as count
    from (
      select started_at, event_risk from safety_events
      where ${leads(sql`${sql.identifier(`${of}_id`)}`, sql`${id}`)} and started_at >= ${since}
        and +account_id = ${caller.accountId} and withdrawn is not 1
      order by started_at desc limit ${maxRisksCounted})
    group by 1, 2`;
