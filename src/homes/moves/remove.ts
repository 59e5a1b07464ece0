import { openDatabase, transaction } from '../../platform/db/database.ts';
import { removeFiles } from './files.ts';
import { keyOf, nextPlace, pageStatements } from './pages.ts';
import type { Cursor, inNewHome, Job } from './state.ts';
import { movedTables } from './tables.ts';
import { removals } from './write.ts';

const rowsPerChunk = 1000;

/**
 * Deletes some of the rows and files that an account has in a home where it does not live, those that refer to others
 * first. Returns where to go on; undefined once nothing is left.
 */
export async function removeChunk(
  home: Env,
  inHome: typeof inNewHome,
  job: Job,
  { table: at = movedTables.length - 1, after }: Cursor,
): Promise<Cursor | undefined> {
  const table = movedTables[at];
  if (!table) return (await removeFiles(home, job.accountId)) ? undefined : { table: at };
  const db = openDatabase(home);
  const page = pageStatements(db, table, job.accountId, after, rowsPerChunk);
  const [rows, end] = await transaction(db, page, { repeatable: true });
  if (rows.length > 0)
    await inHome(job, (there) =>
      removals(
        there,
        job,
        table,
        rows.map((row) => keyOf(table, row)),
      ),
    );
  const next = nextPlace(table, rowsPerChunk, rows, end);
  return next ? { table: at, after: next } : { table: at - 1 };
}
