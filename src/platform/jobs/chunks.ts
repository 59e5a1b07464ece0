import { type SQL, sql } from 'drizzle-orm';
import { change, type Database, transaction } from '../db/database.ts';
import { openDatabase } from '../db/system.ts';
import { type Budget, inSteps, newBudget } from './budget.ts';

/** How many rows one statement of a job changes at most, so that it delays others little. */
export const rowsPerChunk = 2000;

/**
 * Runs a statement that deletes or changes rows until it finds less than a chunk, or the budget is used up. It must
 * select them by an index, with `limit rowsPerChunk`. `before` runs first in each transaction. Returns the number of
 * rows.
 */
export async function changeInChunks(
  db: Database,
  statement: SQL,
  budget: Budget = newBudget(),
  before: SQL = sql`select 0`,
): Promise<number> {
  let changed = 0;
  await inSteps(budget, async () => {
    const [, { meta }] = await transaction(db, [change(db)`${before}`, change(db)`${statement}`], {
      repeatable: true,
    });
    changed += meta.changes;
    return meta.changes === rowsPerChunk;
  });
  return changed;
}

/**
 * A job that deletes old rows in chunks, and returns how many. A test asks SQLite for the plans of its `statements`.
 */
export const pruning = (statements: (now: number) => SQL[]) =>
  Object.assign(
    async (env: Env, now = Date.now(), budget: Budget = newBudget()): Promise<number> => {
      let deleted = 0;
      for (const statement of statements(now))
        deleted += await changeInChunks(openDatabase(env), statement, budget);
      return deleted;
    },
    { statements },
  );

/** A table, its key, and the index on its time. */
type Timed = { table: string; key: string; time: string; index: string };

/** The statement that deletes a chunk of the rows whose time is `before` or earlier. */
export const deleteUpTo = (before: number, { table, key, time, index }: Timed): SQL => sql`
  delete from ${sql.raw(table)} where (${sql.raw(key)}) in (
    select ${sql.raw(key)} from ${sql.raw(table)} indexed by ${sql.raw(index)}
    where ${sql.raw(time)} <= ${before} limit ${rowsPerChunk})`;

/** Runs statements that remove a chunk in one transaction. Returns '' while they find something. */
export async function untilNone(db: Database, queries: SQL[]): Promise<'' | undefined> {
  const [first, ...others] = queries.map((query) => change(db)`${query}`);
  if (!first) return undefined;
  const results = await transaction(db, [first, ...others], { repeatable: true });
  return results.some(({ meta }) => meta.changes > 0) ? '' : undefined;
}
