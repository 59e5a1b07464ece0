import type { Child } from 'hono/jsx';
import type { drivers } from '../../core/fleet/lists/drivers.ts';
import type { vehicles } from '../../core/fleet/lists/vehicles.ts';
import { capital } from '../../core/platform/text.ts';
import { type MapPlace, shortPlaceName } from '../map.tsx';
import { AccidentState, EventState, HandledBy, Level, State } from '../parts.tsx';
import type { Accident, NamedEvent, NamedTrip } from '../read/named-lists.ts';
import type { Column } from '../table.tsx';
import { Ago, Time } from '../time.tsx';
import * as records from './records.tsx';

const text = <F extends string>(head: string, field: F): Column<{ [key in F]: Child }> => ({
  head,
  cell: (item) => item[field],
});

const code = <F extends string>(head: string, field: F): Column<{ [key in F]: string | null }> => ({
  head,
  cell: (item) => item[field] && <code>{item[field]}</code>,
});

const time = <F extends string>(
  head: string,
  field: F,
): Column<{ [key in F]: string | number }> => ({
  head,
  look: 'nowrap',
  cell: (item) => <Time at={item[field]} />,
});

type Listed<T> = T & { connectionName?: string };
type Vehicle = Listed<ReturnType<typeof vehicles.list.present>>;
type Driver = Listed<ReturnType<typeof drivers.list.present>>;

/** How pages name and show the fields of records, in tables and among the facts. */
export const column = {
  vin: { ...code('VIN', 'vin'), look: 'xl:min-w-40' },
  vehicleVin: code('VIN', 'vehicleVin'),
  plate: { ...text('Plate', 'licensePlate'), look: 'nowrap' },
  externalId: text('External ID', 'externalId'),
  fuel: text('Fuel', 'fuelType'),
  phone: { ...text('Phone', 'phone'), look: 'nowrap' },
  email: text('Email', 'email'),
  connection: {
    head: 'Connection',
    cell: ({ connectionName }: { connectionName?: string }) => connectionName,
  },
  vehicle: text('Vehicle', 'vehicleName'),
  knownVehicle: {
    head: 'Vehicle',
    cell: ({ vehicleName }: { vehicleName?: string | null }) =>
      vehicleName ?? <span class="sub">Unknown</span>,
  },
  driver: {
    head: 'Driver',
    cell: (item: Parameters<typeof records.DriverName>[0]) =>
      item.driverName || records.DriverName(item),
  },
  license: { head: 'License', look: 'nowrap', cell: licenseOf },
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
    cell: (event: Parameters<typeof records.Speed>[0]) =>
      event.maxSpeedKph !== null && <records.Speed {...event} />,
  },
  distance: {
    head: 'Distance',
    look: 'nowrap',
    cell: ({ distanceKm: km }: Pick<NamedTrip, 'distanceKm'>) =>
      km !== null && <records.Distance km={km} />,
  },
  duration: { head: 'Duration', look: 'nowrap', cell: records.durationOf },
  risk: {
    head: 'Risk',
    look: 'card-side nowrap',
    cell: EventState,
  },
  incident: {
    head: 'Incident',
    href: records.eventPath,
    cell: ({ translatedIncidentTypes }: NamedEvent) => translatedIncidentTypes.join(', '),
  },
  started: time('Time', 'startedAt'),
};

export const vehicleColumns: Column<Vehicle>[] = [
  {
    head: 'Vehicle',
    href: records.vehiclePath,
    cell: ({ name }) => name,
    more: ({ groups, status }) => [
      <div class="sub clamp">{groups.join(', ')}</div>,
      status === 'inactive' && <State mood="quiet">Inactive</State>,
    ],
  },
  ...[column.vin, column.plate, column.model, column.connection, column.seen],
];

export const driverColumns: Column<Driver>[] = [
  {
    head: 'Driver',
    href: records.driverPath,
    cell: ({ name }) => name,
    more: ({ status }) => status === 0 && [' ', <State mood="quiet">Inactive</State>],
  },
  ...[column.email, column.phone, column.license, column.connection],
];

/** The columns of safety events on the page of a vehicle or driver. */
export const eventColumns = (of: 'vehicle' | 'driver'): Column<NamedEvent>[] => [
  {
    ...column.incident,
    more: ({ location }) => location && shortPlaceName(location),
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
      <a class="cover nowrap" href={records.tripPath(trip)}>
        <Time at={trip.startedAt} />
      </a>
    ),
    more: records.routeOf,
  },
  column.knownVehicle,
  ...[column.driver, column.distance, column.duration],
];

export const accidentColumns: Column<Accident>[] = [
  {
    head: 'Vehicle',
    href: records.accidentPath,
    cell: ({ vehicleName }) => vehicleName ?? 'Unknown vehicle',
    more: ({ vin }) => vin && <code class="sub block">{vin}</code>,
  },
  {
    head: 'State',
    look: 'card-side',
    cell: AccidentState,
    more: (accident) => [<ReportLink {...accident} />, <HandledBy {...accident} />],
  },
  {
    head: 'Level',
    look: 'nowrap',
    cell: ({ notificationLevel }) => <Level level={notificationLevel} />,
  },
  { head: 'Severity', cell: ({ severity }) => severity && capital(severity) },
  ...[column.driver, column.place, column.speed],
  time('Time', 'eventTime'),
];

/** The columns of accidents on the page of a vehicle or driver. */
export const accidentColumnsOf = (of: 'vehicle' | 'driver'): Column<Accident>[] => [
  {
    head: 'Accident',
    href: records.accidentPath,
    cell: ({ eventTime }) => <Time at={eventTime} />,
    more: ({ location }) => shortPlaceName(location),
  },
  ...accidentColumns.filter(({ head }) => ['State', 'Level'].includes(head)),
  of === 'vehicle' ? column.driver : column.knownVehicle,
];

function ReportLink(accident: Accident) {
  const { reportUrl, reportReady, tSP } = accident;
  if (!reportUrl) return reportReady ? <div class="sub">{tSP} has it</div> : null;
  return (
    <a class="over block" href={records.reportPath(accident)} rel="noreferrer">
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
