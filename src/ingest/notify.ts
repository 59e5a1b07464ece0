import type { Source } from '../fleet/lists/record.ts';
import type { Kind } from '../fleet/lists/registry.ts';
import type { Database } from '../platform/db/database.ts';
import { timestamp } from '../platform/fields.ts';
import {
  insertAccidentNotifications,
  insertEventNotifications,
  type NewNotification,
  type NotificationSource,
} from '../webhooks/notifications/insert.ts';
import { ACCIDENT, EVENT, EVENT_LEVEL } from '../webhooks/notifications/types.ts';
import type { IngestRecord, RecordOf, RowOf } from './schema.ts';

const notifiers: { [K in 'safetyEvent' | 'accident']: Notifier<RecordOf<K>, RowOf<K>> } = {
  safetyEvent: {
    happenedAt: ({ startedAt }) => startedAt,
    notification: eventNotification,
    insert: insertEventNotifications,
  },
  accident: {
    happenedAt: ({ eventTime }) => eventTime,
    notification: accidentNotification,
    insert: insertAccidentNotifications,
  },
};

/** When a record happened (milliseconds since 1970), its notification, and the statement that writes it. */
type Notifier<R, Row> = {
  happenedAt(record: R): number;
  notification(source: Source, record: R, row: Row): NewNotification;
  insert: (
    db: Database,
    source: NotificationSource,
    notifications: NewNotification[],
  ) => ReturnType<typeof insertEventNotifications>;
};

export const notifierOf = (kind: Kind): Notifier<IngestRecord, object> | undefined =>
  (notifiers as { [kind: string]: Notifier<IngestRecord, object> })[kind]; // given records of this kind only

/** A safety event's notification. The statement adds what the vehicle contributes. */
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

/** The notification of one level of an accident. A false alarm is sent as level 2 with `isAccurate` false. */
function accidentNotification(
  { connectionId, tSP }: Source,
  { sourceUpdatedAt }: RecordOf<'accident'>,
  { id, vin, eventTime, location, notificationLevel, reportReady, isAccurate, dismissed }: RowOf<'accident'>,
): NewNotification {
  const level = dismissed ? 2 : notificationLevel;
  return {
    eventId: id,
    level,
    type: ACCIDENT,
    accident: { notificationLevel, dismissed, sourceUpdatedAt },
    data: {
      eventId: id,
      eventTime: timestamp(eventTime),
      vin,
      connection: connectionId,
      tSP,
      location: { latitude: location.latitude, longitude: location.longitude },
      notificationLevel: level,
      reportReady: reportReady && !dismissed,
      isAccurate: isAccurate && !dismissed,
    },
  };
}
