import type { Connection } from '../../fleet/connections.ts';
import { incidentTypes } from '../../fleet/incidents/types.ts';
import { type Match, type Matched, maxMatches } from '../../fleet/match.ts';
import type { FieldError } from '../../platform/errors.ts';
import { daysInWords, isDay } from '../ui/days.ts';
import { Field, Select, Submit } from '../ui/forms.tsx';
import { Icon } from '../ui/icons.tsx';
import { type Asked, type EventFilters, queryWith } from './filters.tsx';

type Props = { asked: Asked; connections: Connection[]; matched: Matched };

const risks: [string, string][] = [
  ['', 'Any'],
  ['2', '2 and up'],
  ['3', '3 and up'],
  ['4', '4 and 5'],
  ['5', 'Only 5'],
];

/** The filters of safety events. Folded on a phone; with script they apply as they change. */
export const FilterForm = ({ asked, connections, matched, problems }: Props & { problems: FieldError[] }) => {
  const { filters, set } = asked;
  const all: [string, string] = ['', 'All'];
  return (
    <details class="filter-box" open={problems.length > 0}>
      <summary>
        <Icon name="sliders-horizontal" small />
        Filters
        {set.length > 0 && <span class="sub">{set.length} set</span>}
      </summary>
      <form method="get" action="/portal/events" data-filters>
        <div class="filters">
          <Field name="from" label="From" type="date" value={filters.from} errors={problems} />
          <Field name="to" label="To" type="date" value={filters.to} errors={problems} />
          <Select name="risk" label="Risk" value={filters.risk} options={risks} />
          <Select
            name="type"
            label="Incident"
            value={filters.type}
            options={[['', 'All types'], ...incidentTypes.map((type): [string, string] => [type, type])]}
          />
          <Field
            name="vehicle"
            label="Vehicle"
            value={typedOr(filters.vehicle, matched.vehicles)}
            placeholder="Name or plate"
            maxlength={200}
          />
          <Field
            name="driver"
            label="Driver"
            value={typedOr(filters.driver, matched.drivers)}
            placeholder="Name"
            maxlength={200}
          />
          <Field name="vin" label="VIN" value={filters.vin} maxlength={40} />
          <Select
            name="connection"
            label="Connection"
            value={filters.connection}
            errors={problems}
            options={[all, ...connections.map(({ id, name, tsp }): [string, string] => [id, name ?? tsp])]}
          />
          <div class="actions" data-apply>
            <Submit name="Apply" />
          </div>
        </div>
      </form>
    </details>
  );
};

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
        <li>
          <a class="chip" href={`${path}?${queryWith(asked, names)}`}>
            {text}
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

const ofMany = (matches: Match[] | undefined): string =>
  matches?.length === maxMatches ? `, the first ${maxMatches}` : '';

type Chip = { names: (keyof EventFilters)[]; text: string };

function chipsFor({ asked, connections, matched, zone }: Props & { zone: string }): Chip[] {
  const { filters, set } = asked;
  const connection = connections.find(({ id }) => id === filters.connection);
  const words: { [name in keyof EventFilters]?: string } = {
    risk: `Risk ${risks.find(([value]) => value === filters.risk)?.[1]}`,
    type: filters.type,
    connection: connection?.name ?? connection?.tsp ?? 'Unknown connection',
    vehicle: `Vehicle ${typedOr(filters.vehicle, matched.vehicles)}${ofMany(matched.vehicles)}`,
    driver: `Driver ${typedOr(filters.driver, matched.drivers)}${ofMany(matched.drivers)}`,
    vin: `VIN ${filters.vin}`,
  };
  const { from, to } = filters;
  const inWords = isDay(from) && isDay(to) && from <= to ? daysInWords(zone, from, to) : 'Days';
  const days: Chip[] = set.some((name) => name === 'from' || name === 'to')
    ? [{ names: ['from', 'to'], text: inWords }]
    : [];
  return [...days, ...set.flatMap((name) => (words[name] ? [{ names: [name], text: words[name] }] : []))];
}
