import { type SQL, sql } from 'drizzle-orm';
import { type Database, read, write } from '../../../platform/db/database.ts';
import { asCaller, type Caller } from '../../../platform/db/guard.ts';
import { type Filters, filtersOf } from '../../filters.ts';
import type { Attempt } from '../policy.ts';
import { windowOf } from '../receiver/store.ts';

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

type StoredReceiver = Omit<Receiver, 'lastFailure'> & { lastFailure: string | null };

/** The receivers of the account's webhooks, oldest first; or that of one webhook. */
export async function listReceivers(
  env: Env,
  caller: Caller,
  webhookId?: string,
): Promise<(Receiver & { filters?: Filters; allConnections?: true })[]> {
  const which = sql`w.account_id = ${caller.accountId} ${webhookId && sql`and w.id = ${webhookId}`}`;
  const more = sql`, w.filters, w.all_connections as "all"`;
  const rows = await asCaller(env, caller, (db) =>
    selectReceivers<{ filters: string | null; all: number }>(db, which, Date.now(), more),
  );
  return rows.map(({ filters, all, ...row }) => ({
    ...asReceiver(row),
    ...filtersOf(filters),
    ...(all === 1 && { allConnections: true }),
  }));
}

/** The receivers of the webhooks that `which` selects, oldest first, with more columns of `w`. */
export const selectReceivers = <More = unknown>(
  db: Database,
  which: SQL,
  now: number,
  more?: SQL,
) =>
  read<StoredReceiver & More>(db)`
    select w.id, w.url, coalesce(h.failures, 0) as failures,
      iif(h.open_until > ${now}, h.open_until, null) as openUntil,
      w.max_in_flight as maxInFlight, w.max_per_second as maxPerSecond, w.paused_at as pausedAt,
      ${windowOf(now)} as window, h.last_failure as lastFailure ${more}
    from webhooks w left join webhook_health h on h.webhook_id = w.id
    where ${which} order by w.created_at, w.id`;

export const asReceiver = <T extends StoredReceiver>({ lastFailure, ...row }: T) => ({
  ...row,
  lastFailure: JSON.parse(lastFailure ?? 'null') as Receiver['lastFailure'], // as it was recorded
});

export type AlertKind = 'paused' | 'failed' | 'working';

/** The statements that mark that people were notified of the webhooks with the `id` in a query. */
export const markNotified = (db: Database, kind: AlertKind, webhooks: SQL, now: number) => {
  const column = sql.identifier(`${kind}_alert_at`);
  return {
    marked: write(db)`
      insert into webhook_health (webhook_id, ${column}) select id, ${now} from (${webhooks}) where true
      on conflict (webhook_id) do update set ${column} = excluded.${column}`,
    counters:
      kind === 'failed'
        ? write(db)`
            update webhook_hours indexed by webhook_hours_newly_failed set noticed = failed
            where failed > noticed and ${now} = (
              select failed_alert_at from webhook_health h where h.webhook_id = webhook_hours.webhook_id)`
        : undefined,
  };
};
