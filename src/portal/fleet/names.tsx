import { drivers } from '../../core/fleet/lists/drivers.ts';
import { vehicles } from '../../core/fleet/lists/vehicles.ts';
import type { Item } from '../../ui/added.ts';
import { driverColumns, vehicleColumns } from '../../ui/lists/columns.tsx';
import { type RecordList, recordFile, recordPage } from '../../ui/lists/list.tsx';

const allVehicles = {
  path: '/portal/vehicles',
  title: 'Vehicles',
  words: ['vehicle', 'vehicles'],
  list: { ...vehicles.list, names: [] },
  filters: {},
  file: {
    name: 'vehicles',
    columns: vehicles.itemFields,
    heads: {
      ...{ name: 'Vehicle', vin: 'VIN', licensePlate: 'Plate', make: 'Make', model: 'Model' },
      ...{ year: 'Year', connectionName: 'Connection', 'lastLocation.timestamp': 'Last seen' },
      ...{ groups: 'Groups', status: 'Status', externalId: 'External ID' },
    },
  },
  show: () => ({
    lead: 'Newest first.',
    columns: vehicleColumns,
    empty: { icon: 'truck', title: 'No vehicles yet' },
  }),
} satisfies RecordList<Item<typeof vehicles.list>>;

const allDrivers = {
  path: '/portal/drivers',
  title: 'Drivers',
  words: ['driver', 'drivers'],
  list: { ...drivers.list, names: [] },
  filters: {},
  file: {
    name: 'drivers',
    columns: drivers.itemFields,
    heads: {
      ...{ name: 'Driver', email: 'Email', phone: 'Phone', licenseState: 'License state' },
      ...{
        licenseNumber: 'License',
        connectionName: 'Connection',
        status: 'Active (1) or not (0)',
      },
    },
  },
  show: () => ({
    lead: 'Newest first.',
    columns: driverColumns,
    empty: { icon: 'id-card', title: 'No drivers yet' },
  }),
} satisfies RecordList<Item<typeof drivers.list>>;

/** Vehicles and drivers, unless an extra lists them by name. */
export const listVehicles = recordPage(allVehicles);
export const listDrivers = recordPage(allDrivers);

/** All of them as a CSV file, the newest first. */
export const vehiclesFile = recordFile(allVehicles);
export const driversFile = recordFile(allDrivers);
