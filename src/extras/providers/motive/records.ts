import type { ProviderRecord } from '../connector/connector.ts';
import {
  at,
  field,
  fittingGroups,
  idAt,
  itemsAt,
  joinedFields,
  numeric,
  place,
  sameFields,
  yearIn,
} from '../connector/read.ts';

/** A vehicle of `/v1/vehicles`, with the names of its groups by id. */
export function vehicleRecord(
  item: unknown,
  groupNames: ReadonlyMap<unknown, unknown>,
): ProviderRecord {
  return {
    ...briefVehicle(item),
    sourceUpdatedAt: field(item, 'updated_at'),
    fuelType: field(item, 'fuel_type'),
    licensePlate: field(item, 'license_plate_number'),
    groups: fittingGroups(itemsAt(item, 'group_ids').map((id) => groupNames.get(id))),
    status: at(item, 'status') === 'active' ? 'active' : 'inactive',
  };
}

/** The vehicle in an event or a driving period. */
export const vehicleOf = (item: unknown): ProviderRecord => briefVehicle(at(item, 'vehicle'));

const briefVehicle = (vehicle: unknown): ProviderRecord => ({
  kind: 'vehicle',
  sourceId: idAt(vehicle, 'id'),
  name: field(vehicle, 'number') ?? idAt(vehicle, 'id'),
  ...sameFields(vehicle, 'vin', 'make', 'model'),
  year: yearIn(at(vehicle, 'year')),
});

export const driverRecord = (item: unknown): ProviderRecord => ({
  kind: 'driver',
  sourceId: idAt(item, 'id'),
  sourceUpdatedAt: field(item, 'updated_at'),
  name:
    joinedFields(item, 'first_name', 'last_name') ?? field(item, 'username') ?? idAt(item, 'id'),
  email: field(item, 'email'),
  phone: phoneOf(item),
  licenseState: field(item, 'drivers_license_state'),
  licenseNumber: field(item, 'drivers_license_number'),
  status: at(item, 'status') === 'deactivated' ? 0 : 1,
});

/** The code may lack its `+`; a number that begins with one already has it. */
function phoneOf(item: unknown): unknown {
  const [code, phone] = [field(item, 'phone_country_code'), field(item, 'phone')];
  if (typeof phone !== 'string' || phone.startsWith('+') || code === null) return phone;
  return `+${String(code).replace(/^\+/, '')} ${phone}`;
}

const happening = (kind: ProviderRecord['kind'], item: unknown): ProviderRecord => ({
  kind,
  sourceId: idAt(item, 'id'),
  vehicle: idAt(item, 'vehicle', 'id'),
  driver: idAt(item, 'driver', 'id'),
  startedAt: field(item, 'start_time'),
  endedAt: field(item, 'end_time'),
});

/** A driving period. An unfinished one has no distance or end yet, which would change each time. */
export function tripRecord(item: unknown): ProviderRecord {
  const begun = {
    ...happening('trip', item),
    startLocation: place(
      numeric(item, 'origin_lat'),
      numeric(item, 'origin_lon'),
      at(item, 'origin'),
    ),
  };
  if (at(item, 'status') !== 'complete') return { ...begun, endedAt: null };
  const [from, to] = [numeric(item, 'start_kilometers'), numeric(item, 'end_kilometers')];
  const duration = numeric(item, 'duration');
  return {
    ...begun,
    endLocation: place(
      numeric(item, 'destination_lat'),
      numeric(item, 'destination_lon'),
      at(item, 'destination'),
    ),
    // `distance` is text, in the vehicle's unit.
    distanceKm: typeof from === 'number' && typeof to === 'number' ? to - from : null,
    durationSeconds: typeof duration === 'number' ? Math.round(duration) : null,
  };
}

/** An event of `/v2/driver_performance_events`. It has no time of change: the latest reading counts. */
export const eventRecord = (item: unknown): ProviderRecord => ({
  ...happening('safetyEvent', item),
  incidentTypes: wordsOf(item),
  eventRisk: riskOf(item),
  location: place(numeric(item, 'lat'), numeric(item, 'lon'), at(item, 'location')),
  maxSpeedKph:
    numeric(item, 'max_speed') ?? greater(numeric(item, 'start_speed'), numeric(item, 'end_speed')),
  withdrawn: isDismissed(item) || null,
});

/** Whether Motive or a person says that an event was none. It marks false speeding as `invalid`. */
export const isDismissed = (item: unknown): boolean =>
  at(item, 'status') === 'invalid' || /^dismiss/.test(String(at(item, 'coaching_status')));

/** An event of `/v1/speeding_events`, whose ids may equal those of other events. */
export function speedingRecord(item: unknown): ProviderRecord {
  const id = idAt(item, 'id');
  const limit =
    numeric(item, 'max_posted_speed_limit_in_kph') ??
    numeric(item, 'min_posted_speed_limit_in_kph');
  return {
    ...happening('safetyEvent', item),
    sourceId: id === null ? null : `speeding:${id}`,
    incidentTypes: ['speeding'],
    eventRisk: riskOf(item),
    location: place(numeric(item, 'start_lat'), numeric(item, 'start_lon')),
    maxSpeedKph:
      numeric(item, 'max_vehicle_speed') ?? sum(limit, numeric(item, 'max_over_speed_in_kph')),
    speedLimitKph: limit,
    withdrawn: isDismissed(item) || null,
  };
}

/** An event's type in a uniform spelling. */
export function typeOf(item: unknown): unknown {
  const type = field(item, 'type');
  return typeof type === 'string' && type !== 'manual_event' ? type.replace(/_event$/, '') : type;
}

/** The type, and what a review of the video has added to it. */
function wordsOf(item: unknown): unknown[] {
  const more = ['primary_behavior', 'secondary_behaviors'].flatMap((name) => at(item, name) ?? []);
  const words = [typeOf(item), ...more].filter((word) => word !== null && word !== '');
  return [...new Set(words)];
}

const risks: { [severity: string]: number } = { low: 2, medium: 3, high: 4, critical: 5 };

function riskOf(item: unknown): number | null {
  const severity = field(item, 'metadata', 'severity') ?? field(item, 'severity');
  return typeof severity === 'string' && Object.hasOwn(risks, severity)
    ? (risks[severity] ?? null)
    : null;
}

const greater = (a: unknown, b: unknown): unknown =>
  typeof a === 'number' && typeof b === 'number' ? Math.max(a, b) : (a ?? b);

const sum = (a: unknown, b: unknown): unknown =>
  typeof a === 'number' && typeof b === 'number' ? a + b : null;
