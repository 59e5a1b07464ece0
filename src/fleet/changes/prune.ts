import { sql } from 'drizzle-orm';
import { dayMs } from '../../platform/durations.ts';
import { pruning, rowsPerChunk } from '../../platform/jobs/chunks.ts';

/** How long a change is kept, and how old a cursor may be. */
export const keptMs = 30 * dayMs;

/** Deletes changes older than 30 days, account by account, so that only deleted rows are read. */
export const pruneChanges = pruning((now) => [
  sql`
    with recursive feeds (id) as (
      select min(account_id) from changes
      union all
      select (select min(account_id) from changes where account_id > feeds.id)
      from feeds where feeds.id is not null)
    delete from changes where (account_id, seq) in (
      select c.account_id, c.seq from feeds
      cross join changes c on c.account_id = feeds.id and c.seq < ${now - keptMs}
      limit ${rowsPerChunk})`,
]);
