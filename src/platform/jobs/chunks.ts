import { type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { columnList, type Database, transaction } from '../db/database.ts';
import { indexesOn, keyOf } from '../db/keys.ts';
import { openDatabase } from '../db/system.ts';
import { type Budget, inSteps, newBudget } from './budget.ts';

/** How many rows one statement of a job changes at most, so that it delays others little. */
export const rowsPerChunk = 2000;

/** Runs a statement with `limit rowsPerChunk` until it finds less, or the budget is used up. */
export async function changeInChunks(
  db: Database,
  statement: SQL,
  budget: Budget = newBudget(),
  before?: SQL,
): Promise<number> {
  let changed = 0;
  await inSteps(budget, async () => {
    const work = [before, statement].flatMap((query) => (query ? db.run(query) : []));
    const results = await transaction(db, work, { repeatable: true });
    const { changes = 0 } = results.at(-1)?.meta ?? {};
    changed += changes;
    return changes === rowsPerChunk;
  });
  return changed;
}

/** A job that deletes old rows in chunks. A test asks SQLite for the plans of its `statements`. */
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

/** The statement that deletes a chunk of the rows whose `time` is `before` or earlier, by an index on it. */
export function deleteUpTo(time: SQLiteColumn, before: number): SQL {
  const { table } = time;
  const key = columnList(keyOf(table).map(({ name }) => name));
  const by = sql.identifier(indexesOn(time)[0]?.name ?? '');
  return sql`
    delete from ${table} where (${key}) in (
      select ${key} from ${table} indexed by ${by}
      where ${time} <= ${before}
      limit ${rowsPerChunk})`;
}

/** Runs statements that remove a chunk in one transaction. Returns '' while they find something. */
export async function untilNone(db: Database, queries: SQL[]): Promise<'' | undefined> {
  if (queries.length === 0) return undefined;
  const statements = queries.map((query) => db.run(query));
  const results = await transaction(db, statements, { repeatable: true });
  return results.some(({ meta }) => meta.changes > 0) ? '' : undefined;
}
