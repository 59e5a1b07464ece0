import { type SQL, sql } from 'drizzle-orm';
import { vehicleWithVin } from '../../fleet/accidents/notified.ts';
import type { AccidentNotification, EventNotification } from './payloads.ts';

/* Which notifications pass the filters of webhooks, as SQL. */

/**
 * SQL for whether two lists overlap. A missing filter matches everything, and so does an unknown value: an accident of
 * an unknown vehicle matches every group.
 */
export const overlap = (wanted: SQL, has: SQL): SQL => sql`(${wanted} is null or ${has} is null or exists (
  select 1 from json_each(${has}) h join json_each(${wanted}) o on o.value = h.value))`;

/** SQL for whether filters let something through; an event has level 0, and the levels of an accident have no risk. */
export const lets = (
  filters: SQL,
  { level, risk, types, groups }: { level: SQL; risk: SQL; types: SQL; groups: SQL },
): SQL => sql`
  iif(${level} = 0,
    ${risk} >= coalesce(${filters}->>'minEventRisk', 0) and ${overlap(sql`${filters}->'incidentTypes'`, types)},
    ${overlap(sql`${filters}->'accidentLevels'`, sql`json_array(${level})`)})
  and ${overlap(sql`${filters}->'vehicleGroups'`, groups)}`;

/** The values of a payload that filters check. */
export const filterable = (data: EventNotification | AccidentNotification) =>
  'eventRisk' in data
    ? { eventRisk: data.eventRisk, translatedIncidentTypes: data.translatedIncidentTypes }
    : { vin: data.vin };

/**
 * SQL for whether `w`, which subscribes to this connection, lets the notification `n` through. Reads only webhooks with
 * filters. Runs before accidents are written, so it looks up their vehicle as it will be then.
 */
export const isLetThrough = (source: { accountId: string; connectionId: string }): SQL => {
  const known = sql`
    select vehicle_id from accidents where id = n.value->>'eventId' and vin = n.value->>'$.data.vin'`;
  const byVin = vehicleWithVin({
    accountId: sql`${source.accountId}`,
    connectionId: sql`${source.connectionId}`,
    vin: sql`n.value->>'$.data.vin'`,
  });
  return sql`iif(w.filtered, exists (
    select 1 from webhooks f left join vehicles v on f.filters->'vehicleGroups' is not null
      and v.id = coalesce(n.value->>'vehicleId', (${known}), ${byVin})
    where f.id = w.webhook_id and ${lets(sql`f.filters`, {
      level: sql`n.value->>'level'`,
      risk: sql`n.value->>'$.data.eventRisk'`,
      types: sql`n.value->'$.data.translatedIncidentTypes'`,
      groups: sql`v.groups`,
    })}), 1)`;
};
