import { sql } from 'drizzle-orm';
import { removeMarks } from '../../fleet/trends/job.ts';
import { change, type Database, openDatabase, statement } from '../../platform/db/database.ts';
import {
  bytesOf,
  countOf,
  derived,
  fromArrays,
  jsonArrays,
  list,
  type Moved,
  type MovedRow,
  movedTables,
  nextRows,
  raw,
  wantedBytes,
} from './rows.ts';
import { cancel, goTo, type Job, type Move } from './state.ts';

/** How many rows a chunk has at first and at most. */
const rowsAtFirst = 100;
const maxRows = 1000;

/** Copies the next rows of one table. Nothing changes them meanwhile; copying them twice is harmless. */
export async function copyChunk(job: Job, { cursor }: Move): Promise<void> {
  const { accountId, from, fresh } = job;
  const { table: at = 0, after, rows: limit = rowsAtFirst } = cursor;
  const table = job.tables[at];
  if (!table) {
    await goTo(job, 'copying files');
    return;
  }
  const { rows, next } = await nextRows(from, table, accountId, after, limit);
  // Copying the events marked their hours as due.
  const isFirstDue = table.name === 'event_counts_due' && !after;
  await fresh.write(
    ...(isFirstDue ? [removeMarks(fresh.db, accountId)] : []),
    ...upserts(fresh.db, table, rows),
  );
  const size = nextSize(rows, limit);
  const place = next ? { table: at, after: next, rows: size } : { table: at + 1, rows: size };
  await goTo(job, 'copying', { cursor: place, copied: rows.length });
}

function nextSize(rows: MovedRow[], limit: number): number {
  const factor = Math.min(2, wantedBytes / bytesOf(JSON.stringify(rows)));
  return Math.max(10, Math.min(maxRows, Math.floor(limit * factor)));
}

function upserts(db: Database, { name, columns, key }: Moved, rows: MovedRow[]) {
  const others = columns.filter((column) => !key.includes(column));
  const update =
    others.length > 0
      ? `do update set ${others.map((column) => `${column} = excluded.${column}`).join(', ')}`
      : 'do nothing';
  return jsonArrays(rows.map((row) => columns.map((column) => row[column]))).map(
    (json) =>
      change(db)`insert into ${raw(name)} (${list(columns)}) ${fromArrays(columns, json)}
        on conflict (${list(key)}) ${raw(update)}`,
  );
}

/**
 * Compares the row counts of each table in both homes and decides: from here on the move completes, or it is cancelled,
 * because the new home lacks rows. It may have more, if the old home has pruned some since.
 */
export async function compare(job: Job): Promise<void> {
  const { accountId, from, to } = job;
  const [old, copied] = await Promise.all([countRows(from, accountId), countRows(to, accountId)]);
  const lacking = Object.entries(old).find(
    ([table, count]) => !derived.includes(table) && (copied[table] ?? 0) < count,
  );
  if (!lacking) {
    await goTo(job, 'switching');
    return;
  }
  const [table, count] = lacking;
  await cancel(from, accountId, `${table} has ${count} rows and ${copied[table]} copied`);
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
