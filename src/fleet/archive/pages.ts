import { sql } from 'drizzle-orm';
import type { RowGroup } from 'hyparquet';
import type { Position } from '../../platform/db/cursor.ts';
import { type Database, jsonList, statement } from '../../platform/db/database.ts';
import { type Caller, connectionsBeingDeleted } from '../../platform/db/guard.ts';
import {
  comparePositions,
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
} from '../../platform/db/pages.ts';
import { readAsCaller, usePrimary } from '../../platform/db/replica-reads.ts';
import { dayMs } from '../../platform/durations.ts';
import { type ArchivedRow, type ArchiveKind, newerOf, placeOf } from '../lists/archived.ts';
import { shownOf } from '../lists/list.ts';
import { type DayOf, PartGone, readAgain } from './bucket.ts';
import { type Archived, archivedOf, type DaysQuery, daysOf, lastDay, newestDay } from './catalog.ts';
import { dayOf } from './day.ts';
import { groupsOf, type OpenPart, openPart } from './parquet.ts';

/** A page of a list whose older days are archived. */
export type ArchivedPageQuery = PageQuery & {
  archive: {
    kind: ArchiveKind;
    /** The index range of all rows of the account or the connection. */
    all: PageQuery['lead'];
    /** The condition for rows, by the values of these keys. */
    filter?: { keys: string[]; passes: (row: ArchivedRow) => boolean } | undefined;
  };
};

/** After so many reads of files a page ends: of one over many small days, or with a filter. */
const enoughReads = 12;
const enoughReadsFiltered = 4;

/** How many days of the archive are read first, which is usually enough, and then. */
const firstDays = 2;
const moreDays = 8;

/** A page of this size (bytes) is not continued. */
const enoughBytes = 0.9 * maxPageBytes;

/**
 * Reads one page across the archive and D1. The catalog of the first days is read together with D1's rows up to their
 * end, in the batch of the caller's token check: a day that is being moved is read from both, and each of its rows is
 * shown once.
 *
 * @throws Refusal: unauthenticated, forbidden, or invalid for a connection that is not the caller's
 */
export const readPageAcross = (
  env: Env,
  bucket: R2Bucket,
  caller: Caller,
  query: ArchivedPageQuery,
): Promise<Page> =>
  readAgain(
    () => readSteps(env, bucket, caller, query),
    () => usePrimary(caller), // a replica's names may be old
  );

async function readSteps(
  env: Env,
  bucket: R2Bucket,
  caller: Caller,
  query: ArchivedPageQuery,
): Promise<Page> {
  const page: Page = { rows: [], bytes: 0 };
  const enough = query.archive.filter ? enoughReadsFiltered : enoughReads;
  let { after } = query;
  let reads = 0;
  for (let days = firstDays; ; days = moreDays) {
    const limit = query.limit - page.rows.length;
    const rest = { ...query, after, limit, room: maxPageBytes - page.bytes };
    const step = await readStep(env, bucket, caller, rest, days);
    page.rows.push(...step.rows);
    page.bytes += step.bytes;
    reads += step.reads;
    if (!step.next) return page;
    const isFull = page.rows.length >= query.limit || page.bytes > enoughBytes || reads >= enough;
    if (!step.isArchived || isFull) return { ...page, next: step.next };
    after = step.next;
  }
}

/** Reads on from a position: through so many days of the archive, or, if there are none, through D1. */
async function readStep(
  env: Env,
  bucket: R2Bucket,
  caller: Caller,
  query: ArchivedPageQuery,
  most: number,
): Promise<Page & { isArchived: boolean; reads: number }> {
  const wanted = daysQuery(query, caller, most);
  const [leaving, found, [{ late } = { late: 0 }], rows] = await readAsCaller(
    env,
    caller,
    (db) =>
      [
        connectionsBeingDeleted(db, caller),
        daysOf(db, wanted),
        anyLate(db, query, wanted),
        selectRows(db, bounded(query, wanted)),
      ] as const,
    query.connectionId,
  );
  const days = found.map(archivedOf);
  const hot = streamOf(query, withoutConnections(rows, leaving));
  if (days.length === 0) return { ...pageOf(query, [hot]), isArchived: false, reads: 0 };

  const open = days.filter((day) => !leaving.some(({ id }) => id === day.connectionId));
  const stored = await readFiles(bucket, filesAhead(query, caller, open), query);
  if (late) await keepNewer(env, caller, query, hot, stored);
  const shown = stored.rows.map((row): StreamRow => ({ ...shownOf(query, row), hit: 1, nth: 0 }));
  const last: Stream = { rows: [], end: endOf(days, query) };
  return {
    ...pageOf(query, [hot, { ...stored, rows: shown }, last]),
    isArchived: true,
    reads: stored.reads,
  };
}

/** The days that the page may begin in. */
function daysQuery(
  { after, from = 0, to = Number.MAX_SAFE_INTEGER, descending = false, ...query }: ArchivedPageQuery,
  { accountId }: Caller,
  most: number,
): DaysQuery {
  const first = Math.max(from, !descending && after ? after.sort : 0);
  const last = Math.min(to - 1, descending && after ? after.sort : Number.MAX_SAFE_INTEGER);
  const { connectionId, archive } = query;
  const kind = archive.kind.name;
  return { kind, accountId, connectionId, from: dayOf(first), to: dayOf(last), descending, most };
}

/**
 * The rows of D1 up to the end of the archived days, or as far as the page goes. One bound only: with two, SQLite would
 * use either, and read all rows up to the other.
 */
function bounded(
  { from = 0, to = Number.MAX_SAFE_INTEGER, ...query }: ArchivedPageQuery,
  wanted: DaysQuery,
): PageQuery {
  const order = query.columns[query.order];
  if (query.descending) {
    const end = sql`${order} >= max(${from}, coalesce(${lastDay(wanted)} * ${dayMs}, 0))`;
    return { ...query, to, scope: [...query.scope, end] };
  }
  const end = sql`${order} < min(${to}, coalesce((${lastDay(wanted)} + 1) * ${dayMs}, ${to}))`;
  return { ...query, from, scope: [...query.scope, end] };
}

/** Where these days end, which is in the next one: no id comes before nothing, and none after `g`. */
function endOf(days: Archived[], { descending }: PageQuery): Position {
  const each = days.map(({ day }) => day);
  return descending
    ? { sort: Math.min(...each) * dayMs - 1, id: 'g' }
    : { sort: (Math.max(...each) + 1) * dayMs, id: '' };
}

/** Whether D1 has rows of archived days: those being moved, and late ones. */
function anyLate(db: Database, { archive, table, columns, order }: ArchivedPageQuery, wanted: DaysQuery) {
  const { all } = archive;
  const range = 'value' in all ? sql`= ${all.value}` : sql`in (${all.values})`;
  return statement<{ late: number }>(db)`select exists (select 1 from ${table}
      where ${all.column} ${range} and ${columns[order]} < (${newestDay(wanted)} + 1) * ${dayMs}) as late`;
}

/** Rows of the archive in order, complete up to `end`, and how many files were read. */
type Stored = { rows: ArchivedRow[]; end?: Position; reads: number };

/**
 * Keeps the newer version of rows that are both in D1 and in the archive.
 *
 * @throws PartGone, when a row was moved since it was read from D1: the catalog names its file by now
 */
async function keepNewer(
  env: Env,
  caller: Caller,
  { archive: { kind }, connectionId }: ArchivedPageQuery,
  hot: Stream,
  stored: Stored,
): Promise<void> {
  const archived = new Map(stored.rows.map((row) => [String(row.id), row]));
  const [twins] = await readAsCaller(
    env,
    caller,
    (db) =>
      [
        statement<ArchivedRow>(db)`select ${selected(kind.stored)} from ${kind.table}
          where ${kind.table.id} in ${jsonList([...archived.keys()])} and +account_id = ${caller.accountId}`,
      ] as const,
    connectionId,
  );
  const known = new Set(twins.map((late) => late.id));
  const both = hot.rows.filter((row) => archived.has(String(row.id)));
  if (both.some((row) => !known.has(row.id))) throw new PartGone(kind.name);
  for (const late of twins) {
    const id = late.id;
    const old = archived.get(String(id));
    if (!old) continue;
    const newer = newerOf(kind, old, late);
    const stream: { rows: ArchivedRow[] } = newer === old ? hot : stored;
    stream.rows = stream.rows.filter((row) => row.id !== id);
    for (const row of hot.rows)
      if (row.id === id) for (const key of Object.keys(row)) if (key in newer) row[key] = newer[key];
  }
}

/** How many files are in memory at a time, each with the rows of one of its groups. */
const filesAtATime = 6;

/** How many files a step reads at most beside those that its position lies in, and rows of them with a filter. */
const maxParts = 40;
const maxRowsFiltered = 20_000;

/** A file that may have rows of the page. `isBegun`: the page begins in it. */
type Ahead = { day: DayOf; file: string; rows: number; begin: Position; isBegun: boolean };

/** The files of these days that may have rows of the page, in the order in which they begin. */
function filesAhead(query: ArchivedPageQuery, { accountId }: Caller, days: Archived[]): Ahead[] {
  const { after, from = -Infinity, to = Infinity, descending, archive } = query;
  const found = days.flatMap(({ parts, ...rest }) =>
    parts.flatMap(({ file, rows, first, last }): Ahead[] => {
      const [begin, end] = descending ? [last, first] : [first, last];
      const isAhead =
        last.sort >= from && first.sort < to && (!after || comparePositions(end, after, descending) > 0);
      const isBegun = descending ? begin.sort >= (after?.sort ?? to) : begin.sort <= (after?.sort ?? from);
      const day = { kind: archive.kind.name, accountId, ...rest };
      return isAhead ? [{ day, file, rows, begin, isBegun }] : [];
    }),
  );
  return found.sort((a, b) => comparePositions(a.begin, b.begin, descending));
}

/**
 * Reads rows of files in the order of the query: one more than a page, or as far as may be scanned. Files are read in
 * the order in which they begin, until the next one begins after the page.
 *
 * @throws PartGone, Unreadable
 */
async function readFiles(bucket: R2Bucket, ahead: Ahead[], query: ArchivedPageQuery): Promise<Stored> {
  const { limit, descending = false, archive } = query;
  const { kind, filter } = archive;
  const inOrder = (a: Position, b: Position) => comparePositions(a, b, descending);
  let rows: ArchivedRow[] = [];
  let scanned = 0;
  let reads = 0;
  /** The files to read now: those that a page needs for certain. */
  const needed = () => {
    const beyond = rows[limit];
    const end = beyond && placeOf(kind, beyond);
    let before = rows.length;
    const some = ahead.slice(reads, reads + filesAtATime);
    const first = some.findIndex(({ begin, isBegun, rows: count }, at) => {
      const isEnough = reads + at >= maxParts || (filter && scanned >= maxRowsFiltered);
      const isNeeded = isBegun || (!isEnough && (end ? inOrder(begin, end) < 0 : before <= limit));
      before += count;
      return !isNeeded;
    });
    return first < 0 ? some : some.slice(0, first);
  };
  for (let some = needed(); some.length > 0; some = needed()) {
    reads += some.length;
    scanned += some.reduce((sum, { rows: count }) => sum + count, 0);
    const found = some.map(async ({ day, file }) =>
      readOn(await openPart({ bucket, kind, day }, file), query),
    );
    rows = [...rows, ...(await Promise.all(found)).flat()]
      .sort((a, b) => inOrder(placeOf(kind, a), placeOf(kind, b)))
      .slice(0, limit + 1);
  }
  const [beyond, unread] = [rows[limit], ahead[reads]];
  const ends = [
    ...(beyond ? [placeOf(kind, beyond)] : []),
    ...(unread ? [{ sort: unread.begin.sort, id: descending ? 'g' : '' }] : []), // just before it
  ];
  const [end] = ends.sort(inOrder);
  return { rows, reads, ...(end && { end }) };
}

/**
 * Reads as many rows of a file from the page's beginning as it may need, or as many as there are. With a filter, the
 * filtered columns are read first, and the rest of a row group only where something passes.
 */
async function readOn(file: OpenPart, query: ArchivedPageQuery): Promise<ArchivedRow[]> {
  const { descending, limit, archive } = query;
  const { kind, filter } = archive;
  const found: ArchivedRow[] = [];
  const groups = groupsOf(file.metadata).filter(({ columns }) => mayHave(columns, query));
  for (const { from, to } of descending ? groups.reverse() : groups) {
    if (found.length > limit) break;
    const passing = filter && (await file.rows({ from, to, keys: filter.keys })).map(filter.passes);
    if (passing && !passing.includes(true)) continue;
    const rows = (await file.rows({ from, to })).filter(
      (row, at) => (passing?.[at] ?? true) && isWanted(placeOf(kind, row), query),
    );
    found.push(...(descending ? rows.reverse() : rows));
  }
  return found;
}

/** Whether a place is in the query's range and after its position. */
const isWanted = (place: Position, { after, from = -Infinity, to = Infinity, descending }: PageQuery) =>
  place.sort >= from && place.sort < to && (!after || comparePositions(place, after, descending) > 0);

/** Whether a row group with these columns may have rows from the page's beginning to the end of its range. */
function mayHave(columns: RowGroup['columns'], query: ArchivedPageQuery): boolean {
  const { after, from = -Infinity, to = Infinity, descending } = query;
  const bounds = columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === query.order)?.meta_data
    ?.statistics;
  const [min, max] = [Number(bounds?.min_value), Number(bounds?.max_value)];
  const past = after && (descending ? min > after.sort : max < after.sort);
  return !past && max >= from && min < to;
}
