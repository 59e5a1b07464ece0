import type { FileMetaData } from 'hyparquet';
import type { Position } from '../../platform/db/cursor.ts';
import { comparePositions, type Stream, type StreamRow } from '../../platform/db/pages.ts';
import { type ArchivedRow, type ArchiveKind, placeOf } from '../lists/archived.ts';
import type { DayOf, Part } from './bucket.ts';
import type { Archived } from './catalog.ts';
import { type OpenPart, openPart } from './parquet.ts';

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

/** How many files one stream reads at most. */
const maxParts = 8;
const maxPartsFiltered = 4;

/** How many files a page has read so far. */
export type Reads = { count: number };

/**
 * Reads rows of one connection from these days of the archive, in the order of the query: one more than a page, or as
 * far as may be scanned. @throws PartGone, Unreadable
 */
export async function readStream(
  bucket: R2Bucket,
  kind: ArchiveKind,
  days: Archived[],
  query: StreamQuery,
  reads: Reads,
): Promise<Stream> {
  const { filter, limit, descending } = query;
  const ahead = partsOf(kind, days, query);
  const some = ahead.slice(0, filter ? maxPartsFiltered : maxParts);
  const open = ({ day, part }: (typeof some)[number]) => {
    reads.count += 1;
    return openPart({ bucket, kind, day }, part.file);
  };
  const opening = certain(some, limit).map(open);
  for (const one of opening) one.catch(() => {}); // the failure reaches the code that needs it
  const rows: StreamRow[] = [];
  for (const [at, one] of some.entries()) {
    const file = await (opening[at] ?? open(one));
    const want = limit + 1 - rows.length;
    const found = await readOn(kind, file, query, want);
    rows.push(...found.slice(0, want).map(scanned));
    const last = rows.at(-1);
    if (rows.length > limit && last) return { rows, end: placeOf(kind, last) };
  }
  const last = some.at(-1)?.part;
  return { rows, ...(last && some.length < ahead.length && { end: descending ? last.first : last.last }) };
}

/** The files that may have such rows, in the order of the query. */
function partsOf({ name }: ArchiveKind, days: Archived[], query: StreamQuery) {
  const { accountId, after, from = -Infinity, to = Infinity, descending } = query;
  return days.flatMap(({ parts, ...rest }) => {
    const day: DayOf = { kind: name, accountId, ...rest };
    const wanted = parts.filter(
      ({ first, last }) =>
        last.sort >= from &&
        first.sort < to &&
        (!after || comparePositions(descending ? first : last, after, descending) > 0),
    );
    return (descending ? wanted.reverse() : wanted).map((part) => ({ day, part }));
  });
}

/** The files that are certainly needed, because those before them do not fill a page. */
function certain<T extends { part: Part }>(some: T[], limit: number): T[] {
  let before = 0;
  return some.filter(({ part }) => {
    const isNeeded = before <= limit;
    before += part.rows;
    return isNeeded;
  });
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
 * Reads so many rows from the page's beginning, or as many as there are. With a filter, the filtered columns are read
 * first, and the rest of a row group only where something passes.
 */
async function readOn(
  kind: ArchiveKind,
  file: OpenPart,
  query: StreamQuery,
  want: number,
): Promise<ArchivedRow[]> {
  const { filter, descending } = query;
  const found: ArchivedRow[] = [];
  for (const group of groupsAfter(kind, file.metadata, query)) {
    if (found.length >= want) break;
    const passing = filter && (await file.rows({ ...group, keys: filter.keys })).map(filter.passes);
    if (passing && !passing.includes(true)) continue;
    const rows = (await file.rows(group)).filter((_, at) => passing?.[at] ?? true);
    found.push(...(descending ? rows.reverse() : rows).filter(isWanted(kind, query)));
  }
  return found;
}

/** The row groups from the page's beginning to the end of its range, in the order of the query. */
function groupsAfter({ order }: ArchiveKind, { row_groups }: FileMetaData, query: StreamQuery) {
  const { after, from = -Infinity, to = Infinity, descending } = query;
  let next = 0;
  const groups = row_groups.flatMap(({ num_rows, columns }) => {
    const bounds = columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === order)?.meta_data
      ?.statistics;
    const [min, max] = [Number(bounds?.min_value), Number(bounds?.max_value)];
    const group = { from: next, to: next + Number(num_rows) };
    next = group.to;
    const past = after && (descending ? min > after.sort : max < after.sort);
    return past || max < from || min >= to ? [] : [group];
  });
  return descending ? groups.reverse() : groups;
}

const scanned = (row: ArchivedRow): StreamRow => ({ ...row, hit: 1, nth: 0 });
