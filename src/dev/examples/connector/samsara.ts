import * as v from 'valibot';
import type { Records, Report } from './report.ts';

const Party = v.object({
  id: v.string(),
  name: v.optional(v.string()),
  externalIds: v.optional(v.record(v.string(), v.string()), {}),
});

/** What happened to a vehicle, as a condition's details tell it. */
const Details = v.object({
  vehicle: Party,
  driver: v.optional(Party),
  speedMilesPerHour: v.optional(v.number()),
  speedLimitMilesPerHour: v.optional(v.number()),
});

/** An alert of Samsara's Webhooks 2.0, as far as it matters here. */
const AlertIncident = v.object({
  eventId: v.string(),
  eventType: v.literal('AlertIncident'),
  data: v.object({
    happenedAtTime: v.string(),
    updatedAtTime: v.optional(v.string()),
    isResolved: v.optional(v.boolean(), false),
    conditions: v.array(v.object({ description: v.string(), details: v.record(v.string(), v.unknown()) })),
  }),
});

const kphPerMph = 1.609344;

/**
 * What an alert of Samsara's tells: one safety event for its harsh event or severe speeding. Nothing for other
 * alerts, and for one that is resolved, which has been told when it began.
 */
export function samsaraRecords(body: unknown): Report | undefined {
  const alert = v.safeParse(AlertIncident, body);
  if (!alert.success || alert.output.data.isResolved) return undefined;
  const { eventId, data } = alert.output;
  for (const { description, details } of data.conditions) {
    const kind =
      'harshEvent' in details ? 'harshEvent' : 'severeSpeeding' in details ? 'severeSpeeding' : undefined;
    const told = kind && v.safeParse(Details, details[kind]);
    if (!told?.success) continue;
    const { vehicle, driver, speedMilesPerHour, speedLimitMilesPerHour } = told.output;
    const records: Records = [
      ...(driver?.name ? [{ kind: 'driver' as const, sourceId: driver.id, name: driver.name }] : []),
      {
        kind: 'safetyEvent',
        sourceId: eventId,
        sourceUpdatedAt: data.updatedAtTime ?? null,
        vehicle: vehicle.id,
        driver: driver?.id ?? null,
        // The alert's own name says what kind of harsh event it is; the service maps words such as Braking.
        incidentTypes: [kind === 'harshEvent' ? description : 'SevereSpeeding'],
        startedAt: data.happenedAtTime,
        maxSpeedKph: inKph(speedMilesPerHour),
        speedLimitKph: inKph(speedLimitMilesPerHour),
      },
    ];
    return {
      records,
      vehicle: {
        kind: 'vehicle',
        sourceId: vehicle.id,
        name: vehicle.name ?? vehicle.id,
        vin: vehicle.externalIds['samsara.vin'] ?? null,
      },
    };
  }
  return undefined;
}

const inKph = (mph: number | undefined): number | null => (mph === undefined ? null : mph * kphPerMph);
