import { unclearAmong } from '../fleet/accidents/vehicle.ts';
import {
  accidentColumns,
  accidentDiffers,
  accidentsAfter,
  writeAccidents,
} from '../fleet/accidents/write.ts';
import { accidents } from '../fleet/lists/accidents.ts';
import type { Source } from '../fleet/lists/record.ts';
import { type Kind, recordKinds } from '../fleet/lists/registry.ts';
import { timestamp } from '../platform/fields.ts';
import type { NewNotification } from '../webhooks/notifications/insert.ts';
import {
  ACCIDENT,
  EVENT,
  EVENT_LEVEL,
  type NotificationType,
  newsMs,
} from '../webhooks/notifications/types.ts';
import { type Keeper, keeperOf } from './keep.ts';
import type { Accepted, RecordOf, RowOf } from './schema.ts';

/** Whether somebody may be notified of a record: accidents are always news, at any age. */
const isNews = ({ record }: Accepted, now: number): boolean =>
  record.kind === 'accident' || (record.kind === 'safetyEvent' && record.startedAt >= now - newsMs);

export type Entry = Accepted & { row: { id: string; createdAt: number; [key: string]: unknown } };

/** Records of one kind, each for another thing. Those `heldBack` are too old. */
export type Batch = {
  kind: Kind;
  keeper: Keeper;
  entries: Entry[];
  type: NotificationType;
  ofType: number;
  notifications: NewNotification[];
  heldBack: NewNotification[];
};

export const accidentKeeper: Keeper = {
  table: accidents.table,
  columns: accidentColumns,
  kept: [], // as its SQL says
  parents: [],
  incoming: accidentsAfter,
  differs: accidentDiffers,
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

/** The accepted records of a call by kind, in the order they are written. */
export const batchesOf = (source: Source, accepted: Accepted[]): Batch[] =>
  kinds.flatMap(({ kind, toRow, keeper }) => {
    const all = accepted
      .filter(({ record }) => record.kind === kind)
      .map((item): Entry => ({ ...item, row: toRow(item.record, source) }));
    return byOccurrence(all).map((entries) => {
      const notificationsOf = (news: boolean) =>
        entries
          .filter((entry) => isNews(entry, source.now) === news)
          .flatMap((entry) => notificationOf(source, entry) ?? []);
      const [notifications, heldBack] = [notificationsOf(true), notificationsOf(false)];
      const type = kind === 'accident' ? ACCIDENT : EVENT;
      return { kind, keeper, entries, type, ofType: all.length, notifications, heldBack };
    });
  });

/** The first record for each thing, then the second: an accident may have three levels. */
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
  if (record.kind === 'safetyEvent')
    return record.withdrawn ? undefined : ofEvent(record, row as RowOf<'safetyEvent'>);
  if (record.kind === 'accident') return ofAccident(source, record, row as RowOf<'accident'>);
  return undefined;
}

/** A safety event's notification. The statement adds what the vehicle contributes. */
function ofEvent(
  { recipients }: RecordOf<'safetyEvent'>,
  row: RowOf<'safetyEvent'>,
): NewNotification {
  const { id, issuedOn, translatedIncidentTypes, eventRisk, vehicleId } = row;
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

/** The notification of a level. A false alarm is level 2 with `isAccurate` false. */
function ofAccident(
  { connectionId, tSP }: Source,
  { sourceUpdatedAt }: RecordOf<'accident'>,
  row: RowOf<'accident'>,
): NewNotification {
  const { id, vin, vehicleId, eventTime, location, dismissed } = row;
  const level = dismissed ? 2 : row.notificationLevel;
  return {
    eventId: id,
    level,
    type: ACCIDENT,
    accident: {
      notificationLevel: row.notificationLevel,
      dismissed,
      sourceUpdatedAt,
      vin,
      vehicleId,
    },
    data: {
      eventId: id,
      eventTime: timestamp(eventTime),
      vin,
      connection: connectionId,
      tSP,
      location: { latitude: location.latitude, longitude: location.longitude },
      notificationLevel: level,
      reportReady: row.reportReady && !dismissed,
      isAccurate: row.isAccurate && !dismissed,
    },
  };
}
