import { csvHead, csvLines, flatColumns } from '../../fleet/lists/csv.ts';
import type { Columns } from '../../fleet/lists/field.ts';
import { type NamedList, readNamed } from '../../fleet/named.ts';
import type { ListRequest } from '../../fleet/service.ts';
import type { Context } from '../../platform/http/context.ts';
import { timeZoneOf } from './layout.tsx';

export const maxCsvRecords = 100_000;

/** With strict filters pages are short: D1 allows 1,000 queries per request, up to four for each page. */
const maxPages = 240;

const perPage = 500;

/** The last line of an incomplete file. */
const cutShort = 'There are more. Choose a shorter period to get the rest.\r\n';

/** The content of a file: the list, its columns, its name, and its days, if any. */
type CsvFile<T> = { list: NamedList<T>; columns: Columns; name: string; from?: string; to?: string };

/**
 * The records that match a page's filters, newest first, as a CSV file that is streamed page by page, no faster than
 * the browser reads it. Times are in the reader's zone, and drivers and vehicles have names. The session is checked
 * with each page; if it ends, the download fails. Without a request, when nothing can match, there is only the header
 * line.
 */
export function csvFile<T extends object>(
  c: Context,
  file: CsvFile<T>,
  request: ListRequest | undefined,
): Response {
  const { name, from, to } = file;
  const called = [name, from, to && to !== from && `to-${to}`].filter(Boolean).join('-');
  c.header('Content-Type', 'text/csv; charset=utf-8; header=present');
  c.header('Content-Disposition', `attachment; filename="${called}.csv"`);
  const lines = linesOf(c, file, request);
  const encoder = new TextEncoder();
  const pull = async (to: ReadableStreamDefaultController<Uint8Array>) => {
    const { value, done } = await lines.next();
    return done ? to.close() : to.enqueue(encoder.encode(value));
  };
  return c.body(new ReadableStream({ pull }));
}

async function* linesOf<T extends object>(
  c: Context,
  { list, columns: listed }: CsvFile<T>,
  request: ListRequest | undefined,
): AsyncGenerator<string> {
  const zone = timeZoneOf(c);
  const columns = flatColumns(withNames(list, listed));
  const heads = columns.map(({ name, holds }) => ({
    holds,
    name: holds === 'time' ? `${name} (${zone})` : name,
  }));
  yield csvHead(heads);
  if (!request) return;
  // The Swedish format is one that spreadsheets read: 2026-11-20 14:00:02.
  const local = new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  let left = maxCsvRecords;
  let cursor: string | undefined;
  for (let page = 0; page < maxPages && left > 0; page++) {
    const limit = [String(Math.min(perPage, left))];
    const query = { ...request.query, limit, ...(cursor && { cursor: [cursor] }) };
    const { items, next } = await readNamed(c.env, c.get('caller'), list, { ...request, query });
    yield csvLines(columns, items, (at) => local.format(Date.parse(at)));
    if (!next) return;
    cursor = next;
    left -= items.length;
  }
  yield cutShort;
}

/** The columns of a list with the name of each driver and vehicle beside its id. */
const withNames = <T>({ names }: NamedList<T>, columns: Columns): Columns =>
  Object.fromEntries(
    Object.entries(columns).flatMap(([key, column]) => {
      const name = names.find((one) => key === `${one}Id`);
      const named: Columns = name ? { [`${name}Name`]: { holds: 'text', nullable: true } } : {};
      return Object.entries({ [key]: column, ...named });
    }),
  );
