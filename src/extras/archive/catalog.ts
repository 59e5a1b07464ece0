import { and, asc, desc, eq, gte, lte, ne, type SQL, sql } from 'drizzle-orm';
import { lists } from '../../core/fleet/lists/registry.ts';
import { type Action, recordChange } from '../../core/fleet/record-changes.ts';
import {
  type Database,
  direction,
  excluded,
  transaction,
} from '../../core/platform/db/database.ts';
import { type Lease, withLease } from '../../core/platform/jobs/lease.ts';
import { partsOf } from '../../core/platform/parts.ts';
import type { DayOf, Part } from './bucket.ts';
import { archivedDays } from './tables.ts';

/** Whose work changes the archive: one at a time. */
export const archiveLease = 'archive files';

/** Runs work that changes the archive, exclusively. Returns 'busy' while other work does. */
export const inArchive = <T>(env: Pick<Env, 'DB'>, work: (lease: Lease) => Promise<T>) =>
  withLease(env, archiveLease, work);

/** How many files a row names at most, in less than 90,000 bytes, so that it can be restored. */
export const filesPerRow = 300;

/** An archived day, or a piece of one, with its files in order. D1 may have rows of it too. */
export type Archived = Pick<typeof archivedDays.$inferSelect, 'connectionId' | 'day' | 'parts'>;

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
  const { connectionId, day, parts } = archivedDays;
  const bounds = descending
    ? and(gte(day, lastDay(query)), lte(day, to))
    : and(gte(day, from), lte(day, lastDay(query)));
  return db
    .select({ connectionId, day, parts })
    .from(archivedDays)
    .where(and(scope(query), bounds))
    .orderBy(descending ? desc(day) : asc(day));
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
    ? and(
        eq(archivedDays.kind, kind),
        eq(archivedDays.connectionId, connectionId),
        sql`+${archivedDays.accountId} = ${accountId}`,
      )
    : and(eq(archivedDays.accountId, accountId), eq(archivedDays.kind, kind), within);

const isOf = ({ kind, connectionId, day }: DayOf) =>
  and(
    eq(archivedDays.kind, kind),
    eq(archivedDays.connectionId, connectionId),
    eq(archivedDays.day, day),
  );

/** The files of a day in the catalog; none if it has no entry. */
export async function catalogued(db: Database, day: DayOf): Promise<Part[]> {
  const pieces = await transaction(
    db,
    db
      .select({ parts: archivedDays.parts })
      .from(archivedDays)
      .where(isOf(day))
      .orderBy(archivedDays.piece),
  );
  return pieces.flatMap(({ parts }) => parts);
}

/** The statements that set the files of a day; a day without files has no entry. */
export function putEntry(db: Database, day: DayOf, parts: Part[]) {
  const pieces = partsOf(parts, filesPerRow);
  return [
    db.delete(archivedDays).where(and(isOf(day), gte(archivedDays.piece, pieces.length))),
    db
      .insert(archivedDays)
      .select(
        db
          .select({
            kind: sql<string>`${day.kind}`.as('kind'),
            accountId: sql<string>`${day.accountId}`.as('account_id'),
            connectionId: sql<string>`${day.connectionId}`.as('connection_id'),
            day: sql<number>`${day.day}`.as('day'),
            piece: sql<number>`key`.as('piece'),
            parts: sql<Part[]>`value`.as('parts'),
          })
          .from(sql`json_each(${JSON.stringify(pieces)})`)
          .where(sql`true`),
      )
      .onConflictDoUpdate({
        target: [
          archivedDays.connectionId,
          archivedDays.kind,
          archivedDays.day,
          archivedDays.piece,
        ],
        set: { parts: excluded(archivedDays.parts) },
        setWhere: ne(archivedDays.parts, excluded(archivedDays.parts)),
      }),
  ];
}

/** Records that records of a day were archived, or that archived ones were changed or deleted. */
export function recordArchived(
  db: Database,
  { kind: name, day, ...owner }: DayOf,
  action: Action,
  ids: unknown[],
) {
  const kind = lists.find(({ list }) => list.archive?.name === name)?.kind;
  if (!kind) throw new Error(`${name} is no list`);
  return recordChange(db, { ...owner, now: Date.now() }, action, kind, ids, day);
}
