import type { Child } from 'hono/jsx';
import type { Columns } from '../../fleet/lists/field.ts';
import { type NamedList, type NamedOf, readNamed } from '../../fleet/named-lists.ts';
import type { Match, Matched } from '../../fleet/search.ts';
import type { ListRequest } from '../../fleet/service.ts';
import type { FieldError } from '../../platform/errors.ts';
import type { Context } from '../../platform/http/context.ts';
import { counted } from '../../platform/text.ts';
import { LinkButton, Submit } from './buttons.tsx';
import { Field } from './forms.tsx';
import { Icon } from './icons.tsx';
import { page } from './layout.tsx';
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
export type CsvFile<T> = {
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
