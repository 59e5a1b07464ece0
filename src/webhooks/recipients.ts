import { type SQL, sql } from 'drizzle-orm';
import { groupKeysOfVehicle } from '../fleet/lists/group-keys.ts';
import type { Filters } from './filters.ts';
import {
  isNew,
  type NewNotification,
  type NotificationSource,
  subscribersOf,
} from './notifications/insert.ts';
import { isVehicleOf } from './notifications/pass.ts';
import type { NotificationType } from './notifications/types.ts';

/* Who would be notified: the rules of `notifications/insert.ts` and `notifications/pass.ts` for records that are not written. */

/** A new notification: its place, and its vehicle's connection and groups as they are compared, as JSON. */
export type News = { place: number; connectionId: string | null; groups: string | null };

/** SQL for those notifications that are new. */
export const newsAmong = (
  source: NotificationSource,
  type: NotificationType,
  notifications: NewNotification[],
): SQL => sql`
  select n.key as place, v.connection_id as connectionId, ${groupKeysOfVehicle} as groups
  from json_each(${JSON.stringify(notifications.map(({ data, ...key }) => key))}) n
  left join vehicles v on ${isVehicleOf(source, type)}
  where ${isNew(type)}`;

/** A webhook that subscribes; its filters and, among those of vehicles, the connections that it covers, as JSON. */
export type Subscriber = {
  id: string;
  name: string | null;
  filters: string | null;
  covered: string;
};

/** SQL for the webhooks that subscribe to a type of notifications of a connection. */
export const subscribers = (connectionId: string, type: NotificationType): SQL => sql`
  select w.webhook_id as id, f.name, f.filters, (
      select json_group_array(connection_id) from webhook_connections
      where webhook_id = w.webhook_id and connection_id in (select connection_id from vehicles)) as covered
  from (select webhook_id from webhook_connections where ${subscribersOf(connectionId, type)}) w
  cross join webhooks f on f.id = w.webhook_id order by w.webhook_id`;

/** Returns the webhooks that a new notification would go to, in order. */
export function recipientsAmong(all: Subscriber[]) {
  const webhooks = all.map(({ id, name, filters, covered }) => ({
    webhook: { id, name },
    filters: JSON.parse(filters ?? 'null') as StoredFilters | null, // as `stored` wrote it
    covered: new Set<string | null>(JSON.parse(covered)),
  }));
  return (notification: NewNotification, { connectionId, groups }: News) => {
    const ofVehicle: string[] | undefined = JSON.parse(groups ?? 'null') ?? undefined;
    return webhooks
      .filter(
        ({ filters, covered }) =>
          !filters ||
          lets(filters, notification, covered.has(connectionId) ? ofVehicle : undefined),
      )
      .map(({ webhook }) => webhook);
  };
}

type StoredFilters = Filters & { groupKeys?: string[] };

/** Whether filters let a notification through. The groups of an unknown vehicle are undefined. */
function lets(
  { minEventRisk, incidentTypes, accidentLevels, groupKeys }: StoredFilters,
  { data, level }: NewNotification,
  groups: string[] | undefined,
): boolean {
  const passes =
    'eventRisk' in data
      ? data.eventRisk >= (minEventRisk ?? 0) &&
        overlaps(incidentTypes, data.translatedIncidentTypes)
      : overlaps(accidentLevels, [level]);
  return passes && overlaps(groupKeys, groups);
}

const overlaps = (
  wanted: readonly unknown[] | undefined,
  has: readonly unknown[] | undefined,
): boolean => !wanted || !has || has.some((one) => wanted.includes(one));
