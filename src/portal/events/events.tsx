import { type Connection, listConnections } from '../../fleet/connections.ts';
import { incidentTypeOf, incidentTypes } from '../../fleet/incidents/types.ts';
import { safetyEvents } from '../../fleet/lists/safety-events.ts';
import { eventsWithDrivers, type NamedEvent } from '../../fleet/named-lists.ts';
import { type Match, matchFleet, maxMatches } from '../../fleet/search.ts';
import type { Context } from '../../platform/http/context.ts';
import { nameOf } from '../connections/connections.tsx';
import { allTypedIn, browse, DayFields, FleetFields, nameOr, setAmong } from '../ui/browse.tsx';
import { browsedFile } from '../ui/browsed-file.ts';
import { addDays, dayName, daysInWords, isDay, rangeOfDays } from '../ui/days.ts';
import { eventColumn } from '../ui/events.tsx';
import { Field, type Offered, Select } from '../ui/forms.tsx';
import { timeZoneOf } from '../ui/layout.tsx';
import { shortPlaceName } from '../ui/map.tsx';
import { Empty } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Clock, dayIn } from '../ui/time.tsx';

const path = '/portal/events';

/** How many days are shown by default, today included. */
const usualDays = 7;

/**
 * The filters in the address. `from` and `to` are days in the reader's time zone, inclusive; `risk` is the minimum;
 * `type` an incident type; `vehicle` a name, licence plate, VIN or id; `driver` a name or id. Invalid ones are ignored.
 */
async function requested(c: Context) {
  const zone = timeZoneOf(c);
  const today = dayIn(zone, Date.now());
  const typed = allTypedIn(c, ['from', 'to', 'risk', 'type', 'connection', 'vehicle', 'driver', 'vin']);
  const to = typed.to || today;
  const from = typed.from || (isDay(to) ? addDays(to, 1 - usualDays) : today);
  const risk = /^[2-5]$/.test(typed.risk) ? typed.risk : '';
  const type = incidentTypeOf(typed.type) ?? '';
  const asked = { ...typed, from, to, risk, type };
  const { connection } = asked;
  const [connections, matched] = await Promise.all([
    listConnections(c.env, c.get('caller')),
    matchFleet(c.env, c.get('caller'), asked),
  ]);
  const { problems, range } = rangeOfDays(zone, from, to);
  if (connection && !connections.some(({ id }) => id === connection))
    problems.push({ field: 'connection', message: 'Choose one of your connections.' });
  const { vehicles, drivers } = matched;
  const nothingMatches = vehicles?.length === 0 || drivers?.length === 0;
  const request = {
    // An account's only connection is named: its events need not be merged with others.
    connectionId: connection || (connections.length === 1 ? connections[0]?.id : undefined),
    descending: true,
    query: {
      ...range,
      ...(risk && { minEventRisk: [risk] }),
      ...(type && { eventTypes: [type] }),
      ...(vehicles && { vehicleIds: vehicles.map(({ id }) => id) }),
      ...(drivers && { driverIds: drivers.map(({ id }) => id) }),
    },
  };
  // With script the form always has its days.
  const isUsual = to === today && from === addDays(today, 1 - usualDays);
  return {
    zone,
    connections,
    asked,
    kept: setAmong({ ...asked, ...(isUsual && { from: '', to: '' }) }),
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
  const { zone, connections, asked, matched, problems } = search;
  const days = problems.length === 0 ? daysInWords(zone, asked.from, asked.to) : 'Days';
  return browse(c, listed, search, {
    title: 'Safety events',
    // "Risk 4 and 5, November 16 – 22", "Speeding, November 20".
    lead: [asked.risk && riskName(asked.risk), asked.type, days].filter(Boolean).join(', '),
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
    chips: () => ({
      from: days,
      risk: riskName(asked.risk),
      type: asked.type,
      connection:
        connections.filter(({ id }) => id === asked.connection).map(nameOf)[0] ?? 'Unknown connection',
      vehicle: `Vehicle ${nameOr(asked.vehicle, matched.vehicles)}${ofMany(matched.vehicles)}`,
      driver: `Driver ${nameOr(asked.driver, matched.drivers)}${ofMany(matched.drivers)}`,
      vin: `VIN ${asked.vin}`,
    }),
    table: (items) => (
      <Table
        caption="Safety events"
        look="data-cards data-flow border-t border-line"
        columns={columnsOf(connections)}
        groups={[...Map.groupBy(items, ({ startedAt }) => dayIn(zone, Date.parse(startedAt)))].map(
          ([day, those]) => ({ name: dayName(zone, day), items: those }),
        )}
      />
    ),
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

const riskName = (risk: string): string => `Risk ${riskChoices.find(([value]) => value === risk)?.[1]}`;

const ofMany = (matches: Match[] | undefined): string =>
  matches?.length === maxMatches ? `, the first ${maxMatches}` : '';

const columnsOf = (connections: Connection[]): Column<NamedEvent>[] => [
  eventColumn.incident,
  eventColumn.risk,
  eventColumn.vehicle,
  eventColumn.driver,
  { head: 'Place', cell: ({ location }) => location && shortPlaceName(location) },
  eventColumn.speed,
  {
    head: 'Source',
    look: 'sub',
    cell: ({ connectionId, tSP }) =>
      connections.filter(({ id }) => id === connectionId).map(nameOf)[0] ?? tSP,
  },
  { head: 'Time', look: 'nowrap', cell: ({ startedAt }) => <Clock at={startedAt} /> },
];
