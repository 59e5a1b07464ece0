import { eq, type SQL, sql } from 'drizzle-orm';
import { groupKeysOfVehicle } from '../../core/fleet/lists/group-keys.ts';
import { type Database, jsonList } from '../../core/platform/db/database.ts';
import {
  type StoredOptions,
  webhookConnections,
  webhooks,
} from '../../core/platform/db/schema/webhooks.ts';
import { isNew, type NewNotification } from '../../core/webhooks/notifications/insert.ts';
import { filterable, letsThrough } from '../../core/webhooks/notifications/pass.ts';
import { EVENT } from '../../core/webhooks/notifications/types.ts';

/* Who would be notified of records that are not written. */

/** A new notification with its record's index, and its vehicle if that is known: groups are their keys, as JSON. */
export type News = {
  index: number;
  notification: NewNotification;
  vehicle: { connectionId: string; groups: string } | undefined;
};

/** A new event, by its place, and its vehicle. */
export type NewEvent = { place: number; connectionId: string; groups: string };

/** The statement that selects the events among notifications that are new. CTEs may replace tables. */
export const selectNews = (db: Database, notifications: NewNotification[], ctes?: SQL) =>
  // Set-based: any number of notifications by one parameter.
  db.all<NewEvent>(sql`
    ${ctes && sql`with ${ctes}`}
    select n.key as place, v.connection_id as connectionId, ${groupKeysOfVehicle} as groups
    from json_each(${JSON.stringify(notifications.map(({ data, ...key }) => key))}) n
    cross join vehicles v on v.id = n.value->>'vehicleId'
    where ${isNew(EVENT)}`);

/** A webhook that subscribes; `covered` are the connections among those of the news' vehicles, as JSON. */
type Subscriber = {
  id: string;
  name: string | null;
  options: StoredOptions;
  notificationTypes: number;
  covered: string;
};

/** The statement that reads the webhooks of a connection that the news might go to, in order. */
export const subscribers = (
  db: Database,
  { connectionId }: { connectionId: string },
  news: News[],
) => {
  const connectionIds = jsonList([
    ...new Set(news.flatMap(({ vehicle }) => vehicle?.connectionId ?? [])),
  ]);
  return db
    .select({
      id: webhooks.id,
      name: webhooks.name,
      options: webhooks.options,
      notificationTypes: webhookConnections.notificationTypes,
      covered: sql<string>`(
        select json_group_array(connection_id) from webhook_connections
        where webhook_id = ${webhooks.id} and connection_id in ${connectionIds})`.as('covered'),
    })
    .from(webhookConnections)
    .innerJoin(webhooks, eq(webhooks.id, webhookConnections.webhookId))
    .where(eq(webhookConnections.connectionId, connectionId))
    .orderBy(webhookConnections.webhookId);
};

/** Returns the webhooks that news would go to. */
export function recipientsAmong(all: Subscriber[]) {
  const subscribed = all.map(({ covered, ...webhook }) => ({
    ...webhook,
    covered: new Set<string>(JSON.parse(covered)),
  }));
  return ({ notification, vehicle }: News) => {
    const { type, level, data } = notification;
    const about = { level, ...filterable(data) };
    const groups: string[] | undefined = vehicle && JSON.parse(vehicle.groups);
    return subscribed
      .filter(({ options, notificationTypes, covered }) => {
        const isKnown = vehicle !== undefined && covered.has(vehicle.connectionId);
        const groupKeys = isKnown ? groups : undefined;
        return (notificationTypes & type) !== 0 && letsThrough(options, { ...about, groupKeys });
      })
      .map(({ id, name }) => ({ id, name }));
  };
}
