import { unclearAmong } from '../fleet/accidents/vehicle.ts';
import { writeAccidents } from '../fleet/accidents/write.ts';
import type { Source } from '../fleet/lists/record.ts';
import { recordKinds } from '../fleet/lists/registry.ts';
import { timestamp } from '../platform/fields.ts';
import type { NewNotification } from '../webhooks/notifications/insert.ts';
import { ACCIDENT, EVENT, EVENT_LEVEL } from '../webhooks/notifications/types.ts';
import type { Accepted } from './accept.ts';
import { type Keeper, keeperOf } from './keep.ts';
import type { IngestRecord, RecordOf, RowOf } from './schema.ts';

/** When a record of which somebody may be notified happened (milliseconds since 1970); -Infinity for others. */
function newsAt(record: IngestRecord): number {
  if (record.kind === 'safetyEvent') return record.startedAt;
  return record.kind === 'accident' ? record.eventTime : Number.NEGATIVE_INFINITY;
}

/** When the oldest record to notify of happened; Infinity if there is none. */
export const oldestNews = (accepted: Accepted[]): number =>
  Math.min(...accepted.map(({ record }) => newsAt(record)).filter(Number.isFinite));

export type Entry = Accepted & { row: { id: string; createdAt: number; [key: string]: unknown } };

/**
 * Records of one kind in a call, each for a different thing, with their notifications; `ofKind` counts all of the kind
 * in the call.
 */
export type Batch = { keeper: Keeper; entries: Entry[]; ofKind: number; notifications: NewNotification[] };

const accidentKeeper: Keeper = {
  parents: [],
  write: writeAccidents,
  warning: {
    field: 'vin',
    message: 'is that of several active vehicles of a connection: the accident has none of them',
    among: unclearAmong,
  },
};

const kinds = recordKinds.map((resource) => ({
  kind: resource.kind,
  toRow: resource.toRow,
  keeper: resource.kind === 'accident' ? accidentKeeper : keeperOf(resource),
}));

/**
 * The accepted records of a call by kind, in the order they are written. Records from before `newsSince` (milliseconds
 * since 1970) notify nobody: they may be archived, so that D1 cannot know whether they are new.
 */
export const batchesOf = (source: Source, accepted: Accepted[], newsSince: number): Batch[] =>
  kinds.flatMap(({ kind, toRow, keeper }) => {
    const all = accepted
      .filter(({ record }) => record.kind === kind)
      .map((item): Entry => ({ ...item, row: toRow(item.record, source) }));
    return byOccurrence(all).map((entries) => {
      const news = entries.filter(({ record }) => newsAt(record) >= newsSince);
      const notifications = news.flatMap((entry) => notificationOf(source, entry) ?? []);
      return { keeper, entries, ofKind: all.length, notifications };
    });
  });

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

function notificationOf(source: Source, { record, row }: Entry): NewNotification | undefined {
  // Each kind makes such rows.
  if (record.kind === 'safetyEvent') return eventNotification(record, row as RowOf<'safetyEvent'>);
  if (record.kind === 'accident') return accidentNotification(source, record, row as RowOf<'accident'>);
  return undefined;
}

/** A safety event's notification. The statement adds what the vehicle contributes. */
function eventNotification(
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
  {
    id,
    vin,
    vehicleId,
    eventTime,
    location,
    notificationLevel,
    reportReady,
    isAccurate,
    dismissed,
  }: RowOf<'accident'>,
): NewNotification {
  const level = dismissed ? 2 : notificationLevel;
  return {
    eventId: id,
    level,
    type: ACCIDENT,
    accident: { notificationLevel, dismissed, sourceUpdatedAt, vin, vehicleId },
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
