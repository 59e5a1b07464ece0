import { type Connection, connectionName, listConnections } from '../../core/fleet/connections.ts';
import type { FieldError } from '../../core/platform/errors.ts';
import { by, type Context } from '../../core/platform/http/context.ts';
import { listAddresses } from '../../people/people.ts';
import { type Match, matched, maxMatches } from '../added.ts';
import { Icon, Submit } from '../buttons.tsx';
import { Field, type Offered, offered } from '../forms/forms.tsx';
import { timeZoneOf } from '../layout.tsx';
import { Segment } from '../parts.tsx';
import { FilledForm, filledIn } from '../submit.ts';
import { addDays, dayIn, daysInWords, isDay, rangeOfDays } from '../time.tsx';

/**
 * A filter of a list by its name in the address: a choice of `options`, of which the first is any,
 * or a text. `vehicle`, `driver` and `vin` find what was typed; every list has `from` and `to`.
 */
export type Filter = {
  label: string;
  placeholder?: string;
  options?: Offered[];
  /** Choices, which the people of the account follow. */
  people?: Offered[];
  /** The parameter of the list that takes the choice. */
  parameter?: string;
  /** Whether the choices are views of the list, above the other filters. */
  views?: boolean;
};
export type Filters = { [name: string]: Filter };

/** Values by the names of filters; all of them are in the page's address. */
export type Values = { [filter: string]: string };

/** A search in a list. `asked` has each filter's value, `kept` those that are set. */
export type Search = {
  zone: string;
  filters: Filters;
  asked: Values;
  kept: Values;
  /** The values in words; `from` has the days. */
  words: Values;
  matched: { [filter: string]: Match[] | undefined };
  connections: Connection[];
  problems: FieldError[];
  /** The parameters of the list for the days, the choices, and what was found. */
  query: Record<string, string[]>;
};

/** The search in the page's address; `usualDays` are shown by default. */
export async function searchIn(c: Context, declared: Filters, usualDays?: number): Promise<Search> {
  const zone = timeZoneOf(c);
  const today = dayIn(zone, Date.now());
  const typed = typedIn(c, ['from', 'to', ...Object.keys(declared)]);
  const asked: Values = usualDays ? { ...typed, ...daysUpTo(typed, today, usualDays) } : typed;
  const hasPeople = Object.values(declared).some(({ people }) => people);
  const [connections, { vehicles, drivers }, people] = await Promise.all([
    declared.connection ? listConnections(...by(c)) : [],
    matched(c, asked),
    hasPeople ? listAddresses(...by(c)) : [],
  ]);
  const filters = withOptions(declared, connections, people);
  for (const [name, { options }] of Object.entries(filters))
    if (name !== 'connection' && options && !options.some(([value]) => value === asked[name]))
      asked[name] = '';
  const { from = '', to = '', connection } = asked;
  const { problems, range } = rangeOfDays(zone, from, to);
  if (connection && !nameOf(connections, connection))
    problems.push({ field: 'connection', message: 'Choose one of your connections.' });
  // With script the form always has its days.
  const isUsual = usualDays && to === today && from === addDays(today, 1 - usualDays);
  const search: Search = {
    ...{ zone, asked, connections, problems },
    filters,
    kept: setAmong({ ...asked, ...(isUsual && { from: '', to: '' }) }),
    words: { from: problems.length > 0 ? 'Days' : daysBetween(zone, from, to) },
    matched: { vehicle: vehicles, driver: drivers },
    query: {
      ...range,
      ...(vehicles && { vehicleIds: vehicles.map(({ id }) => id) }),
      ...(drivers && { driverIds: drivers.map(({ id }) => id) }),
    },
  };
  for (const [name, { parameter }] of Object.entries(search.filters)) {
    const value = asked[name] ?? '';
    search.words[name] = wordsOf(search, name, value);
    if (parameter && value) search.query[parameter] = [value];
  }
  return search;
}

const withOptions = (declared: Filters, connections: Connection[], people: string[]): Filters => {
  const known = connections.map((one): Offered => [one.id, connectionName(one)]);
  const optionsOf = (name: string, { people: before, options }: Filter) =>
    name === 'connection'
      ? [['', 'All'] as Offered, ...known]
      : before
        ? [...before, ...offered(people)]
        : options;
  return Object.fromEntries(
    Object.entries(declared).map(([name, filter]) => {
      const options = optionsOf(name, filter);
      return [name, { ...filter, ...(options && { options }) }];
    }),
  );
};

const daysUpTo = ({ from, to }: Values, today: string, count: number) => {
  const last = to || today;
  return { from: from || (isDay(last) ? addDays(last, 1 - count) : today), to: last };
};

const daysBetween = (zone: string, from: string, to: string): string =>
  from && to ? daysInWords(zone, from, to) : [from && `From ${from}`, to && `Until ${to}`].join('');

/** The address's values of these filters, cut to the length of names. */
export const typedIn = (c: Context, filters: string[]): Values =>
  Object.fromEntries(filters.map((name) => [name, (c.req.query(name) ?? '').trim().slice(0, 200)]));

const setAmong = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));

export const addressOf = (path: string, kept: Values): string => {
  const query = new URLSearchParams(setAmong(kept)).toString();
  return query ? `${path}?${query}` : path;
};

function wordsOf({ filters, matched }: Search, name: string, value: string): string {
  const { label = '', options } = filters[name] ?? {};
  if (options)
    return options.find(([option]) => option === value)?.[1] ?? `Unknown ${label.toLowerCase()}`;
  const matches = matched[name];
  return `${label} ${nameOr(value, matches)}${matches?.length === maxMatches ? `, the first ${maxMatches}` : ''}`;
}

export const nameOf = (connections: Connection[], wanted: string): string | undefined =>
  connections.filter(({ id }) => id === wanted).map(connectionName)[0];

/** What was typed; for the id of a link, its name. */
const nameOr = (text: string, matches: Match[] | undefined): string =>
  matches?.find(({ id }) => id === text)?.name ?? text;

/** The filters that are set, of which the days are one, and a view is none. */
export const setIn = ({ filters, kept }: Search): string[] =>
  [...new Set(Object.keys(kept).map((name) => (name === 'to' ? 'from' : name)))].filter(
    (name) => !filters[name]?.views,
  );

/** The filters that are set, each with a link that removes it. */
export const Chips = ({ path, search }: { path: string; search: Search }) => {
  const without = (name: string) => ({
    ...search.kept,
    [name]: '',
    ...(name === 'from' && { to: '' }),
  });
  return (
    <ul class="actions chips pt-3" aria-label="Filters that are set">
      {setIn(search).map((name) => (
        <li>
          <a class="chip" href={addressOf(path, without(name))}>
            {search.words[name]}
            <span class="sr-only">, remove</span>
            <Icon name="x" small />
          </a>
        </li>
      ))}
      <li>
        <a class="sub underline" href={path}>
          Clear all
        </a>
      </li>
    </ul>
  );
};

/** Views of the list, and the other filters: folded on a phone; with script they apply as they change. */
export const FilterForm = ({ path, search }: { path: string; search: Search }) => {
  const { filters, asked, kept, matched, problems } = search;
  const typed = Object.entries(asked).map(([name, value]) => [name, nameOr(value, matched[name])]);
  const set = setIn(search).length;
  return (
    <FilledForm.Provider value={filledIn(Object.fromEntries(typed), problems)}>
      {Object.entries(filters).map(
        ([name, { label, options = [], views }]) =>
          views && (
            <div class="panel-body pt-4 pb-0" data-fresh="views">
              <Segment
                label={label}
                choices={options.map(([view, words]) => [view, words] as const)}
                current={asked[name] ?? ''}
                to={(view) => addressOf(path, { ...kept, [name]: view })}
              />
            </div>
          ),
      )}
      <details class="filter-box" open={problems.length > 0}>
        <summary>
          <Icon name="sliders-horizontal" small />
          Filters
          <span class="sub" data-fresh="set">
            {set > 0 && `${set} set`}
          </span>
        </summary>
        <form method="get" action={path} data-filters>
          <div class="filters">
            <Field name="from" label="From" type="date" />
            <Field name="to" label="To" type="date" />
            {Object.entries(filters).map(([name, { views, options, label, placeholder }]) => {
              if (views)
                return asked[name] && <input type="hidden" name={name} value={asked[name]} />;
              return (
                <Field
                  {...{ name, label, options, placeholder }}
                  {...(!options && { maxlength: 200 })}
                />
              );
            })}
            <div class="actions" data-apply>
              <Submit name="Apply" />
            </div>
          </div>
        </form>
      </details>
    </FilledForm.Provider>
  );
};
