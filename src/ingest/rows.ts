import { recordId } from '../db/ids.ts';
import type { drivers, safetyEvents, trips, vehicles } from '../db/tables.ts';
import type { AccidentNotification, EventNotification } from '../deliveries/schema.ts';
import { timestamp } from '../http/envelope.ts';
import { ACCIDENT, EVENT } from '../webhooks/schema.ts';
import { type Feed, normaliseIncidents } from './incidents.ts';
import type { RecordOf } from './schema.ts';

/** The feed that records come in by, when they came (milliseconds since 1970), and in which request. */
export type Source = Feed & {
  accountId: string;
  connectionId: string;
  tSP: string;
  now: number;
  requestId: string;
};

/** A driver's row. Here as below, ids are derived from sourceIds, also those that a record refers to. */
export const driverRow = (source: Source, driver: RecordOf<'driver'>): typeof drivers.$inferInsert => {
  const { kind, ...fields } = driver;
  return { ...origin(source, driver), ...fields, status: driver.status ?? 1 };
};

/** A vehicle's row. */
export const vehicleRow = (source: Source, vehicle: RecordOf<'vehicle'>): typeof vehicles.$inferInsert => {
  const { kind, ...fields } = vehicle;
  return {
    ...origin(source, vehicle),
    ...fields,
    groups: vehicle.groups ?? [],
    status: vehicle.status ?? 'active',
  };
};

/** A trip's row. */
export const tripRow = (source: Source, trip: RecordOf<'trip'>): typeof trips.$inferInsert => {
  const { kind, vehicle, driver, ...fields } = trip;
  return {
    ...origin(source, trip),
    ...fields,
    vehicleId: recordId(source.connectionId, 'vehicle', vehicle),
    driverId: referredTo(source, 'driver', driver),
  };
};

/** A safety event without what its vehicle adds. */
export type EventRow = Omit<typeof safetyEvents.$inferInsert, 'vehicleName' | 'vehicleVin' | 'vehicleGroups'>;

/** A safety event's row. */
export function eventRow(source: Source, event: RecordOf<'safetyEvent'>): EventRow {
  const { kind, recipients, vehicle, driver, trip, ...fields } = event;
  const { types, risk } = normaliseIncidents(source, event.incidentTypes);
  return {
    ...origin(source, event),
    ...fields,
    tsp: source.tSP,
    translatedIncidentTypes: types,
    eventRisk: event.eventRisk ?? risk,
    issuedOn: event.issuedOn ?? event.startedAt,
    vehicleId: recordId(source.connectionId, 'vehicle', vehicle),
    driverId: referredTo(source, 'driver', driver),
    tripId: referredTo(source, 'trip', trip),
  };
}

/**
 * One notification: its key, and its payload. That of an event lacks what its vehicle adds, which is filled
 * in from the row of `vehicleId` as it is written.
 */
export type Notice = {
  eventId: string;
  level: number;
  type: number;
  vehicleId?: string;
  data: EventNotification | AccidentNotification;
};

/** A safety event's notification (spec 2.5). */
export const eventNotice = (row: EventRow, recipients: string[]): Notice => ({
  eventId: row.id,
  level: 0,
  type: EVENT,
  vehicleId: row.vehicleId,
  data: {
    eventId: row.id,
    issuedOn: timestamp(row.issuedOn),
    translatedIncidentTypes: row.translatedIncidentTypes,
    eventRisk: row.eventRisk,
    vehicleId: row.vehicleId,
    vehicleName: '',
    vehicleVin: '',
    vehicleGroups: [],
    recipients,
  },
});

/** An accident's notification for its level (spec 2.6). */
export const accidentNotice = (source: Source, accident: RecordOf<'accident'>): Notice => {
  const level = accident.notificationLevel;
  const eventId = recordId(source.connectionId, 'accident', accident.sourceId);
  return {
    eventId,
    level,
    type: ACCIDENT,
    data: {
      eventId,
      eventTime: timestamp(accident.eventTime),
      vin: accident.vin,
      connection: source.connectionId,
      tSP: source.tSP,
      location: accident.location,
      notificationLevel: level,
      reportReady: accident.reportReady ?? level === 3,
      isAccurate: accident.isAccurate ?? level >= 2,
    },
  };
};

const referredTo = (source: Source, kind: string, sourceId: string | null | undefined): string | null =>
  sourceId ? recordId(source.connectionId, kind, sourceId) : null;

const origin = (source: Source, record: { kind: string; sourceId: string }) => ({
  id: recordId(source.connectionId, record.kind, record.sourceId),
  accountId: source.accountId,
  connectionId: source.connectionId,
  createdAt: source.now,
  updatedAt: source.now,
});
