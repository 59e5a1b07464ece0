import { eq, inArray, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { type Database, int } from '../../../platform/db/database.ts';
import { webhookHealth, webhooks } from '../../../platform/db/schema/webhooks.ts';
import { circuitAfter, firstWindow, widestWindow } from '../policy.ts';
import { burstSeconds, type ReceiverState } from './next.ts';

/** A webhook and its health. */
export const w = alias(webhooks, 'w');
export const h = alias(webhookHealth, 'h');

/** SQL for a receiver's state in its health `h`, as JSON. Most receivers have always worked, and have no row. */
export const stateOf = sql<string>`json_object(
  'failures', coalesce(h.failures, 0), 'openings', coalesce(h.openings, 0),
  'openUntil', coalesce(h.open_until, 0), 'window', coalesce(h.window, ${int(firstWindow)}),
  'timerAt', h.timer_at, 'pausedSince', h.paused_since, 'lastFailure', json(h.last_failure))`;

export const asState = (stored: string): ReceiverState => JSON.parse(stored); // as `stateOf` makes it

/** Stores a receiver's state if it is still as it was read, `before`. Changes a row, or none. */
export const writeState = (db: Database, webhookId: string, before: string, after: ReceiverState) =>
  // The builder's insert of a selection would have to name all columns.
  db.run(sql`
    insert into webhook_health
      (webhook_id, failures, openings, open_until, window, timer_at, paused_since, last_failure)
    select w.id, ${after.failures}, ${after.openings}, ${after.openUntil}, ${after.window},
      ${after.timerAt}, ${after.pausedSince},
      ${after.lastFailure && JSON.stringify(after.lastFailure)}
    from webhooks w left join webhook_health h on h.webhook_id = w.id
    where w.id = ${webhookId} and ${stateOf} = ${before}
    on conflict (webhook_id) do update set
      failures = excluded.failures, openings = excluded.openings,
      open_until = excluded.open_until, window = excluded.window, timer_at = excluded.timer_at,
      paused_since = excluded.paused_since, last_failure = excluded.last_failure`);

export const readState = (db: Database, webhookId: string) =>
  db
    .select({ state: stateOf })
    .from(w)
    .leftJoin(h, eq(h.webhookId, w.id))
    .where(eq(w.id, webhookId));

/** SQL for the calls that `w`, with the health `h`, may have in flight now; none while paused. */
export const windowOf = (now: number): SQL => sql`
  case when w.paused_at is not null then 0
    when h.failures >= ${circuitAfter} then iif(h.open_until > ${now}, 0, 1)
    else min(coalesce(h.window, ${firstWindow}), ${ceilingOf}) end`;

/** SQL for the most calls that `w` may ever have in flight. */
export const ceilingOf: SQL = sql`coalesce(w.max_in_flight, ${widestWindow})`;

/** SQL for how many of `count` calls a limit per second leaves; all if there is none. */
export const callsLeft = (now: number, count: number): SQL => sql`
  case when w.max_per_second is null then ${count}
    else min(${count}, max(0, cast(max(1, w.max_per_second * ${burstSeconds})
      - max(0, coalesce(h.next_call_at, 0) - ${now}) * w.max_per_second / 1000.0 as integer))) end`;

/** SQL for a value of a webhook's receiver; 0 if the webhook is deleted or stopped. */
export const ofReceiver = (webhookId: string, value: SQL): SQL => sql`
  coalesce((select ${value} from webhooks w
    left join webhook_health h on h.webhook_id = w.id
    where w.id = ${webhookId} and w.stopped_at is null), 0)`;

/** Uses up as many calls of a limit per second as the statement before has claimed. */
export const useUpCalls = (db: Database, webhookId: string, now: number) =>
  // Part of the claim, raw for speed.
  db.run(sql`
    insert into webhook_health (webhook_id, next_call_at)
    select w.id,
      cast(max(${now}, coalesce(h.next_call_at, 0))
        + changes() * 1000.0 / w.max_per_second + 0.999 as integer)
    from webhooks w left join webhook_health h on h.webhook_id = w.id
    where changes() > 0 and w.id = ${webhookId} and w.max_per_second is not null
    on conflict (webhook_id) do update set next_call_at = excluded.next_call_at`);

/** Lets a call through an open circuit at once. */
export const allowProbe = (db: Database, webhook: SQL, now: number) =>
  db.update(webhookHealth).set({ openUntil: now }).where(eq(webhookHealth.webhookId, webhook));

/** Forgets an account's wake-up messages, which are in another cell's queue. */
export function forgetTimers(db: Database, accountId: string) {
  const own = db.select({ id: w.id }).from(w).where(eq(w.accountId, accountId));
  return db
    .update(webhookHealth)
    .set({ timerAt: null })
    .where(inArray(webhookHealth.webhookId, own));
}

export type AlertKind = 'paused' | 'failed' | 'working';

/** The statements that mark that people were notified of the webhooks with the `id` in a query. */
export const markNotified = (db: Database, kind: AlertKind, ids: SQL, now: number) => {
  const column = sql.identifier(`${kind}_alert_at`);
  return {
    // The builder's insert of a selection would have to name all columns.
    marked: db.run(sql`
      insert into webhook_health (webhook_id, ${column})
      select id, ${now} from ${ids} where true
      on conflict (webhook_id) do update set ${column} = excluded.${column}`),
    counters:
      kind === 'failed'
        ? // It names an index.
          db.run(sql`
            update webhook_hours indexed by webhook_hours_newly_failed set noticed = failed
            where failed > noticed and ${now} = (
              select failed_alert_at from webhook_health h
              where h.webhook_id = webhook_hours.webhook_id)`)
        : undefined,
  };
};
