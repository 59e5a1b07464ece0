import { recordId } from '../db/ids.ts';
import type { drivers, safetyEvents, trips, vehicles } from '../db/tables.ts';
import { timestamp } from '../fields.ts';
import { type Feed, normaliseIncidents } from '../incidents/incidents.ts';
import type { NewNotification } from '../notifications/insert.ts';
import { ACCIDENT, EVENT, EVENT_LEVEL } from '../notifications/types.ts';
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

/** A safety event's notification (spec 2.5). */
export const eventNotification = (row: EventRow, recipients: string[]): NewNotification => ({
  eventId: row.id,
  level: EVENT_LEVEL,
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
export const accidentNotification = (source: Source, accident: RecordOf<'accident'>): NewNotification => {
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
