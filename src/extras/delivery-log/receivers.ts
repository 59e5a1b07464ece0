import { and, eq, sql } from 'drizzle-orm';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import type { StoredOptions } from '../../core/platform/db/schema/webhooks.ts';
import type { Attempt } from '../../core/webhooks/deliveries/policy.ts';
import { h, w, windowOf } from '../../core/webhooks/deliveries/receiver/store.ts';

/** The state of a webhook's receiver and its limits. Times are milliseconds since 1970. */
export type Receiver = {
  id: string;
  url: string;
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
  /** Null if unknown. */
  lastFailure: Pick<Attempt, 'result' | 'status' | 'reason'> | null;
};

/** The receivers of the account's webhooks, oldest first; or that of one webhook. */
export async function listReceivers(
  env: Env,
  caller: Caller,
  webhookId?: string,
): Promise<(Receiver & { options: StoredOptions; allConnections?: true })[]> {
  const which = and(
    eq(w.accountId, caller.accountId),
    webhookId === undefined ? undefined : eq(w.id, webhookId),
  );
  const rows = await asCaller(env, caller, (db) =>
    db
      .select({
        ...receiverColumns(Date.now()),
        options: w.options,
        allConnections: w.allConnections,
      })
      .from(w)
      .leftJoin(h, eq(h.webhookId, w.id))
      .where(which)
      .orderBy(w.createdAt, w.id),
  );
  return rows.map(({ allConnections, ...receiver }) => ({
    ...receiver,
    ...(allConnections && { allConnections }),
  }));
}

const asFailure = (recorded: string): Receiver['lastFailure'] => JSON.parse(recorded);

/** The columns of a receiver. */
export const receiverColumns = (now: number) => ({
  id: w.id,
  url: w.url,
  failures: sql<number>`coalesce(${h.failures}, 0)`.as('failures'),
  openUntil: sql<number | null>`iif(${h.openUntil} > ${now}, ${h.openUntil}, null)`.as(
    'open_until',
  ),
  maxInFlight: w.maxInFlight,
  maxPerSecond: w.maxPerSecond,
  pausedAt: w.pausedAt,
  window: sql<number>`${windowOf(now)}`.as('window'),
  lastFailure: sql`${h.lastFailure}`.mapWith(asFailure).as('last_failure'),
});
