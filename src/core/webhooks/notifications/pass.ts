import { type SQL, sql } from 'drizzle-orm';
import { isCoveredBy } from '../../fleet/accidents/vehicle.ts';
import { groupKeysOfVehicle } from '../../fleet/lists/group-keys.ts';
import type { AccidentNotification, EventNotification } from './payloads.ts';

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

/**
 * SQL for whether the webhook `w` lets the notification `n` through: `letsThrough` of `filters.ts`, for the thousands
 * of webhooks and notifications of a fan-out. It reads nothing for a webhook without filters, otherwise its row; if it
 * filters by groups, also the notification's vehicle and whether it covers that one's connection.
 */
export const isLetThrough: SQL = sql`iif(w.filtered, exists (
  select 1 from webhooks f
  left join vehicles v on f.filters->'groupKeys' is not null and v.id = n.value->>'vehicleId'
    and ${isCoveredBy(sql`w.webhook_id`)}
  where f.id = w.webhook_id
    and coalesce(n.value->>'$.data.eventRisk' >= f.filters->>'minEventRisk', 1)
    and ${overlap(sql`f.filters->'incidentTypes'`, sql`n.value->'$.data.translatedIncidentTypes'`)}
    and ${overlap(sql`f.filters->'accidentLevels'`, sql`iif(n.value->>'level' > 0, json_array(n.value->>'level'), null)`)}
    and ${overlap(sql`f.filters->'groupKeys'`, groupKeysOfVehicle)}), 1)`;
