import { sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { columnList, type Database, type Statement, transaction } from '../db/database.ts';
import { indexesOn, keyOf } from '../db/keys.ts';
import { openDatabase } from '../db/system.ts';
import { type Budget, inSteps, newBudget } from './budget.ts';

/** How many rows one statement of a job changes at most, so that it delays others little. */
export const rowsPerChunk = 2000;

/** Runs a statement with `limit rowsPerChunk` until it finds less, or the budget is used up. */
export async function changeInChunks(
  db: Database,
  statement: Statement<D1Result>,
  budget: Budget = newBudget(),
  before?: Statement<D1Result>,
): Promise<number> {
  let changed = 0;
  await inSteps(budget, async () => {
    const { done } = await transaction(db, { before, done: statement }, { repeatable: true });
    changed += done.meta.changes;
    return done.meta.changes === rowsPerChunk;
  });
  return changed;
}

/** A job that deletes old rows in chunks. A test asks SQLite for the plans of its `statements`. */
export const pruning = (statements: (db: Database, now: number) => Statement<D1Result>[]) =>
  Object.assign(
    async (env: Env, now = Date.now(), budget: Budget = newBudget()): Promise<number> => {
      const db = openDatabase(env);
      let deleted = 0;
      for (const statement of statements(db, now))
        deleted += await changeInChunks(db, statement, budget);
      return deleted;
    },
    { statements },
  );

/** The statement that deletes a chunk of the rows whose `time` is `before` or earlier, by an index on it. */
export function deleteUpTo(db: Database, time: SQLiteColumn, before: number) {
  const { table } = time;
  const key = columnList(keyOf(table).map(({ name }) => name));
  const by = sql.identifier(indexesOn(time)[0]?.name ?? '');
  // It names the index.
  return db.run(sql`
    delete from ${table} where (${key}) in (
      select ${key} from ${table} indexed by ${by}
      where ${time} <= ${before}
      limit ${rowsPerChunk})`);
}

/** Runs statements that remove a chunk in one transaction. Returns '' while they find something. */
export async function untilNone(
  db: Database,
  statements: Statement<D1Result>[],
): Promise<'' | undefined> {
  if (statements.length === 0) return undefined;
  const results = await transaction(db, statements, { repeatable: true });
  return results.some(({ meta }) => meta.changes > 0) ? '' : undefined;
}
