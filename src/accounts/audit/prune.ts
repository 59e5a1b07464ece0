import { type SQL, sql } from 'drizzle-orm';
import { openDatabase } from '../../platform/db/database.ts';
import { dayMs } from '../../platform/durations.ts';
import { deleteUpTo, pruning, type Remover, rowsPerChunk, untilNone } from '../../platform/jobs/chunks.ts';

/** How many days an entry of the audit log is kept. */
export const auditDays = 365;

/** How many entries of an account are kept: the newest. A program that changes webhooks all day makes no more. */
export const maxAuditEntries = 100_000;

/** Seeks from account to account: one look at each account's newest entry. */
const surplusEntries: SQL = sql`
  delete from audit_log where (account_id, seq) in (
    with recursive owners (id) as (
      select min(account_id) from audit_log
      union all
      select (select min(account_id) from audit_log where account_id > owners.id)
      from owners where owners.id is not null)
    select l.account_id, l.seq from owners cross join audit_log l on l.account_id = owners.id
      and l.seq <= (select max(seq) from audit_log where account_id = owners.id) - ${maxAuditEntries}
    limit ${rowsPerChunk})`;

/** Deletes entries of the audit log that are a year old, and an account's oldest beyond 100,000. */
export const pruneAudit = pruning((now) => [
  deleteUpTo(now - auditDays * dayMs, {
    table: 'audit_log',
    key: 'account_id, seq',
    time: 'at',
    index: 'audit_log_by_time',
  }),
  surplusEntries,
]);

/** Deletes the account's entries. */
export const removeAuditLog: Remover = (env, { accountId }) =>
  untilNone(openDatabase(env), [
    sql`delete from audit_log where account_id = ${accountId} and seq in (
      select seq from audit_log where account_id = ${accountId} order by seq limit ${rowsPerChunk})`,
  ]);
