import type { Database } from '../db/database.ts';
import { timestamp } from '../fields.ts';
import type { Source } from '../fleet/record.ts';
import type { Kind, UnkeptKind } from '../fleet/registry.ts';
import {
  insertAccidentNotifications,
  insertEventNotifications,
  type NewNotification,
  type NotificationSource,
} from '../notifications/insert.ts';
import { ACCIDENT, EVENT, EVENT_LEVEL } from '../notifications/types.ts';
import type { IngestRecord, RecordOf, RowOf } from './schema.ts';

/**
 * The kinds of records that customers are told of. Those that no table keeps must be among them, or their records
 * would be lost: leaving one out is a type error.
 */
const notifiers: { [K in UnkeptKind | 'safetyEvent']: Notifier<RecordOf<K>, RowOf<K>> } = {
  safetyEvent: { notification: eventNotification, insert: insertEventNotifications },
  accident: { notification: accidentNotification, insert: insertAccidentNotifications },
};

/** How a record is told, and the statement that writes what was told. */
type Notifier<R, Row> = {
  notification(source: Source, record: R, row: Row): NewNotification;
  insert: (
    db: Database,
    source: NotificationSource,
    notifications: NewNotification[],
  ) => ReturnType<typeof insertEventNotifications>;
};

/** How customers are told of records of this kind, if they are. */
export const notifierOf = (kind: Kind): Notifier<IngestRecord, object> | undefined =>
  (notifiers as { [kind: string]: Notifier<IngestRecord, object> })[kind]; // to be given this kind's records

/** A safety event's notification (spec 2.5). What its vehicle adds is written by the statement. */
function eventNotification(
  _: Source,
  { recipients }: RecordOf<'safetyEvent'>,
  { id, issuedOn, translatedIncidentTypes, eventRisk, vehicleId }: RowOf<'safetyEvent'>,
): NewNotification {
  return {
    eventId: id,
    level: EVENT_LEVEL,
    type: EVENT,
    vehicleId,
    data: {
      eventId: id,
      issuedOn: timestamp(issuedOn),
      translatedIncidentTypes,
      eventRisk,
      vehicleId,
      vehicleName: '',
      vehicleVin: '',
      vehicleGroups: [],
      recipients: recipients ?? [],
    },
  };
}

/** The notification of one level of an accident (spec 2.6). */
function accidentNotification(
  { connectionId, tSP }: Source,
  { vin, eventTime, location, notificationLevel, reportReady, isAccurate }: RecordOf<'accident'>,
  { id }: RowOf<'accident'>,
): NewNotification {
  return {
    eventId: id,
    level: notificationLevel,
    type: ACCIDENT,
    data: {
      eventId: id,
      eventTime: timestamp(eventTime),
      vin,
      connection: connectionId,
      tSP,
      location,
      notificationLevel,
      reportReady: reportReady ?? notificationLevel === 3,
      isAccurate: isAccurate ?? notificationLevel >= 2,
    },
  };
}
