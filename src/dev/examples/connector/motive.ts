import * as v from 'valibot';
import type { Report } from './report.ts';

const Id = v.pipe(v.union([v.number(), v.string()]), v.transform(String));

/** A driver performance event of Motive's Webhooks v2, as far as it matters here. */
const PerformanceEvent = v.object({
  action: v.picklist(['driver_performance_event_created', 'driver_performance_event_updated']),
  id: Id,
  type: v.string(),
  vehicle_id: Id,
  driver_id: v.nullish(Id),
  start_time: v.string(),
  end_time: v.nullish(v.string()),
  lat: v.nullish(v.number()),
  lon: v.nullish(v.number()),
  start_speed: v.nullish(v.number()),
  end_speed: v.nullish(v.number()),
});

/** A vehicle that was made or changed. */
const VehicleUpserted = v.object({
  action: v.literal('vehicle_upserted'),
  id: Id,
  number: v.string(),
  vin: v.nullish(v.string()),
  make: v.nullish(v.string()),
  model: v.nullish(v.string()),
  year: v.nullish(v.union([v.number(), v.string()])),
  license_plate_number: v.nullish(v.string()),
  fuel_type: v.nullish(v.string()),
  status: v.nullish(v.string()),
  updated_at: v.nullish(v.string()),
});

/**
 * What a webhook of Motive's tells: a safety event, or a vehicle. A type such as `lane_swerving_event` is sent
 * in as it is: the service maps the words it knows, and a connection's own map the rest.
 */
export function motiveRecords(body: unknown): Report | undefined {
  const event = v.safeParse(PerformanceEvent, body);
  if (event.success) return eventReport(event.output);
  const vehicle = v.safeParse(VehicleUpserted, body);
  if (vehicle.success) return vehicleReport(vehicle.output);
  return undefined;
}

function eventReport(event: v.InferOutput<typeof PerformanceEvent>): Report {
  const { id, type, vehicle_id, driver_id, start_time, end_time, lat, lon } = event;
  const speeds = [event.start_speed, event.end_speed].filter((speed) => typeof speed === 'number');
  return {
    records: [
      {
        kind: 'safetyEvent',
        sourceId: id,
        vehicle: vehicle_id,
        driver: driver_id ?? null,
        incidentTypes: [type.replace(/_event$/, '')],
        startedAt: start_time,
        endedAt: end_time ?? null,
        location: lat != null && lon != null ? { latitude: lat, longitude: lon } : null,
        maxSpeedKph: speeds.length > 0 ? Math.max(...speeds) : null,
      },
    ],
    vehicle: { kind: 'vehicle', sourceId: vehicle_id, name: `Vehicle ${vehicle_id}` },
  };
}

function vehicleReport(vehicle: v.InferOutput<typeof VehicleUpserted>): Report {
  const year = Number(vehicle.year);
  return {
    records: [
      {
        kind: 'vehicle',
        sourceId: vehicle.id,
        sourceUpdatedAt: vehicle.updated_at ?? null,
        name: vehicle.number,
        vin: vehicle.vin || null,
        make: vehicle.make || null,
        model: vehicle.model || null,
        year: Number.isInteger(year) && year >= 1900 ? year : null,
        licensePlate: vehicle.license_plate_number || null,
        fuelType: vehicle.fuel_type || null,
        status: vehicle.status === 'deactivated' ? 'inactive' : 'active',
      },
    ],
  };
}
