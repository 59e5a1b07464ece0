import { sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { Position } from '../../platform/db/cursor.ts';
import { type Database, statement } from '../../platform/db/database.ts';
import type { Caller } from '../../platform/db/guard.ts';
import { connectionsBeingDeleted } from '../../platform/db/guard.ts';
import {
  connectionIds,
  maxPageBytes,
  type Page,
  type PageQuery,
  pageOf,
  type Stream,
  type StreamRow,
  selectRows,
  streamOf,
  withoutConnections,
} from '../../platform/db/pages.ts';
import { readAsCaller, usePrimary } from '../../platform/db/replica-reads.ts';
import { dayMs } from '../../platform/durations.ts';
import { type ArchivedRow, type ArchiveKind, newerOf } from '../lists/archived.ts';
import { shownOf } from '../lists/list.ts';
import { PartGone, readAgain } from './bucket.ts';
import { type Archived, archivedOf, type DaysQuery, daysOf, lastDay, newestDay } from './catalog.ts';
import { dayOf } from './day.ts';
import { selected } from './rows.ts';
import { type Reads, readStream, type StreamQuery } from './stream.ts';

/** A page of a list whose older days are archived. */
export type ArchivedPageQuery = PageQuery & {
  archive: {
    kind: ArchiveKind;
    connection: SQLiteColumn;
    /** Whether an index has the rows by account. */
    byAccount: boolean;
    filter: StreamQuery['filter'];
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
    () => cut(env, bucket, caller, query),
    () => usePrimary(caller), // a replica's names may be old
  );

async function cut(env: Env, bucket: R2Bucket, caller: Caller, query: ArchivedPageQuery): Promise<Page> {
  const reads = { count: 0 };
  const page: Page = { rows: [], bytes: 0 };
  const enough = query.archive.filter ? enoughReadsFiltered : enoughReads;
  let after = query.after;
  for (let days = firstDays; ; days = moreDays) {
    const rest = {
      ...query,
      after,
      limit: query.limit - page.rows.length,
      room: maxPageBytes - page.bytes,
    };
    const step = await readStep(env, bucket, caller, rest, days, reads);
    page.rows.push(...step.rows);
    page.bytes += step.bytes;
    const full = page.rows.length >= query.limit || page.bytes > enoughBytes;
    if (!step.next) return page;
    if (!step.archived || full || reads.count >= enough) return { ...page, next: step.next };
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
  reads: Reads,
): Promise<Page & { archived: boolean }> {
  const { connectionId, descending = false, archive } = query;
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
    connectionId,
  );
  const days = found.map(archivedOf);
  const hot = streamOf(query, withoutConnections(rows, leaving));
  if (days.length === 0) return { ...pageOf(query, [hot]), archived: false };

  const stored = await readStream(
    bucket,
    archive.kind,
    days.filter((day) => !leaving.some(({ id }) => id === day.connectionId)),
    { ...query, accountId: caller.accountId, descending, filter: archive.filter },
    reads,
  );
  if (late) await keepNewer(env, caller, query, hot, stored);
  const end: Stream = { rows: [], end: endOf(days, descending) };
  return { ...pageOf(query, [hot, shownOnly(query, stored), end]), archived: true };
}

/** The days that the page may begin in. */
function daysQuery(
  {
    after,
    from = 0,
    to = Number.MAX_SAFE_INTEGER,
    descending = false,
    connectionId,
    archive,
  }: ArchivedPageQuery,
  { accountId }: Caller,
  most: number,
): DaysQuery {
  const first = Math.max(from, !descending && after ? after.sort : 0);
  const last = Math.min(to - 1, descending && after ? after.sort : Number.MAX_SAFE_INTEGER);
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
function endOf(days: Archived[], descending: boolean): Position {
  const each = days.map(({ day }) => day);
  return descending
    ? { sort: Math.min(...each) * dayMs - 1, id: 'g' }
    : { sort: (Math.max(...each) + 1) * dayMs, id: '' };
}

/** Whether D1 has rows of archived days: those being moved, and late ones. */
function anyLate(
  db: Database,
  { archive, table, columns, order, connectionId }: ArchivedPageQuery,
  wanted: DaysQuery,
) {
  const { accountId } = wanted;
  const owner = connectionId
    ? sql`${archive.connection} = ${connectionId}`
    : archive.byAccount
      ? sql`account_id = ${accountId}`
      : sql`${archive.connection} in (${connectionIds(accountId)})`;
  return statement<{ late: number }>(db)`select exists (select 1 from ${table}
      where ${owner} and ${columns[order]} < (${newestDay(wanted)} + 1) * ${dayMs}) as late`;
}

/**
 * Keeps the newer version of rows that are both in D1 and in the archive.
 *
 * @throws PartGone, when a row was moved since it was read from D1: the catalog names its file by now
 */
async function keepNewer(
  env: Env,
  caller: Caller,
  { table, archive: { kind }, connectionId }: ArchivedPageQuery,
  hot: Stream,
  stored: Stream,
): Promise<void> {
  const archived = new Map(stored.rows.map((row): [unknown, ArchivedRow] => [row[kind.id], row]));
  const ids = JSON.stringify([...archived.keys()]);
  const [twins] = await readAsCaller(
    env,
    caller,
    (db) =>
      [
        statement<ArchivedRow>(db)`
          select ${selected(kind, 't.')} from json_each(${ids}) wanted cross join ${table} t on t.id = wanted.value
            where t.account_id = ${caller.accountId}`,
      ] as const,
    connectionId,
  );
  const known = new Set(twins.map((late) => late[kind.id]));
  const both = hot.rows.filter((row) => archived.has(row[kind.id]));
  if (both.some((row) => !known.has(row[kind.id]))) throw new PartGone(kind.name);
  for (const late of twins) {
    const id = late[kind.id];
    const old = archived.get(id);
    if (!old) continue;
    const newer = newerOf(kind, old, late);
    const stream = newer === old ? hot : stored;
    stream.rows = stream.rows.filter((row) => row[kind.id] !== id);
    for (const row of hot.rows)
      if (row[kind.id] === id) for (const key of Object.keys(row)) if (key in newer) row[key] = newer[key];
  }
}

/** The archive keeps more of a row than its list shows. */
const shownOnly = (query: PageQuery, { rows, ...rest }: Stream): Stream => ({
  ...rest,
  rows: rows.map(({ hit, nth, ...row }): StreamRow => ({ ...shownOf(query, row), hit, nth })),
});
