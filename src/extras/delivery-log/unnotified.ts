import { sql } from 'drizzle-orm';
import { isCoveredBy } from '../../core/fleet/accidents/vehicle.ts';
import { groupKeysOfVehicle } from '../../core/fleet/lists/group-keys.ts';
import { config } from '../../core/platform/config.ts';
import type { Database } from '../../core/platform/db/database.ts';
import type { Caller } from '../../core/platform/db/guard.ts';
import { letsThrough } from '../../core/webhooks/notifications/pass.ts';
import {
  ACCIDENT,
  EVENT,
  EVENT_LEVEL,
  type NotificationType,
} from '../../core/webhooks/notifications/types.ts';

/** How many of the account's webhooks, oldest first, are looked at. */
const maxWebhooks = 50;

/** A webhook without delivery of an event or accident, and why, as far as that is known. */
export type Unnotified = Pick<Candidate, 'id' | 'name' | 'url'> & { why: string };

/** A webhook, and what may be why it has no delivery of an event or accident. Lists are JSON. */
type Candidate = {
  id: string;
  name: string | null;
  url: string;
  addedAt: number;
  options: string;
  /** What it gets of the connection; null if it does not cover it. */
  notificationTypes: number | null;
  type: NotificationType;
  at: number;
  levels: string;
  eventRisk: number | null;
  types: string | null;
  withdrawn: number | null;
  groupKeys: string | null;
};

/**
 * The statement that reads the account's webhooks with what may be why they have no delivery of an event or accident.
 * What they subscribe to and filter is as it is now. Reads two rows for each of 50 webhooks.
 */
export const selectCandidates = (db: Database, { accountId }: Caller, id: string) =>
  // Raw: it is in one of two tables.
  db.all<Candidate>(sql`
    select w.id, w.name, w.url, w.created_at as addedAt, w.options,
      wc.notification_types as notificationTypes, s.type, s.at, s.levels, s.risk as eventRisk,
      s.types, s.withdrawn, ${groupKeysOfVehicle} as groupKeys
    from (
      select ${EVENT} as type, connection_id, vehicle_id, created_at as at, event_risk as risk,
        translated_incident_types as types, ${JSON.stringify([EVENT_LEVEL])} as levels, withdrawn
      from safety_events where id = ${id} and account_id = ${accountId}
      union all
      select ${ACCIDENT}, connection_id, vehicle_id, created_at, null, null,
        (select json_group_array(value->>'notificationLevel') from json_each(levels)), null
      from accidents where id = ${id} and account_id = ${accountId}) s
    cross join (
      select * from webhooks where account_id = ${accountId} order by created_at, id limit ${maxWebhooks}) w
    left join webhook_connections wc on wc.webhook_id = w.id and wc.connection_id = s.connection_id
    left join vehicles v on v.id = s.vehicle_id and ${isCoveredBy(sql`w.id`)}`);

/** Why a webhook has no delivery, as far as that is known. */
export function whyUnnotified(env: Env, of: Candidate, now: number): string {
  if (of.addedAt > of.at) return 'it was added later';
  if (of.at < now - config(env).retentionMs) return 'deliveries of that time are no longer kept';
  if (of.notificationTypes === null) return 'it does not cover this connection';
  if (!(of.notificationTypes & of.type)) return 'it does not receive notifications of this type';
  if (!isLetThrough(of)) return 'its filters leave this out';
  if (of.withdrawn) return 'the provider has withdrawn the event';
  return 'this came in as history, or the webhook was changed since';
}

const isLetThrough = ({ options, levels, eventRisk, types, groupKeys }: Candidate): boolean =>
  listIn<number>(levels).some((level) =>
    letsThrough(JSON.parse(options), {
      level,
      eventRisk: eventRisk ?? undefined,
      translatedIncidentTypes: types === null ? undefined : listIn<string>(types),
      groupKeys: groupKeys === null ? undefined : listIn<string>(groupKeys),
    }),
  );

const listIn = <T>(json: string): T[] => JSON.parse(json); // as its column holds it
