import { getTableName, type SQL, sql } from 'drizzle-orm';
import { change, type Database } from '../platform/db/database.ts';
import type { AccountTable } from '../platform/db/tables.ts';
import { dayMs } from '../platform/durations.ts';
import { pruning, rowsPerChunk } from '../platform/jobs/chunks.ts';
import { type ListedKind, lists } from './lists/registry.ts';

/** Whose records change, and when (milliseconds since 1970). */
export type ChangeSource = { accountId: string; connectionId: string; now: number };

export type Action = 'changed' | 'deleted';

/** Records of a kind that a transaction has upserted, some of which may be unchanged. */
export type Written = { kind: ListedKind; table: AccountTable; ids: string[] };

/**
 * Records, at the end of the transaction that upserts records, which of them have changed: those whose `updated_at` is
 * `now`. Writes one row, or none. `quiet`: nobody is notified of them.
 */
export function noteWritten(db: Database, source: ChangeSource, written: Written[], quiet: boolean) {
  const { accountId, connectionId, now } = source;
  const changed = written.map(({ kind, table, ids }) => {
    const name = sql.raw(getTableName(table));
    const those = sql`json_each(${JSON.stringify(ids)}) w cross join ${name} t on t.${sql.raw(table.id.name)} = w.value`;
    return sql`${kind}, (select json_group_array(w.value) from ${those} where t.updated_at = ${now})`;
  });
  const nothing = JSON.stringify(Object.fromEntries(written.map(({ kind }) => [kind, []])));
  return change(db)`
    with changed (records) as materialized (select json_object(${sql.join(changed, sql`, `)}))
    insert into changes (account_id, seq, connection_id, action, records, quiet)
    select ${accountId}, ${nextSeq(source)}, ${connectionId}, 'changed', records, ${Number(quiet)}
    from changed where records <> ${nothing}`;
}

/** How many records a row names at most, as in a call of `/ingest`. */
export const maxRecordsPerRow = 500;

/**
 * The statement that records other changes or deletions of a kind, in the same transaction. `ids` is a query with a
 * column `id`; it runs before a deletion. Writes one row for 500 records.
 */
export const noteRecords = (
  source: ChangeSource,
  action: Action,
  kind: ListedKind,
  ids: SQL,
  archivedDay: number | null = null,
): SQL => sql`
  insert into changes (account_id, seq, connection_id, action, records, archived_day, quiet)
  select ${source.accountId}, ${nextSeq(source)} + part, ${source.connectionId}, ${action},
    json_object(${kind}, json_group_array(id)), ${archivedDay}, ${Number(archivedDay !== null)}
  from (select id, (row_number() over () - 1) / ${sql.raw(String(maxRecordsPerRow))} as part from (${ids}))
  group by part`;

/** Records deletions of records whose ids are known. */
export const noteDeleted = (db: Database, source: ChangeSource, kind: ListedKind, ids: string[]) =>
  change(db)`${noteRecords(source, 'deleted', kind, listOf(ids))}`;

/**
 * Records that records of a day were archived, or that archived ones were changed or deleted. `kind` is the name of
 * their list. Nobody is notified of them.
 */
export function noteArchived(
  db: Database,
  { kind: name, day, ...owner }: { kind: string; accountId: string; connectionId: string; day: number },
  action: Action,
  ids: unknown[],
) {
  const kind = lists.find(({ list }) => list.archive?.name === name)?.kind;
  if (!kind) throw new Error(`${name} is no list`);
  return change(db)`${noteRecords({ ...owner, now: Date.now() }, action, kind, listOf(ids), day)}`;
}

const listOf = (ids: unknown[]): SQL => sql`select value as id from json_each(${JSON.stringify(ids)})`;

/** D1 runs transactions one by one, so a later commit gets a higher number. */
const nextSeq = ({ accountId, now }: ChangeSource): SQL =>
  sql`max(${now}, 1 + coalesce((select max(seq) from changes where account_id = ${accountId}), 0))`;

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
