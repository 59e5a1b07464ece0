import type { ArchiveKind } from '../../core/fleet/lists/list.ts';
import type { Position } from '../../core/platform/db/cursor.ts';
import type { Caller } from '../../core/platform/db/guard.ts';
import { comparePositions, type PageQuery } from '../../core/platform/db/pages.ts';
import { type ArchivedRow, placeOf } from './archived.ts';
import type { DayOf } from './bucket.ts';
import type { Archived } from './catalog.ts';
import { type OpenPart, openPart } from './files.ts';

export type ArchivedPageQuery = PageQuery & {
  from: number;
  to: number;
  descending: boolean;
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

/** How many files a step reads beside those that its position lies in, and rows with a filter. */
const maxParts = 40;
const maxRowsFiltered = 20_000;

/** A file that may have rows of the page. `isBegun`: the page begins in it. */
type Ahead = { day: DayOf; file: string; rows: number; begin: Position; isBegun: boolean };

/** The files of these days that may have rows of the page, in the order in which they begin. */
export function filesAhead(
  query: ArchivedPageQuery,
  { accountId }: Caller,
  days: Archived[],
): Ahead[] {
  const { after, from, to, descending, archive } = query;
  const found = days.flatMap(({ parts, ...rest }) => {
    const day = { kind: archive.kind.name, accountId, ...rest };
    return parts
      .filter(({ first, last }) => mayHave(query, first, last))
      .map(({ file, rows, first, last }): Ahead => {
        const begin = descending ? last : first;
        const isBegun = descending
          ? begin.sort >= (after?.sort ?? to)
          : begin.sort <= (after?.sort ?? from);
        return { day, file, rows, begin, isBegun };
      });
  });
  return found.sort((a, b) => comparePositions(a.begin, b.begin, descending));
}

/** Whether rows from `first` to `last` may be in the query's range and after its position. */
const mayHave = (
  { after, from, to, descending }: ArchivedPageQuery,
  first: Position,
  last: Position,
): boolean =>
  last.sort >= from &&
  first.sort < to &&
  (!after || comparePositions(descending ? first : last, after, descending) > 0);

/** Reads rows of files in order, as far as a page needs or may scan. @throws PartGone, Unreadable */
export async function readFiles(
  bucket: R2Bucket,
  ahead: Ahead[],
  query: ArchivedPageQuery,
): Promise<Stored> {
  const { limit, descending, archive } = query;
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
    ...(unread ? [{ sort: unread.begin.sort, id: descending ? lastId : '' }] : []), // just before it
  ];
  const [end] = ends.sort(inOrder);
  return { rows, reads, ...(end && { end }) };
}

/** No id comes after it. */
export const lastId = 'g';

/** Reads as many rows of a file as a page may need, with a filter its columns first. */
async function readOn(file: OpenPart, query: ArchivedPageQuery): Promise<ArchivedRow[]> {
  const { descending, limit, archive } = query;
  const { kind, filter } = archive;
  const found: ArchivedRow[] = [];
  const groups = file.groups.filter((group) => mayHave(query, ...boundsOf(group, query)));
  for (const { from, to } of descending ? groups.reverse() : groups) {
    if (found.length > limit) break;
    const passing = filter && (await file.rows({ from, to, keys: filter.keys })).map(filter.passes);
    if (passing && !passing.includes(true)) continue;
    const rows = (await file.rows({ from, to })).filter((row, at) => {
      const place = placeOf(kind, row);
      return (passing?.[at] ?? true) && mayHave(query, place, place);
    });
    found.push(...(descending ? rows.reverse() : rows));
  }
  return found;
}

/** Between which places the rows of a group are: the file has the bounds of their order. */
function boundsOf(
  { columns }: OpenPart['groups'][number],
  { order }: PageQuery,
): [Position, Position] {
  const column = columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === order);
  const { min_value, max_value } = column?.meta_data?.statistics ?? {};
  return [
    { sort: Number(min_value), id: '' },
    { sort: Number(max_value), id: lastId },
  ];
}
