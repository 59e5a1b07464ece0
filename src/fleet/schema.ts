import * as v from 'valibot';

/** What the five lists answer, item by item (design 7). Types of the presenters, and the API's document. */
const id = v.pipe(v.string(), v.uuid());
const time = v.pipe(v.string(), v.isoTimestamp());
const text = v.nullable(v.string());
const number = v.nullable(v.number());

export const Location = v.object({ latitude: v.number(), longitude: v.number() });

export const VehicleLocation = v.object({
  ...Location.entries,
  altitudeMeters: number,
  speedKph: number,
  timestamp: time,
});

const written = { createdAt: time, updatedAt: time };
const record = { id, connectionId: id, sourceId: v.string() };

export const Connection = v.object({
  id,
  name: text,
  provider: v.string(),
  tSP: v.string(),
  healthStatus: v.pipe(v.number(), v.integer(), v.values([1, 2, 3, 4])),
  ...written,
});
export type Connection = v.InferOutput<typeof Connection>;

export const Driver = v.object({
  ...record,
  name: v.string(),
  email: text,
  phone: text,
  licenseState: text,
  licenseNumber: text,
  status: v.pipe(v.number(), v.integer(), v.values([0, 1])),
  ...written,
});
export type Driver = v.InferOutput<typeof Driver>;

export const Vehicle = v.object({
  ...record,
  name: v.string(),
  vin: text,
  groups: v.array(v.string()),
  status: v.picklist(['active', 'inactive']),
  make: text,
  model: text,
  year: v.nullable(v.pipe(v.number(), v.integer())),
  fuelType: text,
  licensePlate: text,
  odometerKm: number,
  lastLocation: v.nullable(VehicleLocation),
  ...written,
});
export type Vehicle = v.InferOutput<typeof Vehicle>;

export const Trip = v.object({
  ...record,
  vehicleId: id,
  driverId: v.nullable(id),
  startedAt: time,
  endedAt: v.nullable(time),
  startLocation: v.nullable(Location),
  endLocation: v.nullable(Location),
  distanceKm: number,
  durationSeconds: number,
  ...written,
});
export type Trip = v.InferOutput<typeof Trip>;

export const SafetyEvent = v.object({
  id,
  connectionId: id,
  tSP: v.string(),
  sourceId: v.string(),
  incidentTypes: v.array(v.string()),
  translatedIncidentTypes: v.array(v.string()),
  eventRisk: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5)),
  issuedOn: time,
  startedAt: time,
  endedAt: v.nullable(time),
  location: v.nullable(Location),
  vehicleId: id,
  vehicleName: v.string(),
  vehicleVin: text,
  vehicleGroups: v.array(v.string()),
  driverId: v.nullable(id),
  tripId: v.nullable(id),
  maxSpeedKph: number,
  speedLimitKph: number,
  ...written,
});
export type SafetyEvent = v.InferOutput<typeof SafetyEvent>;
