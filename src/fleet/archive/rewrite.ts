import { sql } from 'drizzle-orm';
import { statement } from '../../platform/db/database.ts';
import type { Lease } from '../../platform/jobs/lease.ts';
import type { ArchiveKind, Row } from '../lists/archived.ts';
import { bucketOf, type DayOf, type Part } from './bucket.ts';
import { busyMs, inArchive, mayHave, putEntry, type State } from './catalog.ts';
import type { Owner } from './remove.ts';
import { readPart, tidy, usualSizes, writeParts } from './write.ts';

/** Which archived rows are to change, by the value of a key, and how. Nothing may move a row to another place. */
export type Rewrite = { key: string; value: string; change: (row: Row) => Row };

/** How many files one step looks through. */
const filesPerStep = 20;

/** Where to go on: after this day of a kind and connection. */
type Reached = Pick<DayOf, 'kind' | 'connectionId' | 'day'>;

/**
 * Rewrites the archived rows of an owner that have a value, such as those that name a driver, and deletes the files
 * that had them before. Looks through some files at a time: returns a cursor to go on with, which is the same one while
 * another change of the archive goes on, and undefined once all are done.
 */
export async function rewriteArchive(
  env: Env,
  kinds: ArchiveKind[],
  owner: Owner,
  rewrite: Rewrite,
  cursor = '',
): Promise<string | undefined> {
  const bucket = bucketOf(env);
  const having = kinds.filter(({ columns }) => rewrite.key in columns);
  if (!bucket || having.length === 0 || !(await mayHave(env, owner))) return undefined;
  const done = await inArchive(env, async (lease) => {
    let files = 0;
    const days = await daysAfter(lease, having, owner, cursor);
    for (const [at, { state, parts: stored, ...day }] of days.entries()) {
      const kind = having.find(({ name }) => name === day.kind);
      const parts: Part[] = JSON.parse(stored);
      if (kind) await rewriteDay(bucket, kind, day, { state, parts }, lease, rewrite);
      files += parts.length;
      if (files >= filesPerStep || at === filesPerStep - 1) return JSON.stringify(reachedOf(day));
    }
    return undefined;
  });
  if (done !== 'busy') return done.result;
  await scheduler.wait(busyMs);
  return cursor;
}

const reachedOf = ({ kind, connectionId, day }: DayOf): Reached => ({ kind, connectionId, day });

function daysAfter({ db }: Lease, kinds: ArchiveKind[], { accountId, connectionId }: Owner, cursor: string) {
  const {
    kind,
    connectionId: after,
    day,
  }: Reached = cursor
    ? JSON.parse(cursor) // as a step has returned it
    : { kind: '', connectionId: '', day: -1 };
  const names = JSON.stringify(kinds.map(({ name }) => name));
  return statement<DayOf & { state: State; parts: string }>(
    db,
    sql`select kind, account_id as accountId, connection_id as connectionId, day, state, parts from archived_days
      where (kind, connection_id, day) > (${kind}, ${after}, ${day})
        and kind in (select value from json_each(${names})) and account_id = ${accountId}
        and (${connectionId ?? null} is null or connection_id = ${connectionId ?? null})
      order by kind, connection_id, day limit ${filesPerStep}`,
  );
}

async function rewriteDay(
  bucket: R2Bucket,
  kind: ArchiveKind,
  day: DayOf,
  { state, parts }: { state: State; parts: Part[] },
  { db, write }: Lease,
  { key, value, change }: Rewrite,
): Promise<void> {
  const fresh: Part[] = [];
  for (const part of parts) {
    const values = await readPart(bucket, kind, day, part.file, [key]);
    const rows = values?.some((row) => row[key] === value) && (await readPart(bucket, kind, day, part.file));
    if (!rows) {
      fresh.push(part);
      continue;
    }
    const changed = rows.map((row) => (row[key] === value ? change(row) : row));
    const move = { bucket, kind, day, sizes: usualSizes };
    fresh.push(...(await writeParts(move, changed, part.file)));
  }
  if (fresh.every((part) => parts.includes(part))) return;
  await write(putEntry(db, day, state, fresh));
  await tidy(bucket, day, fresh);
}
