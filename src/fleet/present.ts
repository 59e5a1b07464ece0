import type { ListRow } from '../db/pages.ts';
import type { connections, drivers, safetyEvents, trips, vehicles } from '../db/tables.ts';
import { timestamp, timestampOrNull } from '../fields.ts';
import type { Connection, Driver, SafetyEvent, Trip, Vehicle } from './schema.ts';

/** Items as the API shows them (design 7): each key is always there. */
export const presentConnection = (row: ListRow<typeof connections>): Connection => ({
  id: row.id,
  name: row.name,
  provider: row.provider,
  tSP: row.tsp,
  healthStatus: row.healthStatus,
  createdAt: timestamp(row.createdAt),
  updatedAt: timestamp(row.updatedAt),
});

export const presentDriver = (row: ListRow<typeof drivers>): Driver => ({
  id: row.id,
  connectionId: row.connectionId,
  sourceId: row.sourceId,
  name: row.name,
  email: row.email,
  phone: row.phone,
  licenseState: row.licenseState,
  licenseNumber: row.licenseNumber,
  status: row.status,
  createdAt: timestamp(row.createdAt),
  updatedAt: timestamp(row.updatedAt),
});

export const presentVehicle = (row: ListRow<typeof vehicles>): Vehicle => ({
  id: row.id,
  connectionId: row.connectionId,
  sourceId: row.sourceId,
  name: row.name,
  vin: row.vin,
  groups: row.groups,
  status: row.status,
  make: row.make,
  model: row.model,
  year: row.year,
  fuelType: row.fuelType,
  licensePlate: row.licensePlate,
  odometerKm: row.odometerKm,
  lastLocation: row.lastLocation,
  createdAt: timestamp(row.createdAt),
  updatedAt: timestamp(row.updatedAt),
});

export const presentTrip = (row: ListRow<typeof trips>): Trip => ({
  id: row.id,
  connectionId: row.connectionId,
  sourceId: row.sourceId,
  vehicleId: row.vehicleId,
  driverId: row.driverId,
  startedAt: timestamp(row.startedAt),
  endedAt: timestampOrNull(row.endedAt),
  startLocation: row.startLocation,
  endLocation: row.endLocation,
  distanceKm: row.distanceKm,
  durationSeconds: row.durationSeconds,
  createdAt: timestamp(row.createdAt),
  updatedAt: timestamp(row.updatedAt),
});

export const presentEvent = (row: ListRow<typeof safetyEvents>): SafetyEvent => ({
  id: row.id,
  connectionId: row.connectionId,
  tSP: row.tsp,
  sourceId: row.sourceId,
  incidentTypes: row.incidentTypes,
  translatedIncidentTypes: row.translatedIncidentTypes,
  eventRisk: row.eventRisk,
  issuedOn: timestamp(row.issuedOn),
  startedAt: timestamp(row.startedAt),
  endedAt: timestampOrNull(row.endedAt),
  location: row.location,
  vehicleId: row.vehicleId,
  vehicleName: row.vehicleName,
  vehicleVin: row.vehicleVin,
  vehicleGroups: row.vehicleGroups,
  driverId: row.driverId,
  tripId: row.tripId,
  maxSpeedKph: row.maxSpeedKph,
  speedLimitKph: row.speedLimitKph,
  createdAt: timestamp(row.createdAt),
  updatedAt: timestamp(row.updatedAt),
});
