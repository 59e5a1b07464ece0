import { listConnections } from '../../fleet/connections.ts';
import { csvWriter } from '../../fleet/lists/csv.ts';
import type { Columns } from '../../fleet/lists/field.ts';
import { type NamedList, type NamedOf, readNamed } from '../../fleet/named-lists.ts';
import type { ListRequest } from '../../fleet/service.ts';
import { type Context, seeOther } from '../../platform/http/context.ts';
import { addressOf, searchIn } from './filters.tsx';
import { timeZoneOf } from './layout.tsx';
import { type CsvFile, type RecordList, requestOf } from './list.tsx';

export const maxCsvRecords = 100_000;

/** With strict filters pages are short: D1 allows 1,000 queries per request, up to four for each page. */
const maxCsvPages = 240;

const csvRecordsPerPage = 500;

const cutShort = 'There are more. Choose a shorter period to get the rest.\r\n';

/**
 * The records as a CSV file, streamed page by page as the browser reads it; or the page, if a
 * filter is invalid. The session is checked with each page; if it ends, the download fails.
 */
export const recordFile =
  <T extends object>(declared: RecordList<T> & { file: CsvFile<T> }) =>
  async (c: Context) => {
    const { path, list, filters, usualDays, file } = declared;
    const search = await searchIn(c, filters, usualDays);
    const { from, to } = search.asked;
    if (search.problems.length > 0) return seeOther(c, addressOf(path, search.kept));
    const name = [file.name, from, to && to !== from && `to-${to}`].filter(Boolean).join('-');
    c.header('Content-Type', 'text/csv; charset=utf-8; header=present');
    c.header('Content-Disposition', `attachment; filename="${name}.csv"`);
    const pieces = piecesOf(c, list, file, requestOf(declared, search));
    const pull = async (to: ReadableStreamDefaultController<Uint8Array>) => {
      const { value, done } = await pieces.next();
      return done ? to.close() : to.enqueue(value);
    };
    return c.body(new ReadableStream({ pull }));
  };

/** The pieces of the file, with times in the reader's zone and names. Without a request it has no records. */
async function* piecesOf<T extends object>(
  c: Context,
  list: NamedList<T>,
  { columns: listed, inWords }: CsvFile<T>,
  request: ListRequest | undefined,
): AsyncGenerator<Uint8Array> {
  const zone = timeZoneOf(c);
  // The Swedish format is one that spreadsheets read: 2026-11-20 14:00:02.
  const local = new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  const format = (at: string) => local.format(Date.parse(at));
  const writer = csvWriter(withNames(list, listed), { times: { zone, format } });
  yield writer.add([]);
  if (!request) return;
  const known = await listConnections(c.env, c.get('caller'));
  const connections = new Map(known.map(({ id, name, tsp }) => [id, name ?? tsp]));
  const named = (item: NamedOf<T>) => ({
    ...item,
    connectionName: connections.get(String((item as { connectionId?: unknown }).connectionId)), // each has one
    ...inWords?.(item, format),
  });
  let left = maxCsvRecords;
  let cursor: string | undefined;
  for (let page = 0; page < maxCsvPages && left > 0; page++) {
    const limit = [String(Math.min(csvRecordsPerPage, left))];
    const query = { ...request.query, limit, ...(cursor && { cursor: [cursor] }) };
    const { items, next } = await readNamed(c.env, c.get('caller'), list, { ...request, query });
    yield writer.add(items.map(named));
    if (!next) return;
    cursor = next;
    left -= items.length;
  }
  yield new TextEncoder().encode(cutShort);
}

/** The columns of a list with the name of each driver, vehicle and connection beside its id. */
const withNames = <T>({ names }: NamedList<T>, columns: Columns): Columns =>
  Object.fromEntries(
    Object.entries(columns).flatMap(([key, column]) => {
      const name = [...names, 'connection'].find((one) => key === `${one}Id`);
      const named: Columns = name ? { [`${name}Name`]: { holds: 'text', nullable: true } } : {};
      return Object.entries({ [key]: column, ...named });
    }),
  );
