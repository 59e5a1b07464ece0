import { type SQL, sql } from 'drizzle-orm';
import { type Database, write } from '../../../platform/db/database.ts';
import { burstSeconds, circuitAfter, firstWindow, widestWindow } from '../policy.ts';

/** SQL for the calls that `w`, with the health `h`, may have in flight; none while paused. */
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
    insert into webhook_health (webhook_id, failures, openings, open_until, next_call_at)
    select w.id, 0, 0, 0,
      cast(max(${now}, coalesce(h.next_call_at, 0)) + changes() * 1000.0 / w.max_per_second + 0.999 as integer)
    from webhooks w left join webhook_health h on h.webhook_id = w.id
    where changes() > 0 and w.id = ${webhookId} and w.max_per_second is not null
    on conflict (webhook_id) do update set next_call_at = excluded.next_call_at`;
