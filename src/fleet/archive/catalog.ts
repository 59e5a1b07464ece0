import { and, type SQL, sql } from 'drizzle-orm';
import { type Database, direction, read, write } from '../../platform/db/database.ts';
import { type Lease, withLease } from '../../platform/jobs/lease.ts';
import { partsOf } from '../../platform/parts.ts';
import type { DayOf, Part } from './bucket.ts';

/** Whose work changes the archive: one at a time. */
export const archiveLease = 'archive files';

/** Runs work that changes the archive, exclusively. Returns 'busy' while other work does. */
export const inArchive = <T>(env: Pick<Env, 'DB'>, work: (lease: Lease) => Promise<T>) =>
  withLease(env, archiveLease, work);

/** How many files a row names at most, in less than 90,000 bytes, so that it can be restored. */
export const filesPerRow = 300;

/** An archived day, or a piece of one, with its files in order. D1 may have rows of it too. */
export type Archived = { connectionId: string; day: number; parts: Part[] };

type Stored = Omit<Archived, 'parts'> & { parts: string };

export const archivedOf = ({ parts, ...row }: Stored): Archived => ({
  ...row,
  parts: JSON.parse(parts),
});

export type DaysQuery = {
  kind: string;
  accountId: string;
  connectionId?: string | undefined;
  /** Which of the account's connections, if not all. */
  within?: SQL | undefined;
  /** Both inclusive. */
  from: number;
  to: number;
  descending: boolean;
  most: number;
};

/** The first archived days of a list, between two bounds: SQLite uses one of three only. */
export const daysOf = (db: Database, query: DaysQuery) => {
  const { from, to, descending } = query;
  const bounds = descending
    ? sql`day >= ${lastDay(query)} and day <= ${to}`
    : sql`day >= ${from} and day <= ${lastDay(query)}`;
  return read<Stored>(db)`
    select connection_id as connectionId, day, parts from archived_days
    where ${scope(query)} and ${bounds} order by day ${direction(query.descending)}`;
};

/** SQL for the last of these days; null if there is none. */
export const lastDay = (query: DaysQuery): SQL => {
  const { from, to, descending, most } = query;
  return sql`(
    select ${descending ? sql`min` : sql`max`}(day) from (
      select distinct day from archived_days where ${scope(query)} and day >= ${from} and day <= ${to}
      order by day ${direction(query.descending)} limit ${most}))`;
};

/** SQL for the newest archived day of the whole list. */
export const newestDay = (query: DaysQuery): SQL =>
  sql`(select max(day) from archived_days where ${scope(query)})`;

const scope = ({ kind, accountId, connectionId, within }: DaysQuery): SQL | undefined =>
  connectionId
    ? sql`kind = ${kind} and connection_id = ${connectionId} and +account_id = ${accountId}`
    : and(sql`account_id = ${accountId} and kind = ${kind}`, within);

const isOf = ({ kind, connectionId, day }: DayOf): SQL =>
  sql`kind = ${kind} and connection_id = ${connectionId} and day = ${day}`;

/** The files of a day in the catalog; none if it has no entry. */
export async function catalogued(db: Database, day: DayOf): Promise<Part[]> {
  const pieces = await read<Stored>(db)`
    select parts from archived_days where ${isOf(day)} order by piece`;
  return pieces.flatMap(({ parts }): Part[] => JSON.parse(parts));
}

/** The statements that set the files of a day; a day without files has no entry. */
export function putEntry(db: Database, day: DayOf, parts: Part[]) {
  const pieces = partsOf(parts, filesPerRow);
  return [
    write(db)`delete from archived_days where ${isOf(day)} and piece >= ${pieces.length}`,
    write(db)`
      insert into archived_days (kind, account_id, connection_id, day, piece, parts)
      select ${day.kind}, ${day.accountId}, ${day.connectionId}, ${day.day}, key, value
      from json_each(${JSON.stringify(pieces)}) where true
      on conflict do update set parts = excluded.parts where parts <> excluded.parts`,
  ];
}
