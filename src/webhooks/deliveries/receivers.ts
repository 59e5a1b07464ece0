import { type SQL, sql } from 'drizzle-orm';
import { type Database, statement } from '../../platform/db/database.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';
import { type Filters, filtersOf } from '../filters.ts';
import { windowOf } from './claim.ts';
import type { Attempt } from './record.ts';

/** The state of a webhook's receiver and its limits. Times are milliseconds since 1970. */
export type Receiver = {
  id: string;
  failures: number;
  /** Until when its circuit is open; null if it is not. */
  openUntil: number | null;
  /** The operator's limits: calls in flight, and calls a second; null for the service's own. */
  maxInFlight: number | null;
  maxPerSecond: number | null;
  /** When its account paused the webhook; null if it is not paused. */
  pausedAt: number | null;
  /** How many calls may be in flight now; 0 while its circuit is open, or the webhook paused. */
  window: number;
};

/** With the last failure; null if unknown. */
export type AilingReceiver = Receiver & { lastFailure: Pick<Attempt, 'result' | 'status'> | null };

/** The receivers of the account's webhooks with their urls, oldest first; or that of one webhook. */
export async function listReceivers(
  env: Env,
  caller: Caller,
  webhookId?: string,
): Promise<(Receiver & { url: string; filters?: Filters })[]> {
  const [rows] = await asCaller(env, caller, (db) => [
    statement<Receiver & { url: string; filters: string | null }>(db)`
        select w.id, w.url, w.filters, ${stateAt(Date.now())}
        where w.account_id = ${caller.accountId} ${webhookId === undefined ? sql.empty() : sql`and w.id = ${webhookId}`}
        order by w.created_at, w.id`,
  ]);
  return rows.map(({ filters, ...row }) => ({ ...row, ...filtersOf(filters) }));
}

/** The receivers of the webhooks that `which` selects, for use in a batch. */
export const selectReceivers = (db: Database, which: SQL, now: number) =>
  statement<Receiver & { lastFailure: string | null }>(db)`
    select w.id, h.last_failure as lastFailure, ${stateAt(now)} where ${which}`;

export const asReceiver = (row: Receiver & { lastFailure: string | null }): AilingReceiver => ({
  ...row,
  lastFailure: row.lastFailure === null ? null : JSON.parse(row.lastFailure),
});

/** SQL for the columns of a receiver except its webhook's, and their tables. */
const stateAt = (now: number): SQL => sql`
  coalesce(h.failures, 0) as failures, iif(h.open_until > ${now}, h.open_until, null) as openUntil,
  w.max_in_flight as maxInFlight, w.max_per_second as maxPerSecond, w.paused_at as pausedAt,
  ${windowOf(now)} as window
  from webhooks w left join webhook_health h on h.webhook_id = w.id`;
