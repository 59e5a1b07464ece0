import { and, desc, eq, inArray, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { needsAttention } from '../../core/fleet/lists/accident-filters.ts';
import type { Database } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { hasId } from '../../core/platform/db/has-id.ts';
import { connections } from '../../core/platform/db/schema/accounts.ts';
import { safetyEvents } from '../../core/platform/db/schema/fleet.ts';
import { circuitAfter } from '../../core/webhooks/deliveries/policy.ts';
import { declared } from '../../extras.ts';
import type { Notified } from '../../ui/added.ts';
import {
  ailingWebhooks,
  type ConnectionSql,
  failedOf,
  maxCounted,
} from '../../ui/read/attention.ts';

/** All data of the overview itself in one round trip. */
export async function readOverview(
  env: Env,
  caller: Caller,
  known: ConnectionSql,
  notified?: Notified,
) {
  const now = Date.now();
  const select = (db: Database) => ({
    setup: selectSetup(db, caller),
    problems: {
      connections: selectConnectionProblems(db, caller, known),
      webhooks: selectWebhookProblems(db, caller, now),
    },
    accidents: selectUnattended(db, caller),
    arrivals: selectLatestEvents(db, caller),
    notified: notified?.select(env, db, caller, and(...declared('needsCover'))),
  });
  const found = await asCaller(env, caller, select);
  const [setup = { connection: null, sent: 0, webhook: 0, token: 0 }] = found.setup;
  return { ...found, setup };
}

/** How far an account is set up; `connection` is the name of its first one. */
export type Setup = {
  connection: string | null;
  sent: number;
  webhook: number;
  token: number;
};

/** One record of each kind is looked for, connection by connection. */
const selectSetup = (db: Database, { accountId }: Caller) =>
  // The builder knows no `select` without a table.
  db.all<Setup>(sql`
    select
      (select coalesce(name, tsp) from connections where account_id = ${accountId} order by created_at, id limit 1)
        as connection,
      exists (
        select 1 from connections c where account_id = ${accountId} and (
          exists (select 1 from vehicles where connection_id = c.id)
          or exists (select 1 from safety_events where ${hasId(sql`connection_id`, sql`c.id`)})
          or exists (select 1 from accidents where connection_id = c.id)
          or exists (select 1 from drivers where connection_id = c.id))) as sent,
      exists (select 1 from webhooks where account_id = ${accountId}) as webhook,
      exists (
        select 1 from tokens indexed by tokens_active
        where account_id = ${accountId} and scope = 'api' and revoked_at is null) as token`);

const maxShown = 5;

/** A connection that is not healthy. `refused`: its provider refuses the credential. */
export type ConnectionProblem = {
  id: string;
  name: string;
  tsp: string;
  healthStatus: number;
  refused: number;
  lastEventAt: number | null;
};

/** A webhook that is paused or has failed deliveries. `lastFailure` is JSON; counts stop at `maxCounted`. */
export type WebhookProblem = {
  id: string;
  name: string | null;
  url: string;
  failures: number;
  paused: number;
  openUntil: number | null;
  lastFailure: string | null;
  waiting: number;
  failed: number;
};

/** The account's connections that are not healthy: one event and one pull are read for each. */
const selectConnectionProblems = (
  db: Database,
  { accountId }: Caller,
  { isEnded, isRefused }: ConnectionSql,
) =>
  // The builder knows no `indexed by`.
  db.all<ConnectionProblem>(sql`
    select id, coalesce(name, tsp) as name, tsp, health_status as healthStatus,
      ${isRefused(sql`connections.id`)} as refused,
      (select max(started_at) from safety_events
        where ${hasId(sql`connection_id`, sql`connections.id`)}) as lastEventAt
    from connections indexed by connections_with_problems
    where account_id = ${accountId} and health_status <> 1
      and not ${isEnded(sql`connections.id`)}
    order by created_at, id limit ${maxShown}`);

const selectWebhookProblems = (db: Database, { accountId }: Caller, now: number) =>
  // The builder knows no `indexed by`.
  db.all<WebhookProblem>(sql`
    select w.id, w.name, w.url, coalesce(h.failures, 0) as failures,
      coalesce(h.failures >= ${circuitAfter}, 0) as paused,
      h.open_until as openUntil, h.last_failure as lastFailure,
      (select count(*) from (select 1 from deliveries indexed by deliveries_due
        where webhook_id = w.id and status = 'pending' limit ${maxCounted})) as waiting,
      (select count(*) from (select 1 from ${failedOf(now)} limit ${maxCounted})) as failed
    from ${ailingWebhooks(sql`${accountId}`, now)}
    order by paused desc, w.created_at limit ${maxShown}`);

const latestShown = { accidents: 5, arrivals: 6 };

/** How many connections, oldest first, are read for the latest events. */
const maxConnections = 100;

export type UnattendedAccident = {
  id: string;
  vin: string;
  vehicleName: string | null;
  eventTime: number;
  notificationLevel: number;
  tsp: string;
  address: string | null;
};

/** The newest accidents that need attention. */
const selectUnattended = (db: Database, { accountId }: Caller) =>
  // The builder knows no `indexed by`.
  db.all<UnattendedAccident>(sql`
    select a.id, a.vin, v.name as vehicleName, a.event_time as eventTime,
      a.notification_level as notificationLevel, a.tsp, a.location->>'address' as address
    from accidents a indexed by accidents_unattended left join vehicles v on v.id = a.vehicle_id
    where a.account_id = ${accountId} and ${needsAttention}
    order by a.event_time desc, a.id desc limit ${latestShown.accidents}`);

const e = alias(safetyEvents, 'e');

const columns = {
  id: e.id,
  risk: e.eventRisk,
  withdrawn: e.withdrawn,
  /** Incident types as JSON. */
  types: e.translatedIncidentTypes,
  vehicleName: e.vehicleName,
  tsp: e.tSP,
  startedAt: e.startedAt,
  address: sql<string | null>`${e.location}->>'address'`.as('address'),
};

/** The newest events: six are read of each connection. */
function selectLatestEvents(db: Database, { accountId }: Caller) {
  const first = db
    .select({ id: connections.id })
    .from(connections)
    .where(eq(connections.accountId, accountId))
    .orderBy(connections.createdAt, connections.id)
    .limit(maxConnections)
    .as('first');
  const newest = db
    .select({ id: safetyEvents.id })
    .from(safetyEvents)
    .where(hasId(sql`${safetyEvents.connectionId}`, sql`${first.id}`))
    .orderBy(desc(safetyEvents.startedAt), desc(safetyEvents.id))
    .limit(latestShown.arrivals);
  return db
    .select(columns)
    .from(first)
    .crossJoin(e)
    .where(inArray(e.id, newest))
    .orderBy(desc(e.startedAt), desc(e.id))
    .limit(latestShown.arrivals);
}
