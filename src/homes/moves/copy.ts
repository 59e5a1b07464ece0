import { sql } from 'drizzle-orm';
import { removeMarks } from '../../fleet/trends/job.ts';
import { change, type Database, openDatabase, statement, transaction } from '../../platform/db/database.ts';
import { countOf, type MovedRow, nextKey, pageStatements, raw } from './pages.ts';
import { cancel, goTo, inNewHome, inOldHome, type Job, type Move } from './state.ts';
import { derived, type Moved, movedTables } from './tables.ts';

/** How many rows a chunk has at first and at most, and how many bytes it should have. */
const rowsAtFirst = 100;
const maxRows = 1000;
const wantedBytes = 700_000;

/** Copies the next rows of one table. Nothing changes them meanwhile; copying them twice is harmless. */
export async function copyChunk(job: Job, { cursor }: Move): Promise<void> {
  const { table: at = 0, after, rows: limit = rowsAtFirst } = cursor;
  const table = job.tables[at];
  if (!table) {
    await inOldHome(job, (db) => [goTo(db, job, 'copying files')]);
    return;
  }
  const page = pageStatements(openDatabase(job.from), table, job.accountId, after, limit);
  const [rows, end] = await transaction(openDatabase(job.from), page, { repeatable: true });
  await inNewHome(job, (db) => [
    // Copying the events marked their hours as due.
    ...(table.name === 'event_counts_due' && !after ? [removeMarks(db, job.accountId)] : []),
    ...upserts(db, table, rows),
  ]);
  const place = nextKey(table, limit, rows, end);
  const size = nextSize(rows, limit);
  const next = place ? { table: at, after: place, rows: size } : { table: at + 1, rows: size };
  await inOldHome(job, (db) => [goTo(db, job, 'copying', { cursor: next, copied: rows.length })]);
}

function nextSize(rows: MovedRow[], limit: number): number {
  const factor = Math.min(2, wantedBytes / bytesOf(JSON.stringify(rows)));
  return Math.max(10, Math.min(maxRows, Math.floor(limit * factor)));
}

const upserts = (db: Database, { name, columns, key }: Moved, rows: MovedRow[]) => {
  const others = columns.filter((column) => !key.includes(column));
  const update =
    others.length > 0
      ? `do update set ${others.map((column) => `${column} = excluded.${column}`).join(', ')}`
      : 'do nothing';
  const values = columns.map((_, at) => `value->>${at}`).join(', ');
  return jsonArrays(rows.map((row) => columns.map((column) => row[column]))).map(
    (json) =>
      change(db)`insert into ${raw(`${name} (${columns.join(', ')})`)}
        select ${raw(values)} from json_each(${json}) where true on conflict (${raw(key.join(', '))}) ${raw(update)}`,
  );
};

const bytesOf = (text: string): number => new TextEncoder().encode(text).byteLength;

/** The values as JSON arrays that fit a parameter: 2 MB in D1, twice as much locally. */
export function jsonArrays(values: unknown[]): string[] {
  const parts: string[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const value of values.map((one) => JSON.stringify(one))) {
    if (size + bytesOf(value) > wantedBytes) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)?.push(value);
    size += bytesOf(value) + 1;
  }
  return parts.map((part) => `[${part.join(',')}]`);
}

/**
 * Compares the row counts of each table in both homes and decides: from here on the move completes, or it is cancelled,
 * because the new home lacks rows. It may have more, if the old home has pruned some since.
 */
export async function compare(job: Job): Promise<void> {
  const [old, copied] = await Promise.all([
    countRows(job.from, job.accountId),
    countRows(job.to, job.accountId),
  ]);
  const lacking = Object.entries(old).find(
    ([table, count]) => !derived.includes(table) && (copied[table] ?? 0) < count,
  );
  if (!lacking) {
    await inOldHome(job, (db) => [goTo(db, job, 'switching')]);
    return;
  }
  const [table, count] = lacking;
  await cancel(job.from, job.accountId, `${table} has ${count} rows and ${copied[table]} copied`);
}

/** The account's rows in a home by table, except notifications, which have no index for it. */
export async function countRows(env: Env, accountId: string): Promise<Record<string, number>> {
  const counts = (await movedTables(env)).flatMap((table) => {
    const count = countOf(table, accountId);
    return count ? [sql`${count} as ${raw(`"${table.name}"`)}`] : [];
  });
  const [found = {}] = await statement<Record<string, number>>(openDatabase(env))`
    select ${sql.join(counts, sql`, `)}`;
  return found;
}
