import type { RowGroup } from 'hyparquet';
import type { Position } from '../../platform/db/cursor.ts';
import type { Caller } from '../../platform/db/guard.ts';
import { comparePositions, type PageQuery } from '../../platform/db/pages.ts';
import { type ArchivedRow, type ArchiveKind, placeOf } from '../lists/archived.ts';
import type { DayOf } from './bucket.ts';
import type { Archived } from './catalog.ts';
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

/** Rows of the archive in order, complete up to `end`, and how many files were read. */
export type Stored = { rows: ArchivedRow[]; end?: Position; reads: number };

/** How many files are in memory at a time, each with the rows of one of its groups. */
const filesAtATime = 6;

/** How many files a step reads at most beside those that its position lies in, and rows of them with a filter. */
const maxParts = 40;
const maxRowsFiltered = 20_000;

/** A file that may have rows of the page. `isBegun`: the page begins in it. */
type Ahead = { day: DayOf; file: string; rows: number; begin: Position; isBegun: boolean };

/** The files of these days that may have rows of the page, in the order in which they begin. */
export function filesAhead(query: ArchivedPageQuery, { accountId }: Caller, days: Archived[]): Ahead[] {
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
export async function readFiles(bucket: R2Bucket, ahead: Ahead[], query: ArchivedPageQuery): Promise<Stored> {
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
