import type { RowGroup } from 'hyparquet';
import type { Position } from '../../platform/db/cursor.ts';
import { comparePositions, type Stream, type StreamRow } from '../../platform/db/pages.ts';
import { type ArchivedRow, type ArchiveKind, placeOf } from '../lists/archived.ts';
import type { DayOf } from './bucket.ts';
import type { Archived } from './catalog.ts';
import { groupsOf, type OpenPart, openPart } from './parquet.ts';

/** Which archived rows a page needs. */
export type StreamQuery = {
  accountId: string;
  after?: Position | undefined;
  from?: number | undefined;
  to?: number | undefined;
  descending: boolean;
  limit: number;
  /** The condition for rows, by the values of these keys. */
  filter?: { keys: string[]; passes: (row: ArchivedRow) => boolean } | undefined;
};

/** How many files are in memory at a time, each with the rows of one of its groups. */
const filesAtATime = 6;

/** How many files a stream reads at most beside those that its position lies in, and rows of them with a filter. */
const maxParts = 40;
const maxRowsFiltered = 20_000;

/** How many files a page has read so far. */
export type Reads = { count: number };

/**
 * Reads rows from these days of the archive, of all their connections, in the order of the query: one more than a page,
 * or as far as may be scanned. Files are read in the order in which they begin, until the next one begins after the page.
 *
 * @throws PartGone, Unreadable
 */
export async function readStream(
  bucket: R2Bucket,
  kind: ArchiveKind,
  days: Archived[],
  query: StreamQuery,
  reads: Reads,
): Promise<Stream> {
  const { filter, limit, descending } = query;
  const inOrder = (a: Position, b: Position) => comparePositions(a, b, descending);
  const ahead = partsOf(kind, days, query);
  let rows: ArchivedRow[] = [];
  let scanned = 0;
  let next = 0;
  /** The files to read now: those that a page needs for certain. */
  const needed = () => {
    const beyond = rows[limit];
    const end = beyond && placeOf(kind, beyond);
    let before = rows.length;
    const first = ahead.slice(next, next + filesAtATime).findIndex(({ part, begin, isBegun }, at) => {
      const isEnough = next + at >= maxParts || (filter && scanned >= maxRowsFiltered);
      const isNeeded = isBegun || (!isEnough && (end ? inOrder(begin, end) < 0 : before <= limit));
      before += part.rows;
      return !isNeeded;
    });
    return ahead.slice(next, next + (first < 0 ? filesAtATime : first));
  };
  for (let some = needed(); some.length > 0; some = needed()) {
    next += some.length;
    reads.count += some.length;
    scanned += some.reduce((sum, { part }) => sum + part.rows, 0);
    const found = some.map(async ({ day, part }) =>
      readOn(kind, await openPart({ bucket, kind, day }, part.file), query),
    );
    rows = [...rows, ...(await Promise.all(found)).flat()]
      .sort((a, b) => inOrder(placeOf(kind, a), placeOf(kind, b)))
      .slice(0, limit + 1);
  }
  const [beyond, unread] = [rows[limit], ahead[next]];
  const ends = [
    ...(beyond ? [placeOf(kind, beyond)] : []),
    ...(unread ? [{ sort: unread.begin.sort, id: descending ? 'g' : '' }] : []), // just before it
  ];
  const [end] = ends.sort(inOrder);
  return { rows: rows.map((row): StreamRow => ({ ...row, hit: 1, nth: 0 })), ...(end && { end }) };
}

/** The files that may have such rows, in the order in which they begin; `isBegun` if the page begins in one. */
function partsOf({ name }: ArchiveKind, days: Archived[], query: StreamQuery) {
  const { accountId, after, from = -Infinity, to = Infinity, descending } = query;
  const found = days.flatMap(({ parts, ...rest }) =>
    parts.map((part) => {
      const [begin, end] = descending ? [part.last, part.first] : [part.first, part.last];
      const isBegun = descending ? begin.sort >= (after?.sort ?? to) : begin.sort <= (after?.sort ?? from);
      const day: DayOf = { kind: name, accountId, ...rest };
      return { day, part, begin, end, isBegun };
    }),
  );
  return found
    .filter(
      ({ part, end }) =>
        part.last.sort >= from &&
        part.first.sort < to &&
        (!after || comparePositions(end, after, descending) > 0),
    )
    .sort((a, b) => comparePositions(a.begin, b.begin, descending));
}

/** Whether a row is in the query's range and after its position. */
function isWanted(kind: ArchiveKind, { after, from = -Infinity, to = Infinity, descending }: StreamQuery) {
  return (row: ArchivedRow): boolean => {
    const place = placeOf(kind, row);
    return (
      place.sort >= from && place.sort < to && (!after || comparePositions(place, after, descending) > 0)
    );
  };
}

/**
 * Reads as many rows of a file from the page's beginning as it may need, or as many as there are. With a filter, the
 * filtered columns are read first, and the rest of a row group only where something passes.
 */
async function readOn(kind: ArchiveKind, file: OpenPart, query: StreamQuery): Promise<ArchivedRow[]> {
  const { filter, descending, limit } = query;
  const found: ArchivedRow[] = [];
  const groups = groupsOf(file.metadata).filter(({ columns }) => mayHave(kind, columns, query));
  for (const { from, to } of descending ? groups.reverse() : groups) {
    if (found.length > limit) break;
    const passing = filter && (await file.rows({ from, to, keys: filter.keys })).map(filter.passes);
    if (passing && !passing.includes(true)) continue;
    const rows = (await file.rows({ from, to })).filter((_, at) => passing?.[at] ?? true);
    found.push(...(descending ? rows.reverse() : rows).filter(isWanted(kind, query)));
  }
  return found;
}

/** Whether a row group with these columns may have rows from the page's beginning to the end of its range. */
function mayHave({ order }: ArchiveKind, columns: RowGroup['columns'], query: StreamQuery): boolean {
  const { after, from = -Infinity, to = Infinity, descending } = query;
  const bounds = columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === order)?.meta_data
    ?.statistics;
  const [min, max] = [Number(bounds?.min_value), Number(bounds?.max_value)];
  const past = after && (descending ? min > after.sort : max < after.sort);
  return !past && max >= from && min < to;
}
