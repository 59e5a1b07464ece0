import type { FileMetaData } from 'hyparquet';
import type { Position } from '../../platform/db/cursor.ts';
import { comparePositions, type Stream, type StreamRow } from '../../platform/db/pages.ts';
import { type ArchivedRow, type ArchiveKind, placeOf } from '../lists/archived.ts';
import { type DayOf, openPart, type Part, type Reads, unlessUnreadable } from './bucket.ts';
import type { Archived } from './catalog.ts';
import { bytesOfRows, decodeRows } from './parquet.ts';

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

/** How many files one stream reads at most: with a filter they are read whole. */
const maxParts = 8;
const maxPartsFiltered = 4;

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
  const opened = ahead.slice(0, filter ? maxPartsFiltered : maxParts).map(({ day, part }) => ({
    part,
    file: openPart(bucket, day, part, reads, filter !== undefined),
  }));
  readAhead(opened, limit);
  const rows: StreamRow[] = [];
  for (const { part, file } of opened) {
    const want = limit + 1 - rows.length;
    const found = await unlessUnreadable(file.key, readOn(kind, file, query, want));
    rows.push(...found.slice(0, want).map(scanned));
    const last = rows.at(-1);
    if (rows.length > limit && last) return { rows, end: placeOf(kind, last) };
    if (part === opened.at(-1)?.part && opened.length < ahead.length)
      return { rows, end: descending ? part.first : part.last };
  }
  return { rows };
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

type OpenPart = ReturnType<typeof openPart>;

/** Starts reading the files that will certainly be needed: all of their rows together do not fill a page. */
function readAhead(opened: { part: Part; file: OpenPart }[], limit: number): void {
  let rows = 0;
  for (const { part, file } of opened) {
    if (rows > limit) return;
    file.metadata().catch(() => {}); // the failure reaches the code that needs it
    rows += part.rows;
  }
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
  const metadata = await file.metadata();
  const groups = groupsAfter(kind, metadata, query);
  const found: ArchivedRow[] = [];
  while (groups.length > 0 && found.length < want) {
    const taken = groups.splice(0, 1);
    // Most of the first group may be before the page's beginning, so it does not count.
    for (let rows = 0; !filter && rows < want - found.length && groups.length > 0; ) {
      const [next] = groups.splice(0, 1);
      if (!next) break;
      taken.push(next);
      rows += next.to - next.from;
    }
    const [from, to] = [Math.min(...taken.map((one) => one.from)), Math.max(...taken.map((one) => one.to))];
    const { start, end } = bytesOfRows(metadata, from, to);
    const bytes = await file.bytes(start, end);
    const values = filter && (await decodeRows(kind, metadata, bytes, { from, to, keys: filter.keys }));
    const passing = values?.map((row) => filter?.passes(row));
    if (passing && !passing.includes(true)) continue;
    const all = await decodeRows(kind, metadata, bytes, { from, to });
    const rows = passing ? all.filter((_, at) => passing[at]) : all;
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

const encoder = new TextEncoder();

/** The approximate size of a row as JSON: each value has its key, and times are longer than stored. */
export const sizeOfRow = (row: ArchivedRow): number =>
  encoder.encode(JSON.stringify(row)).length + 16 * Object.keys(row).length;

const scanned = (row: ArchivedRow): StreamRow => ({ ...row, hit: 1, nth: 0, size: sizeOfRow(row), total: 0 });
