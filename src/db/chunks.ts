import { type SQL, sql } from 'drizzle-orm';
import { change, type Database, transaction } from './database.ts';

/** How many rows one statement of a job changes at most, so that nobody waits long for it. */
export const rowsPerChunk = 2000;

/** How many of these statements a job runs at most; the next run goes on. */
const maxChunks = 100;

/**
 * Runs a statement that deletes or changes rows until it finds less than a chunk. It must select them by an index,
 * with `limit rowsPerChunk`. `before` runs in the same transactions, ahead of it. Returns the number of rows.
 */
export async function changeInChunks(
  db: Database,
  statement: SQL,
  before: SQL = sql`select 0`,
): Promise<number> {
  let changed = 0;
  for (let chunk = 0; chunk < maxChunks; chunk++) {
    const [, { meta }] = await transaction(db, [change(db, before), change(db, statement)], {
      repeatable: true,
    });
    changed += meta.changes;
    if (meta.changes < rowsPerChunk) break;
  }
  return changed;
}
