import type { Child } from 'hono/jsx';
import type { Connection } from '../../fleet/connections.ts';
import { incidentTypeOf, incidentTypes } from '../../fleet/incidents/types.ts';
import { listTime } from '../../fleet/named.ts';
import { type Match, type Matched, maxMatches } from '../../fleet/names.ts';
import type { ListRequest } from '../../fleet/service.ts';
import type { FieldError } from '../../platform/errors.ts';
import { nameOf } from '../connections/connections.tsx';
import { addDays, daysInWords, isDay, startOfDay } from '../ui/days.ts';
import { Field, Select, Submit } from '../ui/forms.tsx';
import { Icon } from '../ui/icons.tsx';
import { Chip } from '../ui/parts.tsx';
import { dayIn } from '../ui/time.tsx';

/**
 * The filters of the page of safety events, as its address has them. `from` and `to` are days in the reader's time zone,
 * both included; `risk` is the least risk; `type` a normalised incident type; `vehicle` a name, licence plate, VIN or
 * id; `driver` a name or id.
 */
type EventFilters = { [name in (typeof names)[number]]: string };

const names = ['from', 'to', 'risk', 'type', 'connection', 'vehicle', 'driver', 'vin'] as const;

/** The days that are shown unless others are asked for, today included. */
const usualDays = 7;

/** What somebody asks for, with the usual days unless they say others. `set` names the filters that they set. */
export type Asked = { filters: EventFilters; set: (keyof EventFilters)[] };

/** Reads the filters from the query of an address. What is no risk or type at all is left out. */
export function askedIn(query: Record<string, string>, zone: string, now = Date.now()): Asked {
  const typed = (name: keyof EventFilters) => (query[name] ?? '').trim().slice(0, longestText);
  const today = dayIn(zone, now);
  const to = typed('to') || today;
  const given = {
    ...(Object.fromEntries(names.map((name) => [name, typed(name)])) as EventFilters), // each by its name
    risk: /^[2-5]$/.test(typed('risk')) ? typed('risk') : '',
    type: incidentTypeOf(typed('type')) ?? '',
  };
  const from = given.from || (isDay(to) ? addDays(to, 1 - usualDays) : today);
  // With script the form always says its days.
  const usual = to === today && from === addDays(today, 1 - usualDays);
  const set = names.filter((name) => given[name] !== '' && !(usual && (name === 'from' || name === 'to')));
  return { filters: { ...given, from, to }, set };
}

/** Names of vehicles and drivers are no longer. */
const longestText = 200;

/** What is wrong with the filters, by field. */
export function problemsOf({ from, to, connection }: EventFilters, connectionIds: string[]): FieldError[] {
  return [
    ...problemsOfDays(from, to),
    ...(connection && !connectionIds.includes(connection)
      ? [{ field: 'connection', message: 'Choose one of your connections.' }]
      : []),
  ];
}

/** What is wrong with the first and the last day of a range. */
export function problemsOfDays(from: string, to: string): FieldError[] {
  const day = 'Must be a date, such as 2026-11-20.';
  return [
    ...(isDay(from) ? [] : [{ field: 'from', message: day }]),
    ...(isDay(to) ? [] : [{ field: 'to', message: day }]),
    ...(isDay(from) && isDay(to) && from > to
      ? [{ field: 'to', message: 'Must not be before the first day.' }]
      : []),
  ];
}

/** The times from which and before which these days are, as lists take them. */
export function rangeOfDays(zone: string, from: string, to: string) {
  const dayAfter = addDays(to, 1);
  return {
    from: [listTime(startOfDay(zone, from))],
    to: [listTime(isDay(dayAfter) ? startOfDay(zone, dayAfter) : Number.POSITIVE_INFINITY)],
  };
}

/**
 * What to ask the list for; nothing, if no vehicle or no driver matches. The filters have no problems. An account's only
 * connection is named: its events need not be merged with others.
 */
export function requestFor(
  { from, to, risk, type, connection }: EventFilters,
  connectionIds: string[],
  { vehicles, drivers }: Matched,
  zone: string,
): ListRequest | undefined {
  if (vehicles?.length === 0 || drivers?.length === 0) return undefined;
  return {
    connectionId: connection || (connectionIds.length === 1 ? connectionIds[0] : undefined),
    descending: true,
    query: {
      ...rangeOfDays(zone, from, to),
      ...(risk && { minEventRisk: [risk] }),
      ...(type && { eventTypes: [type] }),
      ...(vehicles && { vehicleIds: vehicles.map(({ id }) => id) }),
      ...(drivers && { driverIds: drivers.map(({ id }) => id) }),
    },
  };
}

/** The query of an address with the filters that are set, but for some. */
function queryWith({ filters, set }: Asked, without: (keyof EventFilters)[] = []): string {
  const kept = set.filter((name) => !without.includes(name));
  return new URLSearchParams(kept.map((name) => [name, filters[name]])).toString();
}

/** The same with the days that are shown now, so that a page that follows continues this one, also tomorrow. */
export const queryOfDays = ({ filters, set }: Asked): string =>
  queryWith({ filters, set: ['from', 'to', ...set.filter((name) => name !== 'from' && name !== 'to')] });

type Props = { asked: Asked; connections: Connection[]; matched: Matched };

const risks: [string, string][] = [
  ['', 'Any'],
  ['2', '2 and up'],
  ['3', '3 and up'],
  ['4', '4 and 5'],
  ['5', 'Only 5'],
];

/** The first and the last day of a range. */
export const DayFields = ({ from, to, problems }: { from: string; to: string; problems: FieldError[] }) => (
  <>
    <Field name="from" label="From" type="date" value={from} errors={problems} />
    <Field name="to" label="To" type="date" value={to} errors={problems} />
  </>
);

/** What is typed of a vehicle and a driver; `vehicleBy` says what a vehicle is found by. */
export const FleetFields = (props: {
  vehicle: string;
  driver: string;
  matched: Matched;
  vehicleBy: string;
}) => (
  <>
    <Field
      name="vehicle"
      label="Vehicle"
      value={typedOr(props.vehicle, props.matched.vehicles)}
      placeholder={props.vehicleBy}
      maxlength={200}
    />
    <Field
      name="driver"
      label="Driver"
      value={typedOr(props.driver, props.matched.drivers)}
      placeholder="Name"
      maxlength={200}
    />
  </>
);

/** The filters of safety events. */
export const FilterForm = ({ asked, connections, matched, problems }: Props & { problems: FieldError[] }) => {
  const { filters, set } = asked;
  return (
    <FilterBox path="/portal/events" set={set.length} open={problems.length > 0}>
      <DayFields {...filters} problems={problems} />
      <Select name="risk" label="Risk" value={filters.risk} options={risks} />
      <Select
        name="type"
        label="Incident"
        value={filters.type}
        options={[['', 'All types'], ...incidentTypes.map((type): [string, string] => [type, type])]}
      />
      <FleetFields {...filters} matched={matched} vehicleBy="Name or plate" />
      <Field name="vin" label="VIN" value={filters.vin} maxlength={40} />
      <Select
        name="connection"
        label="Connection"
        value={filters.connection}
        errors={problems}
        options={[['', 'All'], ...connections.map((one): [string, string] => [one.id, nameOf(one)])]}
      />
    </FilterBox>
  );
};

/** Filters of a list. Folded on a phone; with script they apply as they change. */
export const FilterBox = (props: { path: string; set: number; open: boolean; children: Child }) => (
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

/** What was typed; for the id of a link, the name of what it means. */
const typedOr = (text: string, matches: Match[] | undefined): string =>
  matches?.find(({ id }) => id === text)?.name ?? text;

/** The filters that are set, each of which removes itself. */
export const Chips = (props: Props & { zone: string; path: string }) => {
  const { asked, path } = props;
  const chips = chipsFor(props);
  if (chips.length === 0) return null;
  return (
    <ul class="actions chips" aria-label="Filters that are set">
      {chips.map(({ names, text }) => (
        <Chip text={text} href={`${path}?${queryWith(asked, names)}`} />
      ))}
      <li>
        <a class="sub underline" href={path}>
          Clear all
        </a>
      </li>
    </ul>
  );
};

const ofMany = (matches: Match[] | undefined): string =>
  matches?.length === maxMatches ? `, the first ${maxMatches}` : '';

type SetFilter = { names: (keyof EventFilters)[]; text: string };

function chipsFor({ asked, connections, matched, zone }: Props & { zone: string }): SetFilter[] {
  const { filters, set } = asked;
  const connection = connections.find(({ id }) => id === filters.connection);
  const words: { [name in keyof EventFilters]?: string } = {
    risk: `Risk ${risks.find(([value]) => value === filters.risk)?.[1]}`,
    type: filters.type,
    connection: connection ? nameOf(connection) : 'Unknown connection',
    vehicle: `Vehicle ${typedOr(filters.vehicle, matched.vehicles)}${ofMany(matched.vehicles)}`,
    driver: `Driver ${typedOr(filters.driver, matched.drivers)}${ofMany(matched.drivers)}`,
    vin: `VIN ${filters.vin}`,
  };
  const { from, to } = filters;
  const inWords = isDay(from) && isDay(to) && from <= to ? daysInWords(zone, from, to) : 'Days';
  const days: SetFilter[] = set.some((name) => name === 'from' || name === 'to')
    ? [{ names: ['from', 'to'], text: inWords }]
    : [];
  return [...days, ...set.flatMap((name) => (words[name] ? [{ names: [name], text: words[name] }] : []))];
}
