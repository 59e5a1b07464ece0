import { drivers } from '../../core/fleet/lists/drivers.ts';
import { vehicles } from '../../core/fleet/lists/vehicles.ts';
import { recordFile } from '../../ui/list.tsx';

/** All vehicles as a CSV file, the newest first. */
export const vehiclesFile = recordFile({
  path: '/portal/vehicles',
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
});

/** All drivers as a CSV file, the newest first. */
export const driversFile = recordFile({
  path: '/portal/drivers',
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
});
