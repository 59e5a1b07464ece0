import type { Child } from 'hono/jsx';
import type { Accident, NamedEvent, NamedTrip } from '../../fleet/named-lists.ts';
import type { NamedItem } from '../../fleet/search.ts';
import { type MapPlace, shortPlaceName } from './map.tsx';
import {
  accidentPath,
  DriverName,
  driverPath,
  durationOf,
  eventPath,
  reportPath,
  routeOf,
  tripPath,
  vehiclePath,
} from './records.tsx';
import { AccidentState, HandledBy, Level, Risk, State } from './states.tsx';
import type { Column } from './table.tsx';
import { Ago, Time } from './time.tsx';
import { Distance, Speed } from './units.tsx';

const text = <F extends string>(head: string, field: F): Column<{ [key in F]: Child }> => ({
  head,
  cell: (item) => item[field],
});

const code = <F extends string>(head: string, field: F): Column<{ [key in F]: string | null }> => ({
  head,
  cell: (item) => item[field] && <code>{item[field]}</code>,
});

const time = <F extends string>(head: string, field: F): Column<{ [key in F]: string | number }> => ({
  head,
  look: 'nowrap',
  cell: (item) => <Time at={item[field]} />,
});

type Vehicle = NamedItem<'vehicle'>;
type Driver = NamedItem<'driver'>;

/** How pages name and show the fields of records, in tables and among the facts. */
export const column = {
  vin: code('VIN', 'vin'),
  vehicleVin: code('VIN', 'vehicleVin'),
  plate: text('Plate', 'licensePlate'),
  externalId: text('External ID', 'externalId'),
  fuel: text('Fuel', 'fuelType'),
  phone: text('Phone', 'phone'),
  email: text('Email', 'email'),
  connection: text('Connection', 'connectionName'),
  provider: text('Provider', 'tSP'),
  vehicle: { ...text('Vehicle', 'vehicleName'), look: 'md:min-w-24' },
  driver: { head: 'Driver', cell: DriverName },
  license: { head: 'License', cell: licenseOf },
  model: { head: 'Make and model', label: 'Model', cell: modelOf },
  seen: {
    head: 'Last seen',
    cell: ({ lastLocation }: Pick<Vehicle, 'lastLocation'>) =>
      lastLocation && <Ago at={lastLocation.timestamp} />,
  },
  place: {
    head: 'Place',
    cell: ({ location }: { location: MapPlace | null }) => location && shortPlaceName(location),
  },
  speed: {
    head: 'Speed',
    look: 'nowrap',
    cell: (event: Parameters<typeof Speed>[0]) => event.maxSpeedKph !== null && <Speed {...event} />,
  },
  distance: {
    head: 'Distance',
    look: 'nowrap',
    cell: ({ distanceKm: km }: Pick<NamedTrip, 'distanceKm'>) => km !== null && <Distance km={km} />,
  },
  duration: { head: 'Duration', look: 'nowrap', cell: durationOf },
  risk: {
    head: 'Risk',
    look: 'card-side nowrap',
    cell: ({ eventRisk }: Pick<NamedEvent, 'eventRisk'>) => <Risk risk={eventRisk} named />,
  },
  incident: {
    head: 'Incident',
    href: eventPath,
    cell: ({ translatedIncidentTypes }: NamedEvent) => translatedIncidentTypes.join(', '),
  },
  started: time('Time', 'startedAt'),
};

export const vehicleColumns: Column<Vehicle>[] = [
  {
    head: 'Vehicle',
    href: vehiclePath,
    cell: ({ name }) => name,
    more: ({ groups, status }) => [
      ' ',
      <span class="sub">{groups.join(', ')}</span>,
      status === 'inactive' && [' ', <State mood="quiet">Inactive</State>],
    ],
  },
  ...[column.vin, column.plate, column.model, column.connection, column.seen],
];

export const driverColumns: Column<Driver>[] = [
  {
    head: 'Driver',
    href: driverPath,
    cell: ({ name }) => name,
    more: ({ status }) => status === 0 && [' ', <State mood="quiet">Inactive</State>],
  },
  ...[column.email, column.phone, column.license, column.connection],
];

/** The columns of safety events on the page of a vehicle or driver. */
export const eventColumns = (of: 'vehicle' | 'driver'): Column<NamedEvent>[] => [
  {
    ...column.incident,
    more: ({ location }) => location && <div class="sub">{shortPlaceName(location)}</div>,
  },
  column.risk,
  of === 'vehicle' ? column.driver : column.vehicle,
  column.speed,
  column.started,
];

export const tripColumns: Column<NamedTrip>[] = [
  {
    head: 'Trip',
    look: 'card-title',
    cell: (trip) => (
      <a class="cover nowrap" href={tripPath(trip)}>
        <Time at={trip.startedAt} />
      </a>
    ),
    more: (trip) => <div class="sub">{routeOf(trip)}</div>,
  },
  { head: 'Vehicle', cell: ({ vehicleName }) => vehicleName ?? <span class="sub">Unknown</span> },
  ...[column.driver, column.distance, column.duration],
];

/** The columns of accidents, each with its state and who handles it. */
export const accidentColumns: Column<Accident>[] = [
  { head: 'Vehicle', href: accidentPath, cell: ({ vehicleName }) => vehicleName ?? 'Unknown vehicle' },
  { head: 'State', look: 'card-side', cell: AccidentState, more: HandledBy },
  { head: 'Level', look: 'nowrap', cell: ({ notificationLevel }) => <Level level={notificationLevel} /> },
  ...[column.vin, column.place, column.provider],
  { head: 'Report', look: 'nowrap', cell: ReportLink },
  time('Time', 'eventTime'),
];

/** The columns where only half a page is theirs. */
export const narrowAccidentColumns = accidentColumns.filter(({ head }) =>
  ['Vehicle', 'State', 'Level', 'Place', 'Time'].includes(head),
);

function ReportLink(accident: Accident) {
  const { reportUrl, reportReady, tSP } = accident;
  if (!reportUrl) return reportReady ? <span class="sub">{tSP} has it</span> : null;
  return (
    <a class="over" href={reportPath(accident)} rel="noreferrer">
      Open report
    </a>
  );
}

/** "Freightliner Cascadia, 2024", as far as known. */
export function modelOf({ make, model, year }: Pick<Vehicle, 'make' | 'model' | 'year'>): string {
  return [[make, model].filter(Boolean).join(' '), year].filter(Boolean).join(', ');
}

/** "PA 99-123-4567", as far as known. */
function licenseOf(driver: Pick<Driver, 'licenseState' | 'licenseNumber'>): string {
  return [driver.licenseState, driver.licenseNumber].filter(Boolean).join(' ');
}
