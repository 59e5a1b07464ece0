import type { Child } from 'hono/jsx';
import { listConnections } from '../../fleet/connections.ts';
import { csvHead, csvLines, flatColumns } from '../../fleet/lists/csv.ts';
import type { Columns } from '../../fleet/lists/field.ts';
import { type NamedList, type NamedOf, readNamed } from '../../fleet/named-lists.ts';
import type { Match, Matched } from '../../fleet/search.ts';
import type { ListRequest } from '../../fleet/service.ts';
import type { FieldError } from '../../platform/errors.ts';
import { type Context, seeOther } from '../../platform/http/context.ts';
import { counted } from '../../platform/text.ts';
import { LinkButton, Submit } from './buttons.tsx';
import { Field } from './forms.tsx';
import { Icon } from './icons.tsx';
import { page, timeZoneOf } from './layout.tsx';
import { Chip, Empty } from './parts.tsx';
import { FilledForm, filledIn } from './submit.ts';
import { Pager } from './table.tsx';

/** A list of records to browse, newest first. */
export type Browsed<T> = {
  path: string;
  list: NamedList<T>;
  words: [one: string, many: string];
  file?: CsvFile<T>;
};

/** The name of a list's CSV file, its columns, and what takes the place of an item's values that people cannot read. */
type CsvFile<T> = {
  name: string;
  columns: Columns;
  inWords?: (item: T, time: (at: string) => string) => object;
};

/**
 * A search in a list. `asked` has the value of each filter, `kept` those that are set, for the addresses of other pages.
 * Without a request nothing can match.
 */
export type Search = {
  asked: { [filter: string]: string };
  kept: { [filter: string]: string };
  matched: Matched;
  problems: FieldError[];
  request: ListRequest | undefined;
};

/** The address's value of a filter, cut to the length of names. */
export const typedIn = (c: Context, filter: string): string =>
  (c.req.query(filter) ?? '').trim().slice(0, 200);

/** The values of several filters. */
export const allTypedIn = <F extends string>(c: Context, filters: F[]) =>
  Object.fromEntries(filters.map((filter) => [filter, typedIn(c, filter)])) as { [filter in F]: string };

/** The filters that are set. */
export const setAmong = (filters: Search['kept']): Search['kept'] =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== ''));

export const addressOf = (path: string, kept: Search['kept']): string => {
  const query = new URLSearchParams(kept).toString();
  return query ? `${path}?${query}` : path;
};

/**
 * The parts of a list's page: `views` and `fields` are its filters, `chips` those that are set in words, `empty` says why
 * there is nothing.
 */
type Shown<T> = {
  title: string;
  lead: Child;
  views?: Child;
  fields?: Child;
  chips?: (items: NamedOf<T>[]) => { [filter: string]: string };
  table: (items: NamedOf<T>[]) => Child;
  empty: Child;
};

/** The page of a list: filters, one page of matches, and links to the others. */
export async function browse<T extends object>(
  c: Context,
  { path, list, words, file }: Browsed<T>,
  { asked, kept, matched, problems, request }: Search,
  { title, lead, views, fields, chips, table, empty }: Shown<T>,
) {
  const { cursor } = c.req.query();
  const isValid = problems.length === 0;
  const { items, next } =
    request && isValid
      ? await readNamed(c.env, c.get('caller'), list, {
          ...request,
          query: { ...request.query, limit: ['50'], ...(cursor && { cursor: [cursor] }) },
        })
      : { items: [] };
  // With the days, so that the next page continues this one, even tomorrow.
  const { from = '', to = '' } = asked;
  const older = next && addressOf(path, { ...setAmong({ from, to }), ...kept, cursor: next });
  const set = chipsOf(kept).length;
  const isEmpty = items.length === 0 && isValid;
  const typed = {
    ...asked,
    vehicle: nameOr(asked.vehicle, matched.vehicles),
    driver: nameOr(asked.driver, matched.drivers),
  };
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
          {isValid && <LinkButton href={addressOf(`${path}.csv`, kept)} name="Export CSV" icon="download" />}
        </div>
      ),
    },
    <section class="panel" aria-label={title}>
      {views && (
        <div class="panel-body pt-4 pb-0" data-fresh="views">
          {views}
        </div>
      )}
      {fields && (
        <FilledForm.Provider value={filledIn(typed, problems)}>
          <FilterBox path={path} set={set} open={!isValid}>
            {fields}
          </FilterBox>
        </FilledForm.Provider>
      )}
      <div id={`${words[1]}-now`} data-fresh={words[1]} data-live>
        {chips && set > 0 && <Chips {...{ path, kept }} words={chips(items)} />}
        {items.length > 0 && table(items)}
        {isEmpty && older && (
          // With strict filters a page may find nothing within its limit.
          <Empty
            icon="search"
            title="Nothing found so far"
            action={<LinkButton href={older} name="Look further back" />}
          >
            The newest {words[1]} do not match. There are older ones.
          </Empty>
        )}
        {isEmpty && !older && set === 0 && empty}
        {isEmpty && !older && set > 0 && (
          <Empty
            icon="search"
            title="Nothing matches these filters"
            action={<LinkButton href={path} name="Clear all" />}
          />
        )}
        {(items.length > 0 || cursor) && (
          <Pager
            count={`${counted(items.length, ...words)}${next ? ', more follow' : ''}`}
            first={cursor && addressOf(path, kept)}
            next={older}
          />
        )}
      </div>
      {fields && <script src="/portal/filters.js" defer></script>}
    </section>,
    isValid ? undefined : 'invalid',
  );
}

export const maxCsvRecords = 100_000;

/** With strict filters pages are short: D1 allows 1,000 queries per request, up to four for each page. */
const maxCsvPages = 240;

const csvRecordsPerPage = 500;

/** The last line of an incomplete file. */
const cutShort = 'There are more. Choose a shorter period to get the rest.\r\n';

/**
 * The same records as a CSV file that is streamed page by page, no faster than the browser reads it; or the page, if a
 * filter is invalid. The session is checked with each page; if it ends, the download fails.
 */
export function browsedFile<T extends object>(
  c: Context,
  { path, list, file }: Browsed<T> & { file: CsvFile<T> },
  { asked: { from, to }, kept, problems, request }: Search,
) {
  if (problems.length > 0) return seeOther(c, addressOf(path, kept));
  const name = [file.name, from, to && to !== from && `to-${to}`].filter(Boolean).join('-');
  c.header('Content-Type', 'text/csv; charset=utf-8; header=present');
  c.header('Content-Disposition', `attachment; filename="${name}.csv"`);
  const lines = linesOf(c, list, file, request);
  const encoder = new TextEncoder();
  const pull = async (to: ReadableStreamDefaultController<Uint8Array>) => {
    const { value, done } = await lines.next();
    return done ? to.close() : to.enqueue(encoder.encode(value));
  };
  return c.body(new ReadableStream({ pull }));
}

/** Without it Excel takes UTF-8 for the encoding of the computer. */
const byteOrderMark = '\ufeff';

/**
 * The lines of the file, with times in the reader's zone and names of drivers, vehicles and connections. Without a
 * request, when nothing can match, there is only the first.
 */
async function* linesOf<T extends object>(
  c: Context,
  list: NamedList<T>,
  { columns: listed, inWords }: CsvFile<T>,
  request: ListRequest | undefined,
): AsyncGenerator<string> {
  const zone = timeZoneOf(c);
  const columns = flatColumns(withNames(list, listed));
  const heads = columns.map(({ name, holds }) => ({
    holds,
    name: holds === 'time' ? `${name} (${zone})` : name,
  }));
  yield byteOrderMark + csvHead(heads);
  if (!request) return;
  // The Swedish format is one that spreadsheets read: 2026-11-20 14:00:02.
  const local = new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  const time = (at: string) => local.format(Date.parse(at));
  const known = await listConnections(c.env, c.get('caller'));
  const connections = new Map(known.map(({ id, name, tsp }) => [id, name ?? tsp]));
  const named = (item: NamedOf<T>) => ({
    ...item,
    connectionName: connections.get(String((item as { connectionId?: unknown }).connectionId)), // each has one
    ...inWords?.(item, time),
  });
  let left = maxCsvRecords;
  let cursor: string | undefined;
  for (let page = 0; page < maxCsvPages && left > 0; page++) {
    const limit = [String(Math.min(csvRecordsPerPage, left))];
    const query = { ...request.query, limit, ...(cursor && { cursor: [cursor] }) };
    const { items, next } = await readNamed(c.env, c.get('caller'), list, { ...request, query });
    yield csvLines(columns, items.map(named), time);
    if (!next) return;
    cursor = next;
    left -= items.length;
  }
  yield cutShort;
}

/** The columns of a list with the name of each driver, vehicle and connection beside its id. */
const withNames = <T,>({ names }: NamedList<T>, columns: Columns): Columns =>
  Object.fromEntries(
    Object.entries(columns).flatMap(([key, column]) => {
      const name = [...names, 'connection'].find((one) => key === `${one}Id`);
      const named: Columns = name ? { [`${name}Name`]: { holds: 'text', nullable: true } } : {};
      return Object.entries({ [key]: column, ...named });
    }),
  );

/** What was typed; for the id of a link, its name. */
export const nameOr = (text = '', matches: Match[] | undefined): string =>
  matches?.find(({ id }) => id === text)?.name ?? text;

/** The filters that are set, of which the days are one, and a view is none. */
const chipsOf = (kept: Search['kept']): string[] =>
  [...new Set(Object.keys(kept).map((filter) => (filter === 'to' ? 'from' : filter)))].filter(
    (filter) => filter !== 'state',
  );

/** The filters that are set, each with a link that removes it. */
const Chips = ({ path, kept, words }: { path: string; kept: Search['kept']; words: Search['kept'] }) => {
  const without = (filter: string) =>
    Object.entries(kept).filter(([other]) => other !== filter && !(filter === 'from' && other === 'to'));
  return (
    <ul class="actions chips pt-3" aria-label="Filters that are set">
      {chipsOf(kept).map((filter) => (
        <Chip text={words[filter] ?? filter} href={addressOf(path, Object.fromEntries(without(filter)))} />
      ))}
      <li>
        <a class="sub underline" href={path}>
          Clear all
        </a>
      </li>
    </ul>
  );
};

export const DayFields = () => (
  <>
    <Field name="from" label="From" type="date" />
    <Field name="to" label="To" type="date" />
  </>
);

/** The filters by vehicle and driver; `vehicleBy` says how vehicles are found. */
export const FleetFields = ({ vehicleBy }: { vehicleBy: string }) => (
  <>
    <Field name="vehicle" label="Vehicle" placeholder={vehicleBy} maxlength={200} />
    <Field name="driver" label="Driver" placeholder="Name" maxlength={200} />
  </>
);

/** The filters of a list, folded on a phone; with script they apply as they change. */
const FilterBox = (props: { path: string; set: number; open: boolean; children: Child }) => (
  <details class="filter-box" open={props.open}>
    <summary>
      <Icon name="sliders-horizontal" small />
      Filters
      {props.set > 0 && <span class="sub">{props.set} set</span>}
    </summary>
    <form method="get" action={props.path} data-filters>
      <div class="filters">
        {props.children}
        <div class="actions" data-apply>
          <Submit name="Apply" />
        </div>
      </div>
    </form>
  </details>
);
