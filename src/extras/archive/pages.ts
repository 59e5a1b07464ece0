import { sql } from 'drizzle-orm';
import { shownOf } from '../../core/fleet/lists/list.ts';
import type { Position } from '../../core/platform/db/cursor.ts';
import { type Database, jsonList } from '../../core/platform/db/database.ts';
import { type Caller, connectionsBeingDeleted, isWithin } from '../../core/platform/db/guard.ts';
import { hasId } from '../../core/platform/db/has-id.ts';
import {
  maxPageBytes,
  type Page,
  type PageQuery,
  pageOf,
  type Stream,
  type StreamRow,
  selected,
  selectRows,
  streamOf,
  withoutConnections,
} from '../../core/platform/db/pages.ts';
import { readAsCaller, usePrimary } from '../../core/platform/db/reads.ts';
import { dayMs } from '../../core/platform/durations.ts';
import { type ArchivedRow, newerOf } from './archived.ts';
import { dayOf, PartGone, readAgain } from './bucket.ts';
import { type Archived, type DaysQuery, daysOf, lastDay, newestDay } from './catalog.ts';
import { type ArchivedPageQuery, filesAhead, lastId, readFiles, type Stored } from './read.ts';

/** After so many reads of files a page ends: of one over many small days, or with a filter. */
const enoughReads = 12;
const enoughReadsFiltered = 4;

/** How many days of the archive are read first, which is usually enough, and then. */
const firstDays = 2;
const moreDays = 8;

const enoughBytes = 0.9 * maxPageBytes;

/** Who reads, and where. */
type Reader = { env: Env; bucket: R2Bucket; caller: Caller };

/** Reads a page across archive and D1: a day being moved is read from both, and shown once. */
export const readPageAcross = (reader: Reader, query: ArchivedPageQuery): Promise<Page> =>
  readAgain(
    () => readSteps(reader, query),
    () => usePrimary(reader.caller), // a replica's names may be old
  );

async function readSteps(reader: Reader, query: ArchivedPageQuery): Promise<Page> {
  const page: Page = { rows: [], bytes: 0 };
  const enough = query.archive.filter ? enoughReadsFiltered : enoughReads;
  let { after } = query;
  let reads = 0;
  for (let days = firstDays; ; days = moreDays) {
    const limit = query.limit - page.rows.length;
    const rest = { ...query, after, limit, room: maxPageBytes - page.bytes };
    const step = await readStep(reader, rest, days);
    page.rows.push(...step.rows);
    page.bytes += step.bytes;
    reads += step.reads;
    if (!step.next) return page;
    const isFull = page.rows.length >= query.limit || page.bytes > enoughBytes || reads >= enough;
    if (!step.isArchived || isFull) return { ...page, next: step.next };
    after = step.next;
  }
}

/** Reads on through so many days of the archive, or, if there are none, through D1. */
async function readStep(
  reader: Reader,
  query: ArchivedPageQuery,
  most: number,
): Promise<Page & { isArchived: boolean; reads: number }> {
  const { env, bucket, caller } = reader;
  const wanted = daysQuery(query, caller, most);
  const { leaving, days, late, rows } = await readAsCaller(
    env,
    caller,
    (db) => ({
      leaving: connectionsBeingDeleted(db, caller),
      days: daysOf(db, wanted),
      late: anyLate(db, query, wanted),
      rows: selectRows(db, bounded(query, wanted)),
    }),
    query.connectionId,
  );
  const hot = streamOf(query, withoutConnections(rows, leaving));
  if (days.length === 0) return { ...pageOf(query, [hot]), isArchived: false, reads: 0 };

  const open = days.filter((day) => !leaving.some(({ id }) => id === day.connectionId));
  const stored = await readFiles(bucket, filesAhead(query, caller, open), query);
  if (late[0]?.late) await keepNewer(reader, query, hot, stored);
  const shown = stored.rows.map((row): StreamRow => shownOf(query, row));
  const last: Stream = { rows: [], end: endOf(days, query) };
  return {
    ...pageOf(query, [hot, { ...stored, rows: shown }, last]),
    isArchived: true,
    reads: stored.reads,
  };
}

/** The days that the page may begin in. */
function daysQuery(query: ArchivedPageQuery, caller: Caller, most: number): DaysQuery {
  const { after, descending, connectionId, archive } = query;
  const from = Math.max(query.from, descending ? 0 : (after?.sort ?? 0));
  const to = Math.min(query.to - 1, descending && after ? after.sort : query.to);
  const whose = {
    accountId: caller.accountId,
    connectionId,
    within: isWithin(caller, sql`connection_id`),
  };
  return { kind: archive.kind.name, ...whose, from: dayOf(from), to: dayOf(to), descending, most };
}

/** The rows of D1 up to the end of the archived days. With two bounds, SQLite would read too many rows. */
function bounded({ from, to, ...query }: ArchivedPageQuery, wanted: DaysQuery): PageQuery {
  const order = query.columns[query.order];
  const last = lastDay(wanted);
  if (query.descending) {
    const end = sql`${order} >= max(${from}, coalesce(${last} * ${dayMs}, 0))`;
    return { ...query, to, scope: [...query.scope, end] };
  }
  const end = sql`${order} < min(${to}, coalesce((${last} + 1) * ${dayMs}, ${to}))`;
  return { ...query, from, scope: [...query.scope, end] };
}

/** Where these days end, which is in the next one. */
function endOf(days: Archived[], { descending }: PageQuery): Position {
  const each = days.map(({ day }) => day);
  return descending
    ? { sort: Math.min(...each) * dayMs - 1, id: lastId }
    : { sort: (Math.max(...each) + 1) * dayMs, id: '' };
}

/** Whether D1 has rows of archived days: those being moved, and late ones. */
function anyLate(
  db: Database,
  { archive, table, columns, order }: ArchivedPageQuery,
  wanted: DaysQuery,
) {
  const { all } = archive;
  // Raw as in pages of lists: in a table known only at run time.
  return db.all<{ late: number }>(sql`
    with leads (id) as ${'value' in all ? sql`(select ${all.value})` : all.values}
    select exists (
      select 1 from leads cross join ${table}
      on ${hasId(sql`${all.column}`, sql`leads.id`)}
        and ${columns[order]} < (${newestDay(wanted)} + 1) * ${dayMs}) as late`);
}

/** Keeps the newer version of rows that are in both. @throws PartGone */
async function keepNewer(
  { env, caller }: Reader,
  { archive: { kind }, connectionId }: ArchivedPageQuery,
  hot: Stream,
  stored: Stored,
): Promise<void> {
  const archived = new Map(stored.rows.map((row) => [String(row.id), row]));
  const hotCopies = await readAsCaller(
    env,
    caller,
    (db) =>
      // As D1 stores them.
      db.all<ArchivedRow>(sql`
        select ${selected(kind.stored)} from ${kind.table}
        where ${kind.table.id} in ${jsonList([...archived.keys()])}
          and +account_id = ${caller.accountId}`),
    connectionId,
  );
  const known = new Set(hotCopies.map(({ id }) => id));
  if (hot.rows.some(({ id }) => archived.has(String(id)) && !known.has(id)))
    throw new PartGone(kind.name);
  for (const late of hotCopies) {
    const { id } = late;
    const old = archived.get(String(id));
    if (!old) continue;
    const newer = newerOf(kind, old, late);
    const stream: { rows: ArchivedRow[] } = newer === old ? hot : stored;
    stream.rows = stream.rows.filter((row) => row.id !== id);
    for (const row of hot.rows)
      if (row.id === id)
        for (const key of Object.keys(row)) if (key in newer) row[key] = newer[key];
  }
}
