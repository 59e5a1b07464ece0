import { type SQL, sql } from 'drizzle-orm';
import { isCoveredBy, vehicleIdAfter } from '../../fleet/accidents/vehicle.ts';
import { groupKeysOfVehicle } from '../../fleet/lists/group-keys.ts';
import type { AccidentNotification, EventNotification } from './payloads.ts';
import { ACCIDENT, EVENT, type NotificationType } from './types.ts';

/* Which notifications pass the filters of webhooks, as SQL. */

/** SQL for whether two lists overlap. An unknown value and a missing filter match everything. */
export const overlap = (
  wanted: SQL,
  has: SQL,
): SQL => sql`(${wanted} is null or ${has} is null or exists (
  select 1 from json_each(${has}) h join json_each(${wanted}) o on o.value = h.value))`;

/** Whose vehicles an accident can be about. */
export const ownerOf = ({
  accountId,
  connectionId,
}: {
  accountId: string;
  connectionId: string;
}) => ({
  accountId: sql`${accountId}`,
  connectionId: sql`${connectionId}`,
});

/** The values of a payload that filters check. */
export const filterable = (data: EventNotification | AccidentNotification) =>
  'eventRisk' in data
    ? { eventRisk: data.eventRisk, translatedIncidentTypes: data.translatedIncidentTypes }
    : {};

/** SQL for whether the vehicle `v` is that of the notification `n`: an accident's is looked up. */
export const isVehicleOf = (
  source: { accountId: string; connectionId: string },
  type: NotificationType,
): SQL =>
  type === EVENT
    ? sql`v.id = n.value->>'vehicleId'`
    : sql`v.id = (select ${vehicleIdAfter(sql`n.value->'accident'`, ownerOf(source))}
        from (select 1) left join accidents a on a.id = n.value->>'eventId')`;

/** SQL for whether the webhook `w` lets the notification `n` through. */
export const isLetThrough = (
  source: { accountId: string; connectionId: string },
  type: NotificationType,
): SQL => {
  const filter = (name: string) => sql.raw(`f.filters->'${name}'`);
  const ofType = {
    [EVENT]: () => ({
      isVehicle: isVehicleOf(source, EVENT),
      passes: sql`n.value->>'$.data.eventRisk' >= coalesce(f.filters->>'minEventRisk', 0)
        and ${overlap(filter('incidentTypes'), sql`n.value->'$.data.translatedIncidentTypes'`)}`,
    }),
    [ACCIDENT]: () => ({
      isVehicle: sql`${isVehicleOf(source, ACCIDENT)} and ${isCoveredBy(sql`w.webhook_id`)}`,
      passes: overlap(filter('accidentLevels'), sql`json_array(n.value->>'level')`),
    }),
  };
  const { isVehicle, passes } = ofType[type]();
  return sql`iif(w.filtered, exists (
    select 1 from webhooks f left join vehicles v on ${filter('groupKeys')} is not null and ${isVehicle}
    where f.id = w.webhook_id and ${overlap(filter('groupKeys'), groupKeysOfVehicle)} and ${passes}), 1)`;
};
