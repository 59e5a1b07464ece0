import { sql } from 'drizzle-orm';
import { change, type Database, statement } from '../../platform/db/database.ts';
import { asCaller, type Caller, notBeingDeleted } from '../../platform/db/guard.ts';
import { dayMs } from '../../platform/durations.ts';
import { pruning, rowsPerChunk } from '../../platform/jobs/chunks.ts';
import type { ArchivedRow, ArchiveKind } from '../lists/archived.ts';
import { bucketOf, type DayOf, type Part, readAgain } from './bucket.ts';
import { readRowsWith } from './parquet.ts';

/** How long after a change an archived record is found by its id: a day longer than in the change feed. */
const keptMs = 31 * dayMs;

/** Records where these rows, if recently changed, are archived. Runs before they are deleted from D1. */
export const noteLately = (
  db: Database,
  { name }: ArchiveKind,
  day: DayOf,
  rows: ArchivedRow[],
  now = Date.now(),
) => {
  const lately = rows.filter((row) => Number(row.updatedAt) > now - keptMs);
  const versions = JSON.stringify(lately.map((row) => [row.id, row.updatedAt]));
  return change(db)`insert into archived_lately (kind, id, account_id, connection_id, day, changed_at)
      select ${name}, value->>0, ${day.accountId}, ${day.connectionId}, ${day.day}, value->>1
      from json_each(${versions}) where true
      on conflict do update set day = excluded.day, changed_at = excluded.changed_at
        where (day, changed_at) is not (excluded.day, excluded.changed_at)`;
};

/** How many days are read in parallel. */
const daysAtATime = 5;

/**
 * Finds archived records by id that have changed in the last 31 days, as D1 would return them. Reads the files of each
 * day concerned.
 *
 * @throws Refusal: unauthenticated, forbidden, unavailable when a file cannot be read
 */
export async function findArchived(
  env: Env,
  caller: Caller,
  kind: ArchiveKind,
  ids: string[],
): Promise<ArchivedRow[]> {
  const bucket = bucketOf(env);
  if (!bucket || ids.length === 0) return [];
  return readAgain(async () => {
    const found: ArchivedRow[] = [];
    const days = await daysWith(env, caller, kind, ids);
    for (let at = 0; at < days.length; at += daysAtATime) {
      const some = days.slice(at, at + daysAtATime);
      found.push(...(await Promise.all(some.map((day) => rowsOn(bucket, kind, day)))).flat());
    }
    return found;
  });
}

type DayWith = DayOf & { parts: string; ids: string };

async function daysWith(env: Env, caller: Caller, kind: ArchiveKind, ids: string[]): Promise<DayWith[]> {
  const [days] = await asCaller(env, caller, (db) => [
    statement<DayWith>(db)`
      select d.kind, d.account_id as accountId, d.connection_id as connectionId, d.day, d.parts,
              json_group_array(l.id) as ids
            from json_each(${JSON.stringify(ids)}) w
            cross join archived_lately l on l.kind = ${kind.name} and l.id = w.value
            cross join archived_days d on d.kind = l.kind and d.connection_id = l.connection_id and d.day = l.day
            where l.account_id = ${caller.accountId} and ${notBeingDeleted(sql`l.connection_id`)}
            group by d.connection_id, d.day`,
  ]);
  return days;
}

async function rowsOn(
  bucket: R2Bucket,
  kind: ArchiveKind,
  { parts, ids, ...day }: DayWith,
): Promise<ArchivedRow[]> {
  const wanted = new Set<unknown>(JSON.parse(ids));
  const files: Part[] = JSON.parse(parts);
  const found: ArchivedRow[] = [];
  for (const { file } of files)
    found.push(...(await readRowsWith({ bucket, kind, day }, file, 'id', wanted)));
  return found;
}

/** Forgets the places of records that changed longer ago. */
export const forgetLately = pruning((now) => [
  sql`delete from archived_lately where (kind, id) in (
    select kind, id from archived_lately where changed_at < ${now - keptMs} limit ${rowsPerChunk})`,
]);
