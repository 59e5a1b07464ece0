import { trips as table } from '../../platform/db/schema/fleet.ts';
import { drivers } from './drivers.ts';
import { optional } from './field.ts';
import { location } from './field-objects.ts';
import { number, reference, time } from './field-types.ts';
import { indexed } from './filters.ts';
import { resource } from './resource.ts';
import { vehicles } from './vehicles.ts';

/** No vehicle is faster: a longer distance is in another unit. */
export const fastestKph = 300;

export const trips = resource({
  kind: 'trip',
  table,
  description: 'One journey of a vehicle.',
  sourceId: 'trip-981',
  fields: {
    vehicleId: reference(vehicles, 'Its vehicle.'),
    driverId: optional(reference(drivers, 'Its driver, if known.')),
    startedAt: time('When it began.', '2026-11-20T18:12:00.000Z'),
    endedAt: optional(time('When it ended.', '2026-11-20T20:04:00.000Z')),
    startLocation: optional(location('Where it began.')),
    endLocation: optional(location('Where it ended.')),
    distanceKm: optional(number(0, 100_000, 'Its length, in kilometres.', 142.7)),
    durationSeconds: optional(number(0, 100_000_000, 'How long it took, in seconds.', 6720)),
  },
  list: {
    path: '/trips',
    order: 'startedAt',
    connection: 'optional',
    range: 'optional',
    archived: true,
    filters: {
      vehicleIds: indexed('vehicleId', 'Only trips of these vehicles.'),
      driverIds: indexed('driverId', 'Only trips of these drivers.'),
    },
  },
});
