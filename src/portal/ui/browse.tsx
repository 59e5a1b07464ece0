import type { Child } from 'hono/jsx';
import type { Columns } from '../../fleet/lists/field.ts';
import { type NamedList, type NamedOf, readNamed } from '../../fleet/named.ts';
import type { Match, Matched } from '../../fleet/names.ts';
import type { ListRequest } from '../../fleet/service.ts';
import type { FieldError } from '../../platform/errors.ts';
import { type Context, seeOther } from '../../platform/http/context.ts';
import { counted } from '../../webhooks/alerts/words.ts';
import { LinkButton, Submit } from './buttons.tsx';
import { csvFile } from './csv.ts';
import { FilledForm, filledIn } from './form.ts';
import { Field } from './forms.tsx';
import { Icon } from './icons.tsx';
import { page } from './layout.tsx';
import { Empty } from './parts.tsx';
import { Pager } from './table.tsx';

/** A list of records that people look through, newest first; with `file` also as a file of that name. */
export type Browsed<T> = {
  path: string;
  list: NamedList<T>;
  words: [one: string, many: string];
  file?: { name: string; columns: Columns };
};

/**
 * What people look for in a list. `asked` is what each filter says, and `kept` what the addresses of other pages keep of
 * that; `set` is how many filters are set. Without a request nothing can match.
 */
export type Search = {
  asked: { [filter: string]: string };
  kept: { [filter: string]: string };
  set: number;
  matched: Matched;
  problems: FieldError[];
  request: ListRequest | undefined;
};

/** What the address says of a filter; names of vehicles and drivers are no longer. */
export const typedIn = (c: Context, filter: string): string =>
  (c.req.query(filter) ?? '').trim().slice(0, 200);

/** The address of a page with these filters. */
export const addressOf = (path: string, kept: Search['kept']): string => {
  const query = new URLSearchParams(kept).toString();
  return query ? `${path}?${query}` : path;
};

/** What the page of a list shows: `views` and `fields` choose what of it, `empty` says why there is nothing at all. */
type Shown<T> = {
  title: string;
  lead: Child;
  views?: Child;
  fields?: Child;
  chips?: (items: NamedOf<T>[]) => Child;
  table: (items: NamedOf<T>[]) => Child;
  empty: Child;
};

/** The page of a list: what is looked for, one page of what matches, and the way to the others. */
export async function browse<T extends object>(
  c: Context,
  { path, list, words, file }: Browsed<T>,
  { asked, kept, set, matched, problems, request }: Search,
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
  const older = next && addressOf(path, { ...kept, cursor: next });
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
        <div class="panel-body pt-4" data-fresh="views">
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
        {chips?.(items)}
        {items.length > 0 && table(items)}
        {items.length === 0 && isValid && <Nothing {...{ path, words, older, set, empty }} />}
        {(items.length > 0 || cursor) && (
          <Pager
            count={`${counted(items.length, ...words)}${next ? ', more follow' : ''}`}
            newest={cursor && addressOf(path, kept)}
            older={older}
          />
        )}
      </div>
      {fields && <script src="/portal/filters.js" defer></script>}
    </section>,
    isValid ? undefined : 'invalid',
  );
}

/** The same records as a file; the page, which says what is wrong, if something is. */
export function browsedFile<T extends object>(
  c: Context,
  { path, list, file }: Browsed<T> & { file: object },
  { asked: { from = '', to = '' }, kept, problems, request }: Search,
) {
  if (problems.length > 0) return seeOther(c, addressOf(path, kept));
  return csvFile(c, { list, ...file, from, to }, request);
}

/** What was typed; for the id of a link, the name of what it means. */
export const nameOr = (text = '', matches: Match[] | undefined): string =>
  matches?.find(({ id }) => id === text)?.name ?? text;

/** The first and the last day of a range. */
export const DayFields = () => (
  <>
    <Field name="from" label="From" type="date" />
    <Field name="to" label="To" type="date" />
  </>
);

/** What is typed of a vehicle and a driver; `vehicleBy` says what a vehicle is found by. */
export const FleetFields = ({ vehicleBy }: { vehicleBy: string }) => (
  <>
    <Field name="vehicle" label="Vehicle" placeholder={vehicleBy} maxlength={200} />
    <Field name="driver" label="Driver" placeholder="Name" maxlength={200} />
  </>
);

/** Filters of a list. Folded on a phone; with script they apply as they change. */
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

/** Filters that let little pass may show nothing for as far as one page looks. */
const Nothing = (props: {
  path: string;
  words: [one: string, many: string];
  older: string | undefined;
  set: number;
  empty: Child;
}) => {
  const { path, words, older, set, empty } = props;
  const lookBack = older && <LinkButton href={older} name="Look further back" />;
  if (lookBack)
    return (
      <Empty icon="search" title="Nothing found so far" action={lookBack}>
        The newest {words[1]} do not match. There are older ones.
      </Empty>
    );
  if (set === 0) return <>{empty}</>;
  const clear = <LinkButton href={path} name="Clear all" />;
  return (
    <Empty icon="search" title="Nothing matches these filters" action={clear}>
      Choose others, or remove one.
    </Empty>
  );
};
