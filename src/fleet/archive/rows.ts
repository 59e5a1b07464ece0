import { type SQL, sql } from 'drizzle-orm';
import type { Position } from '../../platform/db/cursor.ts';
import { change, type Database, statement } from '../../platform/db/database.ts';
import { dayMs } from '../../platform/durations.ts';
import type { ArchivedRow, ArchiveKind } from '../lists/archived.ts';
import type { DayOf } from './bucket.ts';

/** How many rows one statement reads or deletes: some tens of milliseconds of D1's time. */
export const rowsPerStatement = 1000;

/** D1's rows of a day in order, after a position. */
export const hotRows = (db: Database, kind: ArchiveKind, day: DayOf, after?: Position) => {
  const { order, id } = orderOf(kind);
  return statement<ArchivedRow>(db)`select ${selected(kind)} from ${kind.table}
      where connection_id = ${day.connectionId} and ${order} < ${(day.day + 1) * dayMs}
        and ${after ? sql`(${order}, ${id}) > (${after.sort}, ${after.id})` : sql`${order} >= ${day.day * dayMs}`}
      order by ${order}, ${id} limit ${rowsPerStatement}`;
};

/** All columns of an archived row, with the table's prefix. */
export const selected = ({ columns }: ArchiveKind, prefix: '' | 't.' = ''): SQL =>
  sql.raw(
    Object.entries(columns)
      .map(([key, { column }]) => `${prefix}${column.name} as "${key}"`)
      .join(', '),
  );

const orderOf = ({ columns, order, id }: ArchiveKind) => ({
  order: sql.raw(columns[order]?.column.name ?? order),
  id: sql.raw(columns[id]?.column.name ?? id),
});

/** Deletes rows from D1, unless they have changed since they were read. */
export const deleteRows = (db: Database, { table, id }: ArchiveKind, rows: ArchivedRow[]) => {
  const versions = JSON.stringify(rows.map((row) => [row[id], row.updatedAt]));
  return change(db)`delete from ${table} where id in (
      select t.id from json_each(${versions}) v
      cross join ${table} t on t.id = v.value->>0 and t.updated_at = v.value->>1)`;
};

/** The connections with rows of this kind from before a time, each with its oldest, except those being deleted. */
export const oldestRows = (
  db: Database,
  kind: ArchiveKind,
  before: number,
  most: number,
  also: SQL = sql.empty(),
) => {
  const { order } = orderOf(kind);
  return statement<{ connectionId: string; accountId: string; oldest: number }>(db)`select * from (
        select id as connectionId, account_id as accountId,
          (select min(${order}) from ${kind.table} t where t.connection_id = c.id) as oldest
        from connections c where not exists (select 1 from deletions d where d.id in (c.id, c.account_id)) ${also})
      where oldest < ${before} limit ${most}`;
};
