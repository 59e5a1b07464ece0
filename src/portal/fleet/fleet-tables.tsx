import type { Child } from 'hono/jsx';
import type { NamedItem } from '../../fleet/by-name.ts';
import { Table } from '../ui/parts.tsx';
import { State } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';

export type Vehicle = NamedItem<'vehicle'>;
export type Driver = NamedItem<'driver'>;

export const vehiclePath = (id: string): string => `/portal/vehicles/${id}`;
export const driverPath = (id: string): string => `/portal/drivers/${id}`;

/** Vehicles, one a row: what tells them apart, and when each was last seen. */
export const VehicleTable = ({ vehicles }: { vehicles: Vehicle[] }) => (
  <Table caption="Vehicles" head={['Vehicle', 'VIN', 'Plate', 'Make and model', 'Connection', 'Last seen']}>
    {vehicles.map((vehicle) => (
      <tr>
        <td class="card-title">
          <a class="cover" href={vehiclePath(vehicle.id)}>
            {vehicle.name}
          </a>{' '}
          <span class="sub">{vehicle.groups.join(', ')}</span>
        </td>
        <Cell label="VIN">{vehicle.vin && <code>{vehicle.vin}</code>}</Cell>
        <Cell label="Plate">{vehicle.licensePlate}</Cell>
        <Cell label="Model">{modelOf(vehicle)}</Cell>
        <Cell label="Connection">{vehicle.connectionName}</Cell>
        {vehicle.status === 'inactive' ? (
          <td class="card-side">
            <State mood="quiet">Inactive</State>
          </td>
        ) : (
          <Cell label="Last seen">{vehicle.lastLocation && <Ago at={vehicle.lastLocation.timestamp} />}</Cell>
        )}
      </tr>
    ))}
  </Table>
);

/** "Freightliner Cascadia, 2024", as far as it is known. */
export const modelOf = ({ make, model, year }: Pick<Vehicle, 'make' | 'model' | 'year'>): string =>
  [[make, model].filter(Boolean).join(' '), year].filter(Boolean).join(', ');

/** Drivers, one a row. */
export const DriverTable = ({ drivers }: { drivers: Driver[] }) => (
  <Table caption="Drivers" head={['Driver', 'Email', 'Phone', 'License', 'Connection']}>
    {drivers.map((driver) => (
      <tr>
        <td class="card-title">
          <a class="cover" href={driverPath(driver.id)}>
            {driver.name}
          </a>{' '}
          {driver.status === 0 && <State mood="quiet">Inactive</State>}
        </td>
        <Cell label="Email">{driver.email}</Cell>
        <Cell label="Phone">{driver.phone}</Cell>
        <Cell label="License">{licenseOf(driver)}</Cell>
        <Cell label="Connection">{driver.connectionName}</Cell>
      </tr>
    ))}
  </Table>
);

/** "PA 99-123-4567", as far as it is known. */
export const licenseOf = ({
  licenseState,
  licenseNumber,
}: Pick<Driver, 'licenseState' | 'licenseNumber'>): string =>
  [licenseState, licenseNumber].filter(Boolean).join(' ');

/** A value with its name on a phone, where one without a value is left out. */
const Cell = ({ label, children }: { label: string; children?: Child }) =>
  children ? <td data-label={label}>{children}</td> : <td />;
