import type { Child } from 'hono/jsx';
import { connectionName, listConnections } from '../../core/fleet/connections.ts';
import type { ListRequest } from '../../core/fleet/service.ts';
import { by, type Context, seeOther } from '../../core/platform/http/context.ts';
import { csvWriter } from '../../texts/csv.ts';
import { counted } from '../../texts/words.ts';
import { reading } from '../added.ts';
import { LinkButton } from '../buttons.tsx';
import { page, timeZoneOf } from '../layout.tsx';
import { Empty } from '../parts.tsx';
import { type NamedList, type NamedOf, readNamed } from '../read/named-lists.ts';
import { type Column, Pager, Table } from '../table.tsx';
import { dayIn, dayName, localTime } from '../time.tsx';
import { type CsvFile, columnsForPeople } from './csv.ts';
import {
  addressOf,
  Chips,
  FilterForm,
  type Filters,
  type Search,
  searchIn,
  setIn,
} from './filters.tsx';

/** A list of records, newest first: filters, chips, links, file and empty text follow from it. */
export type RecordList<T> = {
  path: string;
  title: string;
  words: [one: string, many: string];
  list: NamedList<T>;
  filters: Filters;
  /** How many days are shown by default, today included; otherwise all. */
  usualDays?: number;
  /** The parameters of the list for a search, by default those of the filters. */
  query?: (search: Search) => ListRequest['query'];
  file?: CsvFile<T>;
  show: (search: Search) => {
    lead: Child;
    columns: Column<NamedOf<T>>[];
    /** The time by whose day the rows are grouped. */
    at?: (item: NamedOf<T>) => string;
    empty: Parameters<typeof Empty>[0];
  };
};

/** What a search asks of the list; undefined if nothing can match. */
export function requestOf<T>(
  { query }: Pick<RecordList<T>, 'query'>,
  search: Search,
): ListRequest | undefined {
  const { asked, connections, matched, problems } = search;
  const cannotMatch = matched.driver?.length === 0 || (!query && matched.vehicle?.length === 0);
  if (cannotMatch || problems.length > 0) return undefined;
  // An account's only connection is named: its records need not be merged with others.
  const connectionId =
    asked.connection || (connections.length === 1 ? connections[0]?.id : undefined);
  return { connectionId, descending: true, query: query?.(search) ?? search.query };
}

/** The page of a list: filters, one page of matches, and links to the others. */
export const recordPage =
  <T extends object>(declared: RecordList<T>) =>
  async (c: Context) => {
    const { path, title, list, words, filters, usualDays, file, show } = declared;
    const search = await searchIn(c, filters, usualDays);
    const { asked, kept, problems } = search;
    const { cursor } = c.req.query();
    const request = requestOf(declared, search);
    const { items, next } = request
      ? await readNamed(...reading(c), list, {
          ...request,
          query: { ...request.query, limit: ['50'], ...(cursor && { cursor: [cursor] }) },
        })
      : { items: [] };
    // With the days, so that the next page continues this one, even tomorrow.
    const { from = '', to = '' } = asked;
    const older = next && addressOf(path, { from, to, ...kept, cursor: next });
    const isValid = problems.length === 0;
    const { lead, columns, at, empty } = show(search);
    const isSet = setIn(search).length > 0;
    return page(
      c,
      {
        title,
        lead: (
          <span data-fresh="lead" role="status">
            {isValid ? lead : 'Check the filters.'}
          </span>
        ),
        actions: file && (
          <div class="actions" data-fresh="actions">
            {isValid && (
              <LinkButton href={addressOf(`${path}.csv`, kept)} name="Export CSV" icon="download" />
            )}
          </div>
        ),
      },
      <section class="panel" aria-label={title}>
        <FilterForm {...{ path, search }} />
        <div id={`${words[1]}-now`} data-fresh={words[1]} data-live>
          {isSet && <Chips {...{ path, search }} />}
          {items.length > 0 && (
            <Table
              caption={title}
              columns={columns}
              {...(at ? { look: byDay, groups: groupedBy(search.zone, items, at) } : { items })}
            />
          )}
          {items.length === 0 && isValid && (
            <Empty {...(isSet || older ? whyEmpty(path, words[1], older) : empty)} />
          )}
          {(items.length > 0 || cursor) && (
            <Pager
              count={`${counted(items.length, ...words)}${next ? ' on this page' : ''}`}
              first={cursor && addressOf(path, kept)}
              next={older}
            />
          )}
        </div>
        <script src="/portal/filters.js" defer></script>
      </section>,
      isValid ? undefined : 'invalid',
    );
  };

const byDay = 'data-cards data-flow border-t border-line';

const groupedBy = <T,>(zone: string, items: T[], at: (item: T) => string) =>
  [...Map.groupBy(items, (item) => dayIn(zone, Date.parse(at(item))))].map(([day, those]) => ({
    name: dayName(zone, day),
    items: those,
  }));

/** Why a page of a list is empty. With strict filters it may have found nothing within its limit. */
const whyEmpty = (
  path: string,
  many: string,
  older: string | undefined,
): Parameters<typeof Empty>[0] =>
  older
    ? {
        icon: 'search',
        title: 'Nothing found so far',
        text: `The newest ${many} do not match. There are older ones.`,
        action: <LinkButton href={older} name="Look further back" />,
      }
    : {
        icon: 'search',
        title: 'Nothing matches these filters',
        action: <LinkButton href={path} name="Clear all" />,
      };

export const maxCsvRecords = 100_000;

/** With strict filters pages are short: D1 allows 1,000 queries per request, up to four for each page. */
const maxCsvPages = 240;

const csvRecordsPerPage = 500;

const cutShort = 'There are more. Choose a shorter period to get the rest.\r\n';

/** What a file needs of a list. */
type RecordFile<T> = Omit<RecordList<T>, 'title' | 'words' | 'show'> & { file: CsvFile<T> };

/**
 * The records as a CSV file, streamed page by page as the browser reads it; or the page, if a
 * filter is invalid. The session is checked with each page; if it ends, the download fails.
 */
export const recordFile =
  <T extends object>(declared: RecordFile<T>) =>
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
  file: CsvFile<T>,
  request: ListRequest | undefined,
): AsyncGenerator<Uint8Array> {
  const zone = timeZoneOf(c);
  const format = (at: string) => localTime(zone, Date.parse(at));
  const { columns, heads } = columnsForPeople(list, file);
  const writer = csvWriter(columns, { times: { zone, format, heads } });
  yield writer.add([]);
  if (!request) return;
  const known = await listConnections(...by(c));
  const connections = new Map(known.map((one) => [one.id, connectionName(one)]));
  const named = (item: NamedOf<T>) => ({
    ...item,
    connectionName: connections.get(String((item as { connectionId?: unknown }).connectionId)), // each has one
    ...file.inWords?.(item, format),
  });
  let remaining = maxCsvRecords;
  let cursor: string | undefined;
  for (let page = 0; page < maxCsvPages && remaining > 0; page++) {
    const limit = [String(Math.min(csvRecordsPerPage, remaining))];
    const query = { ...request.query, limit, ...(cursor && { cursor: [cursor] }) };
    const { items, next } = await readNamed(...reading(c), list, { ...request, query });
    yield writer.add(items.map(named));
    if (!next) return;
    cursor = next;
    remaining -= items.length;
  }
  yield new TextEncoder().encode(cutShort);
}
