import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { needsAttention } from '../../core/fleet/lists/accident-filters.ts';
import type { Database, Results, Statement } from '../../core/platform/db/database.ts';
import type { Caller } from '../../core/platform/db/guard.ts';
import { firstIdAt } from '../../core/platform/db/ids.ts';
import { dayMs } from '../../core/platform/durations.ts';
import { circuitAfter } from '../../core/webhooks/deliveries/policy.ts';

/** What needs attention, as the menu counts it. `maxCounted` means that many or more. */
export type Attention = { accidents: number; connections: number; webhooks: number };

export const maxCounted = 100;

/** How many of the account's webhooks, oldest first, are checked for problems. */
export const maxWebhooks = 200;

const weekMs = 7 * dayMs;

/** SQL of what is known of a connection, by its id. */
export type ConnectionSql = {
  /** Whether its health needs no attention any more. */
  isEnded: (id: SQLWrapper) => SQL;
  /** Whether its provider refuses the credential. */
  isRefused: (id: SQLWrapper) => SQL;
  /** A text that changes when people steer it, or its provider refuses the credential; null before. */
  version: (id: SQLWrapper) => SQL;
};

/** If no extra knows anything. */
export const nothingKnown: ConnectionSql = {
  isEnded: () => sql`false`,
  isRefused: () => sql`false`,
  version: () => sql`null`,
};

/** Who is notified of accidents. `needsCover` is SQL for whether those of the connection `c` are expected. */
export type SelectNotified = (
  env: Env,
  db: Database,
  caller: Caller,
  needsCover: SQL | undefined,
) => {
  /** Some of the people and channels that are notified. */
  names: Statement<{ name: string }[]>;
  /** Some connections whose accidents nobody is notified of. */
  uncovered: Statement<{ id: string; name: string }[]>;
};
export type FoundNotified = Results<ReturnType<SelectNotified>>;

/** SQL for an account's counts, which read two rows for each connection and three for each webhook. */
export const attentionOf = (accountId: SQLWrapper, now: number, { isEnded }: ConnectionSql) => ({
  accidents: sql<number>`(select count(*) from (
    select 1 from accidents indexed by accidents_unattended where account_id = ${accountId}
      and ${needsAttention} limit ${maxCounted}))`,
  connections: sql<number>`(select count(*) from (
    select 1 from connections indexed by connections_with_problems where account_id = ${accountId}
      and health_status <> 1 and not ${isEnded(sql`connections.id`)} limit ${maxCounted}))`,
  webhooks: sql<number>`(select count(*) from (
    select 1 from ${ailingWebhooks(accountId, now)} limit ${maxCounted}))`,
});

/** SQL for the account's webhooks `w` with problems, with their health `h`: paused, or failed for good. */
export const ailingWebhooks = (accountId: SQLWrapper, now: number): SQL => sql`
  (select id, name, url, created_at from webhooks where account_id = ${accountId}
    order by created_at, id limit ${maxWebhooks}) w
  left join webhook_health h on h.webhook_id = w.id
  where h.failures >= ${circuitAfter} or exists ${failedOf(now)}`;

/** SQL for a webhook's failed deliveries: an index has them by id, and so by time. */
export const failedOf = (now: number): SQL => sql`(
  select 1 from deliveries indexed by deliveries_failed
  where webhook_id = w.id and status = 'failed' and id > ${firstIdAt(now - weekMs)})`;
