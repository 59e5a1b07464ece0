import { type SQL, sql } from 'drizzle-orm';
import { isCoveredBy } from '../../fleet/accidents/vehicle.ts';
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

/** The values of a payload that filters check. */
export const filterable = (data: EventNotification | AccidentNotification) =>
  'eventRisk' in data
    ? { eventRisk: data.eventRisk, translatedIncidentTypes: data.translatedIncidentTypes }
    : {};

/** SQL for whether the webhook `w` lets the notification `n` through. */
export const isLetThrough = (type: NotificationType): SQL => {
  const filter = (name: string) => sql.raw(`f.filters->'${name}'`);
  const isVehicle = sql`v.id = n.value->>'vehicleId'`;
  const ofType = {
    [EVENT]: () => ({
      isVehicle,
      passes: sql`n.value->>'$.data.eventRisk' >= coalesce(f.filters->>'minEventRisk', 0)
        and ${overlap(filter('incidentTypes'), sql`n.value->'$.data.translatedIncidentTypes'`)}`,
    }),
    [ACCIDENT]: () => ({
      isVehicle: sql`${isVehicle} and ${isCoveredBy(sql`w.webhook_id`)}`,
      passes: overlap(filter('accidentLevels'), sql`json_array(n.value->>'level')`),
    }),
  };
  const { isVehicle: isKnown, passes } = ofType[type]();
  return sql`iif(w.filtered, exists (
    select 1 from webhooks f left join vehicles v on ${filter('groupKeys')} is not null and ${isKnown}
    where f.id = w.webhook_id and ${overlap(filter('groupKeys'), groupKeysOfVehicle)} and ${passes}), 1)`;
};
