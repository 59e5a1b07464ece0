import type { SQL } from 'drizzle-orm';
import { change, type Database, transaction } from './database.ts';

/** How many rows one statement of a pruning job deletes at most, so that nobody waits long for it. */
export const prunedPerChunk = 2000;

/** How many of these statements a job runs at most; the next hour goes on. */
export const maxPruneChunks = 100;

/**
 * Runs `deletion` until it finds less than a chunk. It must select what it deletes by an index, with
 * `limit prunedPerChunk`. Returns the number of rows deleted.
 */
export async function pruneInChunks(db: Database, deletion: SQL): Promise<number> {
  let deleted = 0;
  for (let chunk = 0; chunk < maxPruneChunks; chunk++) {
    const [{ meta }] = await transaction(db, [change(db, deletion)], { repeatable: true });
    deleted += meta.changes;
    if (meta.changes < prunedPerChunk) break;
  }
  return deleted;
}
