import { recordId } from '../db/ids.ts';
import type { safetyEvents, vehicles } from '../db/tables.ts';
import { timestamp } from '../http/envelope.ts';
import { ACCIDENT, EVENT } from '../webhooks/schema.ts';
import { type Feed, normaliseIncidents } from './incidents.ts';
import type { RecordOf } from './schema.ts';

/** The feed that records come in by, and when they came (milliseconds since 1970). */
export type Source = Feed & { accountId: string; connectionId: string; tSP: string; now: number };

/** What a record becomes before it is written: rows of `tables`, with ids derived from their sourceIds. */
export const vehicleRow = (source: Source, vehicle: RecordOf<'vehicle'>): typeof vehicles.$inferInsert => {
  const { kind, ...fields } = vehicle;
  return {
    ...origin(source, vehicle),
    ...fields,
    groups: vehicle.groups ?? [],
    status: vehicle.status ?? 'active',
  };
};

/** A safety event without what its vehicle adds. */
export type EventRow = Omit<typeof safetyEvents.$inferInsert, 'vehicleName' | 'vehicleVin' | 'vehicleGroups'>;

/** A safety event's row. */
export function eventRow(source: Source, event: RecordOf<'safetyEvent'>): EventRow {
  const { kind, recipients, vehicle, driver, trip, ...fields } = event;
  const { types, risk } = normaliseIncidents(source, event.incidentTypes);
  const reference = (kind: string, sourceId: string | null | undefined) =>
    sourceId ? recordId(source.connectionId, kind, sourceId) : null;
  return {
    ...origin(source, event),
    ...fields,
    translatedIncidentTypes: types,
    eventRisk: event.eventRisk ?? risk,
    issuedOn: event.issuedOn ?? event.startedAt,
    vehicleId: recordId(source.connectionId, 'vehicle', vehicle),
    driverId: reference('driver', driver),
    tripId: reference('trip', trip),
  };
}

/**
 * One notification: its key, and its payload. That of an event lacks what its vehicle adds, which is filled
 * in from the row of `vehicleId` as it is written.
 */
export type Notice = { eventId: string; level: number; type: number; vehicleId?: string; data: object };

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

const origin = (source: Source, record: { kind: string; sourceId: string }) => ({
  id: recordId(source.connectionId, record.kind, record.sourceId),
  accountId: source.accountId,
  connectionId: source.connectionId,
  createdAt: source.now,
  updatedAt: source.now,
});
