import { type SQL, sql } from 'drizzle-orm';
import { type Database, int, read, write } from '../../../platform/db/database.ts';
import { burstSeconds, circuitAfter, firstWindow, widestWindow } from '../policy.ts';
import type { ReceiverState } from './next.ts';

/** SQL for a receiver's state in its health `h`, as JSON. Most receivers have always worked, and have no row. */
export const stateOf: SQL = sql`json_object(
  'failures', coalesce(h.failures, 0), 'openings', coalesce(h.openings, 0), 'openUntil', coalesce(h.open_until, 0),
  'window', coalesce(h.window, ${int(firstWindow)}), 'timerAt', h.timer_at, 'pausedSince', h.paused_since,
  'lastFailure', json(h.last_failure))`;

export const asState = (stored: string): ReceiverState => JSON.parse(stored); // as `stateOf` makes it

/** Stores a receiver's state if it is still as it was read, `before`. Changes a row, or none. */
export const writeState = (db: Database, webhookId: string, before: string, after: ReceiverState) =>
  write(db)`
    insert into webhook_health
      (webhook_id, failures, openings, open_until, window, timer_at, paused_since, last_failure)
    select w.id, ${after.failures}, ${after.openings}, ${after.openUntil}, ${after.window}, ${after.timerAt},
      ${after.pausedSince}, ${after.lastFailure && JSON.stringify(after.lastFailure)}
    from webhooks w left join webhook_health h on h.webhook_id = w.id
    where w.id = ${webhookId} and ${stateOf} = ${before}
    on conflict (webhook_id) do update set failures = excluded.failures, openings = excluded.openings,
      open_until = excluded.open_until, window = excluded.window, timer_at = excluded.timer_at,
      paused_since = excluded.paused_since, last_failure = excluded.last_failure`;

export const readState = (db: Database, webhookId: string) =>
  read<{ state: string }>(db)`
    select ${stateOf} as state from webhooks w left join webhook_health h on h.webhook_id = w.id
    where w.id = ${webhookId}`;

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
  write(db)`
    insert into webhook_health (webhook_id, next_call_at)
    select w.id,
      cast(max(${now}, coalesce(h.next_call_at, 0)) + changes() * 1000.0 / w.max_per_second + 0.999 as integer)
    from webhooks w left join webhook_health h on h.webhook_id = w.id
    where changes() > 0 and w.id = ${webhookId} and w.max_per_second is not null
    on conflict (webhook_id) do update set next_call_at = excluded.next_call_at`;

/** Lets a call through an open circuit at once. */
export const allowProbe = (db: Database, webhook: SQL, now: number) =>
  write(db)`update webhook_health set open_until = ${now} where webhook_id = ${webhook}`;

/** Forgets an account's wake-up messages, which are in another cell's queue. */
export const forgetTimers = (db: Database, accountId: string) =>
  write(db)`update webhook_health set timer_at = null
      where webhook_id in (select id from webhooks where account_id = ${accountId})`;
