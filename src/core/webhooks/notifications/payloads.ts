import * as v from 'valibot';
import { UtcTime, Uuid } from '../../platform/fields.ts';

/* What receivers get: types for ingest, and the API's document. */

export const EventNotification = v.object({
  eventId: Uuid,
  issuedOn: UtcTime,
  translatedIncidentTypes: v.array(v.string()),
  eventRisk: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5)),
  vehicleId: Uuid,
  vehicleName: v.string(),
  vehicleVin: v.string(),
  vehicleGroups: v.array(v.string()),
  recipients: v.array(v.pipe(v.string(), v.metadata({ format: 'email' }))),
});
export type EventNotification = v.InferOutput<typeof EventNotification>;

export const AccidentNotification = v.object({
  eventId: Uuid,
  eventTime: UtcTime,
  vin: v.string(),
  connection: Uuid,
  tSP: v.string(),
  location: v.object({ latitude: v.number(), longitude: v.number() }),
  notificationLevel: v.pipe(v.number(), v.integer(), v.values([1, 2, 3])),
  reportReady: v.boolean(),
  isAccurate: v.boolean(),
});
export type AccidentNotification = v.InferOutput<typeof AccidentNotification>;

export const EventDelivery = v.object({
  timestamp: UtcTime,
  type: v.literal(2),
  data: EventNotification,
});

export const AccidentDelivery = v.object({
  timestamp: UtcTime,
  type: v.literal(1),
  data: AccidentNotification,
});
