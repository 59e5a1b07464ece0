import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { type Database, int } from '../platform/db/database.ts';
import type { AccountTable } from '../platform/db/schema/types.ts';
import { dayMs } from '../platform/durations.ts';
import { pruning, rowsPerChunk } from '../platform/jobs/chunks.ts';
import type { ListedKind } from './lists/registry.ts';

/** Whose records change, and when (milliseconds since 1970). */
export type ChangeSource = { accountId: string; connectionId: string; now: number };

export type Action = 'changed' | 'deleted';

/** Records of a kind that a transaction has upserted, some of which may be unchanged. */
export type Written = { kind: ListedKind; table: AccountTable; ids: string[] };

/** Records in at most one row what an upsert has changed. `quiet`: nobody is notified of it. */
export function recordWritten(
  db: Database,
  source: ChangeSource & { requestId: string },
  written: Written[],
  { quiet, bytes }: { quiet: boolean; bytes: number },
) {
  const { accountId, connectionId, now } = source;
  const kinds = written.map(({ kind, table, ids }) => {
    const [name, id] = [sql.identifier(kind), sql.identifier(table.id.name)];
    const rows = sql`(
      select json_group_array(w.value) as ids, total(t.created_at = ${now}) as added, count(*) as changed
      from json_each(${JSON.stringify(ids)}) w cross join ${table} t on t.${id} = w.value where t.updated_at = ${now})`;
    return {
      from: sql`${rows} ${name}`,
      ids: sql`${kind}, json(${name}.ids)`,
      added: sql`${name}.added`,
      kind,
    };
  });
  const nothing = JSON.stringify(Object.fromEntries(written.map(({ kind }) => [kind, []])));
  const notifying = kinds.flatMap(({ kind, added }) => {
    if (kind === 'accident') return [sql`accident.changed`];
    return kind === 'safetyEvent' ? [added] : [];
  });
  const deliveries = sql`(select count(*) from webhook_connections where connection_id = ${connectionId})`;
  const count = Math.max(
    1,
    written.reduce((sum, { ids }) => sum + ids.length, 0),
  );
  const more = [
    sql`added`,
    sql`added * ${bytes / count}`,
    quiet ? sql`0` : sql`iif(notifying, notifying * ${deliveries}, 0)`,
  ];
  const usage = more.map(
    (value, i) =>
      sql`cast(${value} + iif(last->>0 = ${today(now)}, coalesce(last->>${int(i + 1)}, 0), 0) as integer)`,
  );
  // Materialized, so that what is counted and numbered is read once.
  return db.run(sql`
    with changed (records, added, notifying) as materialized (
      select json_object(${joined(kinds.map(({ ids }) => ids))}),
        ${sum(kinds.map(({ added }) => added))}, ${sum(notifying)}
      from ${joined(kinds.map(({ from }) => from))}),
    numbered as materialized (
      select *, ${nextSeq(source)} as seq, ${lastUsage(accountId)} as last from changed where records <> ${nothing})
    insert into changes (account_id, seq, lag, connection_id, action, records, quiet, usage, request_id)
    select ${accountId}, seq, seq - ${now}, ${connectionId}, 'changed', records, ${Number(quiet)},
      json_array(${today(now)}, ${joined(usage)}), ${source.requestId}
    from numbered`);
}

const joined = (parts: SQL[]): SQL => sql.join(parts, sql`, `);
const sum = (parts: SQL[]): SQL => sql.join([sql`0`, ...parts], sql` + `);

/** SQL for a day, in days since 1970 (UTC). */
export const today = (now: number): SQL => int(now / dayMs);

/** SQL for what an account had added when a record of it last changed: see the column `usage`. */
export const lastUsage = (accountId: SQL | string): SQL => sql`coalesce((
  select usage from changes where account_id = ${accountId} order by seq desc limit 1), '[]')`;

export const maxRecordsPerRow = 500;

/**
 * The statement that records other changes, or coming deletions, in one row for 500 records: of `ids`, or those that a
 * query in parentheses selects as `id`. With `archivedDay` nobody is notified of it.
 */
export const recordChange = (
  db: Database,
  source: ChangeSource,
  action: Action,
  kind: ListedKind,
  ids: SQLWrapper | unknown[],
  archivedDay: number | null = null,
) =>
  // Set-based: the builder cannot insert a selection that leaves out columns.
  db.run(sql`
    insert into changes (account_id, seq, connection_id, action, records, archived_day, quiet, usage)
    select ${source.accountId}, ${nextSeq(source)} + part, ${source.connectionId}, ${action},
      json_object(${kind}, json_group_array(id)), ${archivedDay}, ${Number(archivedDay !== null)},
      ${lastUsage(source.accountId)}
    from (
      select id, (row_number() over () - 1) / ${int(maxRecordsPerRow)} as part
      from ${Array.isArray(ids) ? sql`(select value as id from json_each(${JSON.stringify(ids)}))` : ids})
    group by part`);

/** D1 runs transactions one by one, so a later commit gets a higher number. */
const nextSeq = ({ accountId, now }: ChangeSource): SQL =>
  sql`max(${now}, 1 + coalesce((select max(seq) from changes where account_id = ${accountId}), 0))`;

/** How long a change is kept, and how old a cursor may be. */
export const keptMs = 30 * dayMs;

/** Deletes changes older than 30 days, account by account, so that only deleted rows are read. */
export const pruneChanges = pruning((db, now) => [
  // A recursive CTE.
  db.run(sql`
    with recursive feeds (id) as (
      select min(account_id) from changes
      union all
      select (select min(account_id) from changes where account_id > feeds.id)
      from feeds where feeds.id is not null)
    delete from changes where (account_id, seq) in (
      select c.account_id, c.seq from feeds
      cross join changes c on c.account_id = feeds.id and c.seq < ${now - keptMs}
      limit ${rowsPerChunk})`),
]);
