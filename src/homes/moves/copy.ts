import { sql } from 'drizzle-orm';
import { change, openDatabase, statement, transaction } from '../../platform/db/database.ts';
import { d1Reason } from '../../platform/db/retry.ts';
import { keyOf, nextPlace, pageStatements, type Row, withKeys } from './pages.ts';
import { type Cursor, goTo, inNewHome, inOldHome, type Job, type Move } from './state.ts';
import { type Moved, movedTables, parents } from './tables.ts';
import { countKeys, makeRoom, removals, upserts } from './write.ts';

/** How many rows a chunk has at first and at most, and how many characters it should have. */
const rowsAtFirst = 100;
const maxRows = 1000;
const wantedCharacters = 700_000;

/** How many changes one round of catching up takes. */
export const changesPerRound = 400;

/** Some rows of the home that were copied are not there. */
export class Missing extends Error {}

/**
 * Copies the next rows of one table, whose count in the new home is compared. What has changed meanwhile is copied
 * first, for rows may refer to others that are new.
 */
export async function copyChunk(job: Job, { cursor }: Move): Promise<void> {
  const { table: at = 0, after, rows: limit = rowsAtFirst } = cursor;
  const table = movedTables[at];
  if (!table) {
    await inOldHome(job, (db) => [goTo(db, job, 'copying files')] as const);
    return;
  }
  if (at >= parents) await catchUp(job);
  const db = openDatabase(job.from);
  const [rows, end] = await transaction(db, pageStatements(db, table, job.accountId, after, limit), {
    repeatable: true,
  });
  if (rows.length > 0 && !(await write(job, table, rows))) return; // and read afresh
  const place = nextPlace(table, limit, rows, end);
  const next: Cursor = place
    ? { table: at, after: place, rows: nextSize(rows, limit) }
    : { table: at + 1, rows: nextSize(rows, limit) };
  await inOldHome(job, (old) => [goTo(old, job, 'copying', { cursor: next, copied: rows.length })] as const);
}

/** Writes rows. Returns false if one refers to another that has come or gone since. @throws Missing */
async function write(job: Job, table: Moved, rows: Row[]): Promise<boolean> {
  try {
    const results = await inNewHome(job, (db) => [
      ...makeRoom(db, job, table, rows),
      ...upserts(db, job, table, rows),
      countKeys(db, table, rows),
    ]);
    checkCount(table, rows, results.at(-1));
    return true;
  } catch (error) {
    if (!d1Reason(error).includes('FOREIGN KEY constraint failed')) throw error;
    await catchUp(job);
    return false;
  }
}

function checkCount({ name }: Moved, rows: Row[], result: unknown): void {
  const [found] = result as { count: number }[]; // of `countKeys`
  if (found?.count !== rows.length)
    throw new Missing(`${found?.count} of ${rows.length} rows of ${name} are there`);
}

/** Chunks grow and shrink with the rows. */
function nextSize(rows: Row[], limit: number): number {
  const size = JSON.stringify(rows).length;
  const factor = size === 0 ? 2 : Math.min(2, wantedCharacters / size);
  return Math.max(10, Math.min(maxRows, Math.floor(limit * factor)));
}

type Noted = { id: number; tableName: string; key: string };

/**
 * Copies what has changed in the old home since it was copied, the oldest changes first, and deletes what is gone.
 * Returns how many changes there were; fewer than a round takes means that there were no more.
 */
export async function catchUp(job: Job): Promise<number> {
  const { accountId } = job;
  const db = openDatabase(job.from);
  const noted = await statement<Noted>(
    db,
    sql`select id, table_name as tableName, key from moved_rows where account_id = ${accountId}
      order by id limit ${changesPerRound}`,
  );
  const last = noted.at(-1);
  if (!last) return 0;
  const changed = movedTables.flatMap((table) => {
    const own = noted.filter(({ tableName }) => tableName === table.name).map(({ key }) => key);
    return own.length > 0
      ? [{ table, keys: [...new Set(own)].map((key) => JSON.parse(key) as unknown[]) }]
      : [];
  });
  const [first, ...others] = changed.map(({ table, keys }) => withKeys(db, table, accountId, keys));
  if (!first) throw new Error('Changes are noted of tables only that move');
  const found: readonly Row[][] = await transaction(db, [first, ...others], { repeatable: true });
  await inNewHome(job, (there) => [
    ...changed.toReversed().flatMap(({ table, keys }) => {
      const kept = new Set(found[changed.findIndex((one) => one.table === table)]?.map(keyText(table)));
      const gone = keys.filter((key) => !kept.has(JSON.stringify(key)));
      return gone.length > 0 ? removals(there, job, table, gone) : [];
    }),
    ...changed.flatMap(({ table }, at) => makeRoom(there, job, table, found[at] ?? [])),
    ...changed.flatMap(({ table }, at) => {
      const rows = found[at] ?? [];
      return rows.length > 0 ? upserts(there, job, table, rows) : [];
    }),
  ]);
  await inOldHome(
    job,
    (old) =>
      [
        change(old, sql`delete from moved_rows where account_id = ${accountId} and id <= ${last.id}`),
      ] as const,
  );
  return noted.length;
}

const keyText =
  (table: Moved) =>
  (row: Row): string =>
    JSON.stringify(keyOf(table, row));
