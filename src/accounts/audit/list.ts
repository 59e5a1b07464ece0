import { type SQL, sql } from 'drizzle-orm';
import { cutSlice, type Slice, type SliceQuery } from '../../platform/db/cursor.ts';
import { type Database, read } from '../../platform/db/database.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { invalid } from '../../platform/errors.ts';
import type { AuditEntry } from './entry.ts';

/** An entry, and its place in the account's log. */
export type Entry = AuditEntry & { seq: number };

/** A slice of the account's audit log, newest first. */
export async function listAudit(
  env: Env,
  caller: Caller,
  slice: SliceQuery,
): Promise<Slice<Entry>> {
  const { accountId } = caller;
  const after = slice.after ? sql`and seq < ${slice.after.sort}` : sql.empty();
  const which = sql`account_id = ${accountId} ${after} order by seq desc limit ${slice.limit + 1}`;
  const rows = await asCaller(env, caller, (db) => select(db, which));
  return cutSlice(rows.map(entryOf), slice, ({ seq }) => ({ sort: seq, id: accountId }));
}

/** A slice of the audit log of all accounts, newest first. @throws Refusal: invalid cursor */
export async function listAllAudit(env: Env, slice: SliceQuery): Promise<Slice<Entry>> {
  const after = slice.after
    ? sql`and (at, account_id, seq) < ${placeOf(slice.after)}`
    : sql.empty();
  const rows = await select(
    openDatabase(env),
    sql`true ${after} order by at desc, account_id desc, seq desc limit ${slice.limit + 1}`,
    sql`, (select name from accounts where id = account_id) as account`,
  );
  return cutSlice(rows.map(entryOf), slice, ({ at, accountId, seq }) => ({
    sort: at,
    id: `${accountId}/${seq}`,
  }));
}

type StoredEntry = Omit<Entry, 'fields'> & { fields: string };

const select = (db: Database, which: SQL, more: SQL = sql.empty()) =>
  read<StoredEntry>(db)`
    select account_id as accountId, seq, at, actor, actor_id as actorId, actor_name as actorName, action, subject,
      subject_id as subjectId, subject_name as subjectName, fields ${more}
    from audit_log where ${which}`;

function placeOf({ sort, id }: { sort: number; id: string }): SQL {
  const [accountId, seq] = id.split('/');
  if (!accountId || !seq) throw invalid('Invalid cursor');
  return sql`(${sort}, ${accountId}, ${Number(seq)})`;
}

const entryOf = (row: StoredEntry): Entry => ({ ...row, fields: JSON.parse(row.fields) });
