import { and, eq, sql } from 'drizzle-orm';
import type { ArchiveKind } from '../../core/fleet/lists/list.ts';
import { bucketOf } from '../../core/platform/bucket.ts';
import { asCaller, type Caller, notBeingDeleted } from '../../core/platform/db/guard.ts';
import { partsOf } from '../../core/platform/parts.ts';
import type { ArchivedRow } from './archived.ts';
import { type DayOf, type Part, readAgain } from './bucket.ts';
import { readRowsOf } from './files.ts';
import { archivedDays } from './tables.ts';

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
  const rowsOn = async ({ parts, ...day }: DayOf & { parts: Part[] }): Promise<ArchivedRow[]> => {
    const found: ArchivedRow[] = [];
    for (const { file } of parts)
      found.push(...(await readRowsOf({ bucket, kind, day }, file, ids)));
    return found;
  };
  return readAgain(async () => {
    const days = await asCaller(env, caller, (db) =>
      db
        .select({
          kind: archivedDays.kind,
          accountId: archivedDays.accountId,
          connectionId: archivedDays.connectionId,
          day: archivedDays.day,
          parts: archivedDays.parts,
        })
        .from(sql`(
          select distinct value->>0 as connection_id, value->>1 as day
          from json_each(${places})) wanted`)
        .crossJoin(archivedDays)
        .where(
          and(
            eq(archivedDays.kind, kind.name),
            eq(archivedDays.connectionId, sql`wanted.connection_id`),
            eq(archivedDays.day, sql`wanted.day`),
            sql`+${archivedDays.accountId} = ${caller.accountId}`,
            notBeingDeleted(archivedDays.connectionId),
          ),
        ),
    );
    const found: ArchivedRow[] = [];
    for (const some of partsOf(days, daysAtATime))
      found.push(...(await Promise.all(some.map(rowsOn))).flat());
    return found;
  });
}
