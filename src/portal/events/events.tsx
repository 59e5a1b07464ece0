import { type Connection, listConnections } from '../../fleet/connections.ts';
import { incidentTypeOf, incidentTypes } from '../../fleet/incidents/types.ts';
import { safetyEvents } from '../../fleet/lists/safety-events.ts';
import { eventsWithDrivers, type NamedEvent } from '../../fleet/named.ts';
import { type Match, matchFleet, maxMatches } from '../../fleet/names.ts';
import type { Context } from '../../platform/http/context.ts';
import { nameOf } from '../connections/connections.tsx';
import {
  addressOf,
  browse,
  browsedFile,
  DayFields,
  FleetFields,
  nameOr,
  type Search,
  typedIn,
} from '../ui/browse.tsx';
import { addDays, dayName, daysInWords, isDay, problemsOfDays, rangeOfDays } from '../ui/days.ts';
import { Field, type Offered, Select } from '../ui/forms.tsx';
import { timeZoneOf } from '../ui/layout.tsx';
import { shortPlaceName } from '../ui/map.tsx';
import { Chip, Empty } from '../ui/parts.tsx';
import { DriverName, eventPath } from '../ui/records.tsx';
import { Risk } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Clock, dayIn } from '../ui/time.tsx';
import { Speed } from '../ui/units.tsx';

const path = '/portal/events';

/** How many days are shown by default, today included. */
const usualDays = 7;

/**
 * The filters in the address. `from` and `to` are days in the reader's time zone, inclusive; `risk` is the minimum;
 * `type` an incident type; `vehicle` a name, licence plate, VIN or id; `driver` a name or id. Invalid ones are ignored.
 */
async function requested(c: Context) {
  const zone = timeZoneOf(c);
  const typed = (name: string) => typedIn(c, name);
  const today = dayIn(zone, Date.now());
  const to = typed('to') || today;
  const from = typed('from') || (isDay(to) ? addDays(to, 1 - usualDays) : today);
  const filters = {
    risk: /^[2-5]$/.test(typed('risk')) ? typed('risk') : '',
    type: incidentTypeOf(typed('type')) ?? '',
    connection: typed('connection'),
    vehicle: typed('vehicle'),
    driver: typed('driver'),
    vin: typed('vin'),
  };
  const [connections, matched] = await Promise.all([
    listConnections(c.env, c.get('caller')),
    matchFleet(c.env, c.get('caller'), filters),
  ]);
  const { risk, type, connection } = filters;
  const isOurs = connection === '' || connections.some(({ id }) => id === connection);
  const problems = [
    ...problemsOfDays(from, to),
    ...(isOurs ? [] : [{ field: 'connection', message: 'Choose one of your connections.' }]),
  ];
  const { vehicles, drivers } = matched;
  const nothingMatches = vehicles?.length === 0 || drivers?.length === 0;
  const request = {
    // An account's only connection is named: its events need not be merged with others.
    connectionId: connection || (connections.length === 1 ? connections[0]?.id : undefined),
    descending: true,
    query: {
      ...(problems.length === 0 && rangeOfDays(zone, from, to)),
      ...(risk && { minEventRisk: [risk] }),
      ...(type && { eventTypes: [type] }),
      ...(vehicles && { vehicleIds: vehicles.map(({ id }) => id) }),
      ...(drivers && { driverIds: drivers.map(({ id }) => id) }),
    },
  };
  // With script the form always has its days.
  const isUsual = to === today && from === addDays(today, 1 - usualDays);
  const days: { [filter: string]: string } = isUsual ? {} : { from, to };
  const others = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== ''));
  return {
    zone,
    connections,
    chosen: { ...days, ...others },
    asked: { from, to, ...filters },
    // Keeps the days, so that the next page continues this one, even tomorrow.
    kept: { from, to, ...others },
    set: Object.keys(others).length + (isUsual ? 0 : 1),
    matched,
    problems,
    request: nothingMatches ? undefined : request,
  };
}

const listed = {
  path,
  list: eventsWithDrivers,
  words: ['event', 'events'] as [string, string],
  file: { name: 'safety-events', columns: safetyEvents.itemColumns },
};

export async function list(c: Context) {
  const search = await requested(c);
  const { zone, connections, asked, problems } = search;
  return browse(c, listed, search, {
    title: 'Safety events',
    // "Risk 4 and 5, November 16 – 22", "Speeding, November 20".
    lead:
      problems.length === 0 &&
      [asked.risk && riskName(asked.risk), asked.type, daysInWords(zone, asked.from, asked.to)]
        .filter(Boolean)
        .join(', '),
    fields: (
      <>
        <DayFields />
        <Select name="risk" label="Risk" options={riskChoices} />
        <Select
          name="type"
          label="Incident"
          options={[['', 'All types'], ...incidentTypes.map((type): Offered => [type, type])]}
        />
        <FleetFields vehicleBy="Name or plate" />
        <Field name="vin" label="VIN" maxlength={40} />
        <Select
          name="connection"
          label="Connection"
          options={[['', 'All'], ...connections.map((one): Offered => [one.id, nameOf(one)])]}
        />
      </>
    ),
    chips: () => <Chips {...search} />,
    table: (items) => <EventTable events={items} connections={connections} zone={zone} />,
    empty: (
      <Empty icon="shield-check" title="No safety events in the last 7 days">
        New events appear here as they arrive.
      </Empty>
    ),
  });
}

/** The same events as a CSV file. */
export const file = async (c: Context) => browsedFile(c, listed, await requested(c));

const riskChoices: Offered[] = [
  ['', 'Any'],
  ['2', '2 and up'],
  ['3', '3 and up'],
  ['4', '4 and 5'],
  ['5', '5 only'],
];

const riskName = (risk = ''): string => `Risk ${riskChoices.find(([value]) => value === risk)?.[1]}`;

/** The filters that are set, each with a link that removes it; the days are one. */
const Chips = (props: Search & { chosen: Search['kept']; connections: Connection[]; zone: string }) => {
  const { asked, chosen, connections, matched, problems, zone } = props;
  const { from = '', to = '' } = asked;
  const connection = connections.find(({ id }) => id === asked.connection);
  const words: { [name: string]: string } = {
    from: problems.some(({ field }) => field !== 'connection') ? 'Days' : daysInWords(zone, from, to),
    risk: riskName(asked.risk),
    type: asked.type ?? '',
    connection: connection ? nameOf(connection) : 'Unknown connection',
    vehicle: `Vehicle ${nameOr(asked.vehicle, matched.vehicles)}${ofMany(matched.vehicles)}`,
    driver: `Driver ${nameOr(asked.driver, matched.drivers)}${ofMany(matched.drivers)}`,
    vin: `VIN ${asked.vin}`,
  };
  const without = (name: string) =>
    Object.fromEntries(
      Object.entries(chosen).filter(([other]) => other !== name && !(name === 'from' && other === 'to')),
    );
  const names = Object.keys(chosen).filter((name) => name !== 'to');
  if (names.length === 0) return null;
  return (
    <ul class="actions chips" aria-label="Filters that are set">
      {names.map((name) => (
        <Chip text={words[name] ?? ''} href={addressOf(path, without(name))} />
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

/** Safety events in order, by day in the reader's zone. */
const EventTable = (props: { events: NamedEvent[]; connections: Connection[]; zone: string }) => {
  const { events, connections, zone } = props;
  const names = new Map(connections.map((connection) => [connection.id, nameOf(connection)]));
  const days = Map.groupBy(events, ({ startedAt }) => dayIn(zone, Date.parse(startedAt)));
  return (
    <Table
      caption="Safety events"
      look="data-cards data-flow border-t border-line"
      columns={columnsOf(names)}
      groups={[...days].map(([day, items]) => ({ name: dayName(zone, day), items }))}
    />
  );
};

/** `sources` are the names of connections by id. */
const columnsOf = (sources: Map<string, string>): Column<NamedEvent>[] => [
  { head: 'Incident', href: eventPath, cell: ({ translatedIncidentTypes: types }) => types.join(', ') },
  { head: 'Risk', look: 'card-side nowrap', cell: ({ eventRisk }) => <Risk risk={eventRisk} named /> },
  { head: 'Vehicle', look: 'md:min-w-24', cell: ({ vehicleName }) => vehicleName },
  { head: 'Driver', cell: (event) => <DriverName {...event} /> },
  { head: 'Place', cell: ({ location }) => location && shortPlaceName(location) },
  { head: 'Speed', look: 'nowrap', cell: (event) => <Speed {...event} /> },
  { head: 'Source', look: 'sub', cell: ({ connectionId, tSP }) => sources.get(connectionId) ?? tSP },
  { head: 'Time', look: 'nowrap', cell: ({ startedAt }) => <Clock at={startedAt} /> },
];
