import { sql } from 'drizzle-orm';
import { type Caller, notBeingDeleted, rowsFor } from '../../platform/db/guard.ts';
import { partsOf } from '../../platform/parts.ts';
import type { ArchivedRow, ArchiveKind } from '../lists/archived.ts';
import { bucketOf, type DayOf, type Part, readAgain } from './bucket.ts';
import { readRowsOf } from './files.ts';

const daysAtATime = 5;

/** Finds archived records by their ids and days, as D1 would return them. @throws Refusal: unavailable */
export async function findArchived(
  env: Env,
  caller: Caller,
  kind: ArchiveKind,
  wanted: { id: string; connectionId: string; day: number }[],
): Promise<ArchivedRow[]> {
  const bucket = bucketOf(env);
  if (!bucket || wanted.length === 0) return [];
  const ids = new Set<unknown>(wanted.map(({ id }) => id));
  const places = JSON.stringify(wanted.map(({ connectionId, day }) => [connectionId, day]));
  const rowsOn = async ({ parts, ...day }: DayOf & { parts: string }): Promise<ArchivedRow[]> => {
    const found: ArchivedRow[] = [];
    for (const { file } of JSON.parse(parts) as Part[]) // as the catalog has them
      found.push(...(await readRowsOf({ bucket, kind, day }, file, ids)));
    return found;
  };
  return readAgain(async () => {
    const days = await rowsFor<DayOf & { parts: string }>(env, caller)`
      select d.kind, d.account_id as accountId, d.connection_id as connectionId, d.day, d.parts
      from (select distinct value->>0 as connection_id, value->>1 as day from json_each(${places})) w
      cross join archived_days d
      on d.kind = ${kind.name} and d.connection_id = w.connection_id and d.day = w.day
      where +d.account_id = ${caller.accountId} and ${notBeingDeleted(sql`d.connection_id`)}`;
    const found: ArchivedRow[] = [];
    for (const some of partsOf(days, daysAtATime))
      found.push(...(await Promise.all(some.map(rowsOn))).flat());
    return found;
  });
}
