import { type SQL, sql } from 'drizzle-orm';

/** What a delivery is about, in the words of its notification; `vehicle` and `vin` are empty if it names none. */
export type About = { types: string[]; risk: number | null; vehicle: string; vin: string };

/** SQL for what the delivery `d` is about. An accident's notification names no vehicle, but its accident may. */
export const aboutOf: SQL = sql`(
  select json_object(
    'types', json(coalesce(n.data -> '$.translatedIncidentTypes', '[]')),
    'risk', n.data ->> '$.eventRisk',
    'vehicle', coalesce(n.data ->> '$.vehicleName',
      (select v.name from accidents a cross join vehicles v on v.id = a.vehicle_id where a.id = n.event_id), ''),
    'vin', coalesce(n.data ->> '$.vehicleVin', n.data ->> '$.vin', ''))
  from notifications n
  where n.event_id = d.event_id and n.level = d.level
    and not exists (select 1 from deletions where id = n.connection_id))`;
