import type { ProviderRecord } from '../connector.ts';
import { at, field, msOf, place } from '../read.ts';

/** A vehicle of `/fleet/vehicles`. Units that were never plugged in have next to no fields. */
export function vehicleRecord(item: unknown): ProviderRecord {
  const year = field(item, 'year');
  const tags = at(item, 'tags');
  return {
    kind: 'vehicle',
    sourceId: field(item, 'id'),
    sourceUpdatedAt: field(item, 'updatedAtTime'),
    name: field(item, 'name') ?? field(item, 'id'),
    vin: field(item, 'vin') ?? field(item, 'externalIds', 'samsara.vin'),
    make: field(item, 'make'),
    model: field(item, 'model'),
    year: typeof year === 'string' && /^\d{4}$/.test(year) ? Number(year) : null,
    licensePlate: field(item, 'licensePlate'),
    groups: Array.isArray(tags) ? tags.map((tag) => at(tag, 'name')) : [],
  };
}

/** A driver of `/fleet/drivers`. */
export const driverRecord = (item: unknown): ProviderRecord => ({
  kind: 'driver',
  sourceId: field(item, 'id'),
  sourceUpdatedAt: field(item, 'updatedAtTime'),
  name: field(item, 'name') ?? field(item, 'username') ?? field(item, 'id'),
  phone: field(item, 'phone'),
  licenseState: field(item, 'licenseState'),
  licenseNumber: field(item, 'licenseNumber'),
  status: at(item, 'driverActivationStatus') === 'deactivated' ? 0 : 1,
});

/** Trips have no id of their own: a vehicle begins one at a time. */
export const tripId = (vehicle: unknown, startTime: unknown): string | null => {
  const ms = msOf(startTime);
  return typeof vehicle === 'string' && Number.isFinite(ms) ? `${vehicle}:${ms}` : null;
};

/** A trip of `/trips/stream`, which knows neither driver nor distance. */
export function tripRecord(item: unknown): ProviderRecord {
  const [startedAt, endedAt] = [field(item, 'tripStartTime'), field(item, 'tripEndTime')];
  const seconds = Math.round((msOf(endedAt) - msOf(startedAt)) / 1000);
  return {
    kind: 'trip',
    sourceId: tripId(at(item, 'asset', 'id'), startedAt),
    sourceUpdatedAt: field(item, 'updatedAtTime'),
    vehicle: field(item, 'asset', 'id'),
    startedAt,
    endedAt,
    startLocation: placeIn(item, 'startLocation'),
    endLocation: placeIn(item, 'endLocation'),
    durationSeconds: Number.isFinite(seconds) ? seconds : null,
  };
}

/** A place that Samsara gives under a name. */
export const placeIn = (item: unknown, name: string): unknown =>
  place(at(item, name, 'latitude'), at(item, name, 'longitude'), addressOf(at(item, name, 'address')));

/** Samsara's address has parts, any of which can be missing: `11 Market Street, Springfield, California`. */
function addressOf(address: unknown): string {
  const part = (name: string) => {
    const found = at(address, name);
    return typeof found === 'string' ? found.trim() : '';
  };
  const street = [part('streetNumber'), part('street')].filter(Boolean).join(' ');
  return [street || part('pointOfInterest'), part('city'), part('state')].filter(Boolean).join(', ');
}
