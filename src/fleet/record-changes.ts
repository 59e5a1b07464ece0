import { type SQL, sql } from 'drizzle-orm';
import { type Database, write } from '../platform/db/database.ts';
import { int } from '../platform/db/sql.ts';
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
 * Records, at the end of the transaction that upserts records, which have changed: those whose
 * `updated_at` is `now`. Writes one row, or none. `quiet`: nobody is notified of them.
 */
export function recordWritten(db: Database, source: ChangeSource, written: Written[], quiet: boolean) {
  const { accountId, connectionId, now } = source;
  const changed = written.map(({ kind, table, ids }) => {
    const id = sql.identifier(table.id.name);
    return sql`${kind}, (
      select json_group_array(w.value) from json_each(${JSON.stringify(ids)}) w
      cross join ${table} t on t.${id} = w.value where t.updated_at = ${now})`;
  });
  const nothing = JSON.stringify(Object.fromEntries(written.map(({ kind }) => [kind, []])));
  return write(db)`
    with changed (records) as materialized (select json_object(${sql.join(changed, sql`, `)})),
    numbered as materialized (
      select records, ${nextSeq(source)} as seq from changed where records <> ${nothing})
    insert into changes (account_id, seq, lag, connection_id, action, records, quiet)
    select ${accountId}, seq, seq - ${now}, ${connectionId}, 'changed', records, ${Number(quiet)}
    from numbered`;
}

/** How many records a row names at most, as in a call of `/ingest`. */
export const maxRecordsPerRow = 500;

/**
 * The statement that records other changes, or deletions before they happen. `ids` are the records, or
 * a query with a column `id`. Writes one row for 500 records.
 */
export const recordChange = (
  db: Database,
  source: ChangeSource,
  action: Action,
  kind: ListedKind,
  ids: SQL | unknown[],
) => write(db)`${changeRows(source, action, kind, ids)}`;

/** The same as SQL. With `archivedDay` nobody is notified of it. */
export const changeRows = (
  source: ChangeSource,
  action: Action,
  kind: ListedKind,
  ids: SQL | unknown[],
  archivedDay: number | null = null,
): SQL => sql`
  insert into changes (account_id, seq, connection_id, action, records, archived_day, quiet)
  select ${source.accountId}, ${nextSeq(source)} + part, ${source.connectionId}, ${action},
    json_object(${kind}, json_group_array(id)), ${archivedDay}, ${Number(archivedDay !== null)}
  from (
    select id, (row_number() over () - 1) / ${int(maxRecordsPerRow)} as part
    from (${Array.isArray(ids) ? sql`select value as id from json_each(${JSON.stringify(ids)})` : ids}))
  group by part`;

/** Records that records of a day were archived, or that archived ones were changed or deleted. */
export function recordArchived(
  db: Database,
  { kind: name, day, ...owner }: { kind: string; accountId: string; connectionId: string; day: number },
  action: Action,
  ids: unknown[],
) {
  const kind = lists.find(({ list }) => list.archive?.name === name)?.kind;
  if (!kind) throw new Error(`${name} is no list`);
  return write(db)`${changeRows({ ...owner, now: Date.now() }, action, kind, ids, day)}`;
}

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
