import { sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/database.ts';
import { auditLog } from '../../platform/db/schema/accounts.ts';
import { dayMs } from '../../platform/durations.ts';
import { deleteUpTo, pruning, rowsPerChunk } from '../../platform/jobs/chunks.ts';

export const auditDays = 365;

export const maxAuditEntries = 100_000;

/** Reads one index entry per account. */
const deleteSurplus = (db: Database) =>
  // A recursive CTE.
  db.run(sql`
    delete from audit_log where (account_id, seq) in (
      with recursive owners (id) as (
        select min(account_id) from audit_log
        union all
        select (select min(account_id) from audit_log where account_id > owners.id)
        from owners where owners.id is not null)
      select l.account_id, l.seq
      from owners
      cross join audit_log l on l.account_id = owners.id
        and l.seq <= (select max(seq) from audit_log where account_id = owners.id) - ${maxAuditEntries}
      limit ${rowsPerChunk})`);

/** Deletes audit entries older than a year, and an account's oldest beyond 100,000. */
export const pruneAudit = pruning((db, now) => [
  deleteUpTo(db, auditLog.at, now - auditDays * dayMs),
  deleteSurplus(db),
]);
