import type { ProviderRecord } from '../connector.ts';
import { at, field, idAt, itemsAt, numeric, place } from '../read.ts';

/** A vehicle of `/v1/vehicles`, with the names of its groups by id. */
export function vehicleRecord(item: unknown, groupNames: ReadonlyMap<unknown, unknown>): ProviderRecord {
  return {
    ...briefVehicle(item),
    sourceUpdatedAt: field(item, 'updated_at'),
    fuelType: field(item, 'fuel_type'),
    licensePlate: field(item, 'license_plate_number'),
    groups: itemsAt(item, 'group_ids').flatMap((id) => groupNames.get(id) ?? []),
    status: at(item, 'status') === 'active' ? 'active' : 'inactive',
  };
}

/** The vehicle in an event or a driving period. */
export const vehicleOf = (item: unknown): ProviderRecord => briefVehicle(at(item, 'vehicle'));

const briefVehicle = (vehicle: unknown): ProviderRecord => ({
  kind: 'vehicle',
  sourceId: idAt(vehicle, 'id'),
  name: field(vehicle, 'number') ?? idAt(vehicle, 'id'),
  vin: field(vehicle, 'vin'),
  make: field(vehicle, 'make'),
  model: field(vehicle, 'model'),
  year: yearAt(vehicle),
});

/** Motive writes `"0"` for an unknown year. */
const yearAt = (item: unknown): unknown => {
  const year = numeric(item, 'year');
  return year === 0 ? null : year;
};

export const driverRecord = (item: unknown): ProviderRecord => ({
  kind: 'driver',
  sourceId: idAt(item, 'id'),
  sourceUpdatedAt: field(item, 'updated_at'),
  name: nameOf(item) ?? field(item, 'username') ?? idAt(item, 'id'),
  email: field(item, 'email'),
  phone: phoneOf(item),
  licenseState: field(item, 'drivers_license_state'),
  licenseNumber: field(item, 'drivers_license_number'),
  status: at(item, 'status') === 'deactivated' ? 0 : 1,
});

function nameOf(item: unknown): unknown {
  const names = [field(item, 'first_name'), field(item, 'last_name')].filter((name) => name !== null);
  return names.length > 0 && names.every((name) => typeof name === 'string')
    ? names.join(' ')
    : (names[0] ?? null);
}

/** The code may lack its `+`; a number that begins with one already has it. */
function phoneOf(item: unknown): unknown {
  const [code, phone] = [field(item, 'phone_country_code'), field(item, 'phone')];
  if (typeof phone !== 'string' || phone.startsWith('+') || code === null) return phone;
  return `+${String(code).replace(/^\+/, '')} ${phone}`;
}

/** A driving period. An unfinished one has no distance or end yet, which would change each time. */
export function tripRecord(item: unknown): ProviderRecord {
  const isComplete = at(item, 'status') === 'complete';
  const [from, to] = [numeric(item, 'start_kilometers'), numeric(item, 'end_kilometers')];
  const duration = numeric(item, 'duration');
  return {
    kind: 'trip',
    sourceId: idAt(item, 'id'),
    vehicle: idAt(item, 'vehicle', 'id'),
    driver: idAt(item, 'driver', 'id'),
    startedAt: field(item, 'start_time'),
    endedAt: isComplete ? field(item, 'end_time') : null,
    startLocation: place(numeric(item, 'origin_lat'), numeric(item, 'origin_lon'), at(item, 'origin')),
    endLocation: isComplete
      ? place(numeric(item, 'destination_lat'), numeric(item, 'destination_lon'), at(item, 'destination'))
      : null,
    // `distance` is text, in the vehicle's unit.
    distanceKm: isComplete && typeof from === 'number' && typeof to === 'number' ? to - from : null,
    durationSeconds: isComplete && typeof duration === 'number' ? Math.round(duration) : null,
  };
}
