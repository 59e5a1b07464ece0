import { type SQL, sql } from 'drizzle-orm';
import { type Database, listOf, transaction } from '../db/database.ts';
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

type Timed = { table: string; key: string[]; time: string; index: string };

/** The statement that deletes a chunk of the rows whose time is `before` or earlier. */
export function deleteUpTo(before: number, { table, key, time, index }: Timed): SQL {
  const [from, by, at] = [table, index, time].map((name) => sql.identifier(name));
  return sql`delete from ${from} where (${listOf(key)}) in (
    select ${listOf(key)} from ${from} indexed by ${by} where ${at} <= ${before} limit ${rowsPerChunk})`;
}

/** Runs statements that remove a chunk in one transaction. Returns '' while they find something. */
export async function untilNone(db: Database, queries: SQL[]): Promise<'' | undefined> {
  if (queries.length === 0) return undefined;
  const statements = queries.map((query) => db.run(query));
  const results = await transaction(db, statements, { repeatable: true });
  return results.some(({ meta }) => meta.changes > 0) ? '' : undefined;
}
