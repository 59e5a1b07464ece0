import type { Child } from 'hono/jsx';
import type { Columns } from '../../fleet/lists/field.ts';
import { type NamedList, type NamedOf, readNamed } from '../../fleet/named-lists.ts';
import type { ListRequest } from '../../fleet/service.ts';
import type { Context } from '../../platform/http/context.ts';
import { counted } from '../../platform/text.ts';
import { LinkButton } from './buttons.tsx';
import { dayName } from './days.ts';
import { addressOf, Chips, FilterForm, type Filters, type Search, searchIn, setIn } from './filters.tsx';
import { page } from './layout.tsx';
import { Empty } from './parts.tsx';
import { type Column, Pager, Table } from './table.tsx';
import { dayIn } from './time.tsx';

/**
 * A list of records, newest first: its filters and chips, links to older ones, file, and empty text follow.
 */
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

/** The name of a list's CSV file, its columns, and what takes the place of an item's values that people cannot read. */
export type CsvFile<T> = {
  name: string;
  columns: Columns;
  inWords?: (item: T, time: (at: string) => string) => object;
};

/** What a search asks of the list; undefined if nothing can match. */
export function requestOf<T>({ query }: RecordList<T>, search: Search): ListRequest | undefined {
  const { asked, connections, matched, problems } = search;
  const cannotMatch = !query && (matched.vehicle?.length === 0 || matched.driver?.length === 0);
  if (cannotMatch || problems.length > 0) return undefined;
  // An account's only connection is named: its records need not be merged with others.
  const connectionId = asked.connection || (connections.length === 1 ? connections[0]?.id : undefined);
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
      ? await readNamed(c.env, c.get('caller'), list, {
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
              count={`${counted(items.length, ...words)}${next ? ', more follow' : ''}`}
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
const whyEmpty = (path: string, many: string, older: string | undefined): Parameters<typeof Empty>[0] =>
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
