import { writeAccidents } from '../fleet/accidents/write.ts';
import type { Source } from '../fleet/lists/record.ts';
import { type Kind, recordKinds } from '../fleet/lists/registry.ts';
import { timestamp } from '../platform/fields.ts';
import {
  insertAccidentNotifications,
  insertEventNotifications,
  type NewNotification,
} from '../webhooks/notifications/insert.ts';
import { ACCIDENT, EVENT, EVENT_LEVEL } from '../webhooks/notifications/types.ts';
import type { Accepted } from './accept.ts';
import { type Keeper, keeperOf } from './keep.ts';
import type { IngestRecord, RecordOf, RowOf } from './schema.ts';

/** When the oldest record to notify of happened (milliseconds since 1970); Infinity if there is none. */
export const oldestNews = (accepted: Accepted[]): number =>
  Math.min(
    ...accepted.map(({ record }) => notifierOf(record.kind)?.happenedAt(record) ?? Number.POSITIVE_INFINITY),
  );

export type Entry = Accepted & { row: { id: string; createdAt: number; [key: string]: unknown } };

/**
 * Records of one kind in a call, each for a different thing, with their notifications; `ofKind` counts all of the kind
 * in the call.
 */
export type Batch = ReturnType<typeof batchesOfKind>[number];

/**
 * The accepted records of a call by kind, in the order they are written. Records from before `newsSince` (milliseconds
 * since 1970) notify nobody: they may be archived, so that D1 cannot know whether they are new.
 */
export const batchesOf = (source: Source, accepted: Accepted[], newsSince: number): Batch[] =>
  kinds.flatMap((kind) => batchesOfKind(source, kind, accepted, newsSince));

function batchesOfKind(
  source: Source,
  { kind, toRow, keeper, notifier }: (typeof kinds)[number],
  accepted: Accepted[],
  newsSince: number,
) {
  const all = accepted
    .filter(({ record }) => record.kind === kind)
    .map((item): Entry => ({ ...item, row: toRow(item.record, source) }));
  return byOccurrence(all).map((entries) => ({
    keeper,
    notifier,
    entries,
    ofKind: all.length,
    notifications: notifier
      ? entries
          .filter(({ record }) => notifier.happenedAt(record) >= newsSince)
          .map(({ record, row }) => notifier.notification(source, record, row))
      : [],
  }));
}

/** The first record for each thing, then the second: a call may have up to three levels of an accident. */
function byOccurrence(entries: Entry[]): Entry[][] {
  const occurrences: Entry[][] = [];
  const seen = new Map<string, number>();
  for (const entry of entries) {
    const occurrence = seen.get(entry.row.id) ?? 0;
    seen.set(entry.row.id, occurrence + 1);
    occurrences[occurrence] = [...(occurrences[occurrence] ?? []), entry];
  }
  return occurrences;
}

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
  insert: typeof insertEventNotifications;
};

const notifierOf = (kind: Kind): Notifier<IngestRecord, object> | undefined =>
  (notifiers as { [kind: string]: Notifier<IngestRecord, object> })[kind]; // given records of this kind only

const accidentKeeper: Keeper = { parents: [], write: writeAccidents };

const kinds = recordKinds.map((resource) => ({
  kind: resource.kind,
  toRow: resource.toRow,
  keeper: resource.kind === 'accident' ? accidentKeeper : keeperOf(resource),
  notifier: notifierOf(resource.kind),
}));

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
