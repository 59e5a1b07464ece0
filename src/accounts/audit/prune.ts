import { type SQL, sql } from 'drizzle-orm';
import { openDatabase } from '../../platform/db/database.ts';
import type { Budget } from '../../platform/jobs/budget.ts';
import { changeInChunks, type Remover, rowsPerChunk, untilNone } from '../../platform/jobs/chunks.ts';

/** How many days an entry of the audit log is kept. */
export const auditDays = 365;

/** How many entries of an account are kept: the newest. A program that changes webhooks all day makes no more. */
export const maxAuditEntries = 100_000;

/** Deletes entries of the audit log that are a year old, and an account's oldest beyond 100,000. Returns how many. */
export async function pruneAudit(env: Env, now = Date.now(), budget?: Budget): Promise<number> {
  const db = openDatabase(env);
  const before = now - auditDays * 86_400_000;
  return (
    (await changeInChunks(db, oldEntries(before), budget)) +
    (await changeInChunks(db, surplusEntries(), budget))
  );
}

/** Deletes the account's entries. */
export const removeAuditLog: Remover = (env, { accountId }) =>
  untilNone(openDatabase(env), [
    sql`delete from audit_log where account_id = ${accountId} and seq in (
      select seq from audit_log where account_id = ${accountId} order by seq limit ${rowsPerChunk})`,
  ]);

/** The statements, apart so that a test can ask SQLite for their plans. */
export const oldEntries = (before: number): SQL => sql`
  delete from audit_log where (account_id, seq) in (
    select account_id, seq from audit_log indexed by audit_log_by_time
    where at <= ${before} limit ${rowsPerChunk})`;

/** Seeks from account to account: one look at each account's newest entry. */
export const surplusEntries = (): SQL => sql`
  delete from audit_log where (account_id, seq) in (
    with recursive owners (id) as (
      select min(account_id) from audit_log
      union all
      select (select min(account_id) from audit_log where account_id > owners.id)
      from owners where owners.id is not null)
    select l.account_id, l.seq from owners cross join audit_log l on l.account_id = owners.id
      and l.seq <= (select max(seq) from audit_log where account_id = owners.id) - ${maxAuditEntries}
    limit ${rowsPerChunk})`;
