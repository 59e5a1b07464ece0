import { sql } from 'drizzle-orm';
import { change, type Database, statement } from '../../platform/db/database.ts';
import { keyOf, onKey, type Row, raw } from './pages.ts';
import { type Job, openGate } from './state.ts';
import { type Moved, movedTables, parents } from './tables.ts';

/** D1 takes values of up to 2 MB; rows travel as one. */
const maxCharacters = 700_000;

/**
 * The statements that write rows in the new home, as they are, and after them one that counts how many are there, for
 * `checkCount`.
 */
export function upserts(db: Database, job: Job, table: Moved, rows: Row[]) {
  const { name, columns, key } = table;
  const others = columns.filter((column) => !key.includes(column));
  const update =
    others.length > 0
      ? `do update set ${others.map((column) => `${column} = excluded.${column}`).join(', ')}`
      : 'do nothing';
  const values = columns.map((_, at) => `value->>${at}`).join(', ');
  return [
    openGate(db, job, name),
    ...split(rows.map((row) => JSON.stringify(columns.map((column) => row[column])))).map((json) =>
      change(
        db,
        sql`insert into ${raw(`${name} (${columns.join(', ')})`)}
          select ${raw(values)} from json_each(${json}) where true on conflict (${raw(key.join(', '))}) ${raw(update)}`,
      ),
    ),
    openGate(db, job, '-'),
  ];
}

/** The statement that counts which of these rows a home has. */
export const countKeys = (db: Database, table: Moved, rows: Row[]) =>
  statement<{ count: number }>(
    db,
    sql`select count(*) as count from json_each(${JSON.stringify(rows.map((row) => keyOf(table, row)))}) k
      cross join ${raw(table.name)} t on ${raw(onKey(table))}`,
  );

/**
 * Two rows may have swapped what has to be unique. These statements, ahead of the upserts, make room for the rows with
 * these keys.
 */
export const makeRoom = (db: Database, job: Job, table: Moved, rows: Row[]) =>
  table.unique.length === 0 || rows.length === 0
    ? []
    : [
        openGate(db, job, table.name),
        change(
          db,
          sql`update ${raw(table.name)} as t set ${raw(
            table.unique.map((column) => `${column} = t.${table.key[0]} || ' ' || ${column}`).join(', '),
          )} from json_each(${JSON.stringify(rows.map((row) => keyOf(table, row)))}) k where ${raw(onKey(table))}`,
        ),
      ];

/** The statements that delete the rows with these keys. What hangs on rows of the first tables goes with them. */
export function removals(db: Database, job: Job, table: Moved, keys: unknown[][]) {
  const isParent = movedTables.indexOf(table) < parents;
  return [
    openGate(db, job, isParent ? '' : table.name),
    ...split(keys.map((key) => JSON.stringify(key))).map((json) =>
      change(
        db,
        sql`delete from ${raw(table.name)} where (${raw(table.key.join(', '))}) in (
          select ${raw(table.key.map((_, at) => `value->>${at}`).join(', '))} from json_each(${json}))`,
      ),
    ),
    openGate(db, job, '-'),
  ];
}

/** JSON arrays of these values, each so small that it fits a parameter. */
function split(values: string[]): string[] {
  const parts: string[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const value of values) {
    if (size + value.length > maxCharacters) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)?.push(value);
    size += value.length + 1;
  }
  return parts.map((part) => `[${part.join(',')}]`);
}
