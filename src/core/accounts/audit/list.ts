import { and, desc, eq, getTableColumns, lt, type SQL, sql } from 'drizzle-orm';
import { cutSlice, type Slice, type SliceQuery } from '../../platform/db/cursor.ts';
import { transaction } from '../../platform/db/database.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';
import { accounts, auditLog } from '../../platform/db/schema/accounts.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { invalid } from '../../platform/errors.ts';

/** An entry, and `seq`, its place in the account's log; with its name, in the log of all accounts. */
export type Entry = typeof auditLog.$inferSelect & { account?: string | null };

/** A slice of the account's audit log, newest first. */
export async function listAudit(
  env: Env,
  caller: Caller,
  slice: SliceQuery,
): Promise<Slice<Entry>> {
  const { accountId } = caller;
  const which = and(
    eq(auditLog.accountId, accountId),
    slice.after && lt(auditLog.seq, slice.after.sort),
  );
  const rows = await asCaller(env, caller, (db) =>
    db
      .select()
      .from(auditLog)
      .where(which)
      .orderBy(desc(auditLog.seq))
      .limit(slice.limit + 1),
  );
  return cutSlice(rows, slice, ({ seq }) => ({ sort: seq, id: accountId }));
}

/** A slice of the audit log of all accounts, newest first. @throws Refusal: invalid cursor */
export async function listAllAudit(env: Env, slice: SliceQuery): Promise<Slice<Entry>> {
  const { at, accountId, seq } = auditLog;
  const after = slice.after && sql`(${at}, ${accountId}, ${seq}) < ${placeOf(slice.after)}`;
  const db = openDatabase(env);
  const rows = await transaction(
    db,
    db
      .select({ ...getTableColumns(auditLog), account: accounts.name })
      .from(auditLog)
      .leftJoin(accounts, eq(accounts.id, accountId))
      .where(after)
      .orderBy(desc(at), desc(accountId), desc(seq))
      .limit(slice.limit + 1),
  );
  return cutSlice(rows, slice, ({ at, accountId, seq }) => ({
    sort: at,
    id: `${accountId}/${seq}`,
  }));
}

function placeOf({ sort, id }: { sort: number; id: string }): SQL {
  const [accountId, seq] = id.split('/');
  if (!accountId || !seq) throw invalid('Invalid cursor');
  return sql`(${sort}, ${accountId}, ${Number(seq)})`;
}
