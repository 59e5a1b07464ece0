import { sql } from 'drizzle-orm';
import { type Database, statement } from '../../platform/db/database.ts';
import type { Caller } from '../../platform/db/guard.ts';
import { circuitAfter } from '../../webhooks/deliveries/policy.ts';
import { ailingWebhooks, failedOf, maxCounted } from '../session/attention.ts';

/** How many problems of each kind the overview names. */
const maxShown = 5;

/**
 * A connection that is not healthy. `lastEventAt` is when its newest safety event began; `refused` says that its provider
 * refuses the credential.
 */
export type ConnectionProblem = {
  id: string;
  name: string;
  tsp: string;
  healthStatus: number;
  refused: number;
  lastEventAt: number | null;
};

/**
 * A webhook that is paused, or has deliveries of the last seven days that failed for good. Counts stop at `maxCounted`.
 * `lastFailure` is what its receiver did last, as JSON.
 */
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

/** The account's connections that are not healthy: one event and one pull are read of each. */
export const selectConnectionProblems = (db: Database, { accountId }: Caller) =>
  statement<ConnectionProblem>(
    db,
    sql`
    select id, coalesce(name, tsp) as name, tsp, health_status as healthStatus,
      exists (select 1 from pulls where connection_id = connections.id and refused_at is not null) as refused,
      (select max(started_at) from safety_events where connection_id = connections.id) as lastEventAt
    from connections indexed by connections_with_problems
    where account_id = ${accountId} and health_status <> 1 order by created_at, id limit ${maxShown}`,
  );

/** The account's webhooks with problems, paused ones first. */
export const selectWebhookProblems = (db: Database, { accountId }: Caller, now: number) =>
  statement<WebhookProblem>(
    db,
    sql`
    select w.id, w.name, w.url, coalesce(h.failures, 0) as failures, coalesce(h.failures >= ${circuitAfter}, 0) as paused,
      h.open_until as openUntil, h.last_failure as lastFailure,
      (select count(*) from (select 1 from deliveries indexed by deliveries_due
        where webhook_id = w.id and status = 'pending' limit ${maxCounted})) as waiting,
      (select count(*) from (${failedOf(now)} limit ${maxCounted})) as failed
    from ${ailingWebhooks(sql`${accountId}`, now)} order by paused desc, w.created_at limit ${maxShown}`,
  );
