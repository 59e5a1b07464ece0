import * as v from 'valibot';

/** What receivers get: types for ingest, and the API's document. */
const id = v.pipe(v.string(), v.uuid());
const time = v.pipe(v.string(), v.isoTimestamp());

export const EventNotification = v.object({
  eventId: id,
  issuedOn: time,
  translatedIncidentTypes: v.array(v.string()),
  eventRisk: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5)),
  vehicleId: id,
  vehicleName: v.string(),
  vehicleVin: v.string(),
  vehicleGroups: v.array(v.string()),
  recipients: v.array(v.pipe(v.string(), v.metadata({ format: 'email' }))),
});
export type EventNotification = v.InferOutput<typeof EventNotification>;

export const AccidentNotification = v.object({
  eventId: id,
  eventTime: time,
  vin: v.string(),
  connection: id,
  tSP: v.string(),
  location: v.object({ latitude: v.number(), longitude: v.number() }),
  notificationLevel: v.pipe(v.number(), v.integer(), v.values([1, 2, 3])),
  reportReady: v.boolean(),
  isAccurate: v.boolean(),
});
export type AccidentNotification = v.InferOutput<typeof AccidentNotification>;

export const EventDelivery = v.object({ timestamp: time, type: v.literal(2), data: EventNotification });

export const AccidentDelivery = v.object({ timestamp: time, type: v.literal(1), data: AccidentNotification });
