import { sql } from 'drizzle-orm';
import { alertedOf } from '../../fleet/accidents/alerted.ts';
import { isCoveredBy } from '../../fleet/accidents/vehicle.ts';
import { groupKeysOfVehicle } from '../../fleet/lists/group-keys.ts';
import { config } from '../../platform/config.ts';
import { type Database, read } from '../../platform/db/database.ts';
import type { Caller } from '../../platform/db/guard.ts';
import { overlap } from './pass.ts';
import { ACCIDENT, EVENT } from './types.ts';

/** A webhook without delivery of an event or accident, and why, as far as that is known. */
export type Unnotified = { id: string; name: string | null; url: string; why: string };

/** How many of the account's webhooks, oldest first, are looked at. */
const maxWebhooks = 50;

/**
 * Why the account's webhooks have no delivery of an event or accident, if they have none. What they subscribe to and
 * filter is as it is now. Reads two rows for each of 50 webhooks.
 */
export const selectUnnotified = (env: Env, db: Database, { accountId }: Caller, id: string) =>
  read<Unnotified>(db)`
    select w.id, w.name, w.url, case
      when w.created_at > s.at then 'it was added later'
      when s.at < ${Date.now() - config(env).retentionMs} then 'deliveries of that time are no longer kept'
      when wc.webhook_id is null then 'it does not cover this connection'
      when not wc.notification_types & s.type then 'it does not receive notifications of this type'
      when not (coalesce(s.risk, 5) >= coalesce(w.filters->>'minEventRisk', 0)
        and ${overlap(sql`w.filters->'incidentTypes'`, sql`s.types`)}
        and ${overlap(sql`w.filters->'accidentLevels'`, sql`s.levels`)}
        and ${overlap(sql`w.filters->'groupKeys'`, groupKeysOfVehicle)}) then 'its filters leave this out'
      when s.withdrawn then 'the provider has withdrawn the event'
      else 'this came in as history, or the webhook was changed since' end as why
    from (
      select ${EVENT} as type, connection_id, vehicle_id, created_at as at, event_risk as risk,
        translated_incident_types as types, null as levels, withdrawn
      from safety_events where id = ${id} and account_id = ${accountId}
      union all
      select ${ACCIDENT}, connection_id, vehicle_id, created_at, null, null,
        (select json_group_array(value->>'notificationLevel') from json_each(levels)), null
      from accidents where id = ${id} and account_id = ${accountId}) s
    cross join (
      select * from webhooks where account_id = ${accountId} order by created_at, id limit ${maxWebhooks}) w
    left join webhook_connections wc on wc.webhook_id = w.id and wc.connection_id = s.connection_id
    left join vehicles v on v.id = s.vehicle_id and ${isCoveredBy(sql`w.id`)}`;

/** A person or channel that was notified of an accident, and when; `at` is null if that was before it was recorded. */
export type Alerted = { name: string; isChannel: number; at: number | null; isWaiting: number };

/** The people and channels that were notified of an accident, as far as they still exist. */
export const selectAlerted = (db: Database, { accountId }: Caller, id: string) =>
  read<Alerted>(db)`
    select coalesce(h.name, u.email) as name, h.id is not null as isChannel, abs(m.at) as at, exists (
      select 1 from alert_messages where account_id = ${accountId} and recipient_id = m.id and kind = 'record'
        and instr(items, ${id})) as isWaiting
    from (${alertedOf(sql`(select alerted from accidents where id = ${id} and account_id = ${accountId})`)}) m
    left join alert_channels h on h.id = m.id left join portal_users u on u.id = m.id
    where coalesce(h.name, u.email) is not null order by m.at, name`;
