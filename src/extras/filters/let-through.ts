import { type SQL, sql } from 'drizzle-orm';
import { isCoveredBy } from '../../core/fleet/accidents/vehicle.ts';
import { groupKeysOfVehicle } from '../../core/fleet/lists/group-keys.ts';
import { overlap } from '../../core/webhooks/notifications/pass.ts';

/**
 * SQL for whether the filters of the webhook `w` let the notification `n` through: `letsThrough`, for fan-outs. It reads
 * the webhook's row; if it filters by groups, also the notification's vehicle and whether the webhook covers its
 * connection.
 */
export const isLetThrough: SQL = sql`exists (
  select 1 from webhooks f
  left join vehicles v on f.options->'$.filters.groupKeys' is not null and v.id = n.value->>'vehicleId'
    and ${isCoveredBy(sql`w.webhook_id`)}
  where f.id = w.webhook_id
    and coalesce(n.value->>'$.data.eventRisk' >= f.options->>'$.filters.minEventRisk', 1)
    and ${overlap(sql`f.options->'$.filters.incidentTypes'`, sql`n.value->'$.data.translatedIncidentTypes'`)}
    and ${overlap(sql`f.options->'$.filters.accidentLevels'`, sql`iif(n.value->>'level' > 0, json_array(n.value->>'level'), null)`)}
    and ${overlap(sql`f.options->'$.filters.groupKeys'`, groupKeysOfVehicle)})`;
