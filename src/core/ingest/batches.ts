import type { Source } from '../fleet/lists/record.ts';
import { type Kind, recordKinds } from '../fleet/lists/registry.ts';
import { timestamp } from '../platform/fields.ts';
import type { NewNotification } from '../webhooks/notifications/insert.ts';
import { EVENT, EVENT_LEVEL, newsMs } from '../webhooks/notifications/types.ts';
import { type Keeper, keeperOf } from './keep.ts';
import type { Accepted, RecordOf, RowOf } from './schema.ts';

export type Entry = Accepted & { row: { id: string; createdAt: number; [key: string]: unknown } };

/** Records of one kind other than accidents, each for another thing. Those `heldBack` are too old. */
export type Batch = {
  kind: Kind;
  keeper: Keeper;
  entries: Entry[];
  notifications: NewNotification[];
  heldBack: NewNotification[];
};

const kinds = recordKinds
  .filter((resource) => resource.kind !== 'accident')
  .map((resource) => ({ ...resource, keeper: keeperOf(resource) }));

/** The accepted records of a call by kind, in the order they are written, without accidents. */
export const batchesOf = (source: Source, accepted: Accepted[]): Batch[] =>
  kinds.flatMap(({ kind, toRow, keeper }) => {
    const entries = accepted
      .filter(({ record }) => record.kind === kind)
      .map((item): Entry => ({ ...item, row: toRow(item.record, source) }));
    if (entries.length === 0) return [];
    const notificationsOf = (news: boolean) =>
      entries.filter((entry) => isNews(entry, source.now) === news).flatMap(notificationOf);
    return [
      {
        ...{ kind, keeper, entries },
        notifications: notificationsOf(true),
        heldBack: notificationsOf(false),
      },
    ];
  });

/** Whether somebody may be notified of a safety event. */
const isNews = ({ record }: Accepted, now: number): boolean =>
  record.kind === 'safetyEvent' && record.startedAt >= now - newsMs;

function notificationOf({ record, row }: Entry): NewNotification[] {
  if (record.kind !== 'safetyEvent' || record.withdrawn) return [];
  return [ofEvent(record, row as RowOf<'safetyEvent'>)]; // as its kind makes rows
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
