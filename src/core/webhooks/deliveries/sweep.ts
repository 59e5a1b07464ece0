import { and, lt, sql } from 'drizzle-orm';
import { config } from '../../platform/config.ts';
import { type Database, transaction } from '../../platform/db/database.ts';
import { ofActiveAccount } from '../../platform/db/guard.ts';
import { firstIdAt } from '../../platform/db/ids.ts';
import { deliveries, fanOuts } from '../../platform/db/schema/webhooks.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { type Budget, inSteps, newBudget } from '../../platform/jobs/budget.ts';
import { changeInChunks, rowsPerChunk } from '../../platform/jobs/chunks.ts';
import { fault } from '../../platform/log.ts';
import { send } from '../../platform/queue.ts';
import { deleteNotifications } from '../notifications/remove.ts';
import { countFailed } from './counts.ts';
import { allWebhooks, dueDeliveries, pendingWebhooks } from './due.ts';
import { circuitAfter, giveUpAfterMs } from './policy.ts';

const maxWebhooks = 5000;
const maxFanOuts = 100;

/** An accident not delivered for this long is logged, whatever the reason, for so many webhooks. */
const accidentLateMs = 5 * 60_000;
const maxLateLogged = 20;

/** How long a message about new work may be under way. */
const graceMs = 5_000;

/** How many were woken, and since when the oldest delivery has been due that nobody works for. */
type Swept = { woken: number; oldestDueAt: number | null };

/** Wakes webhooks whose first due delivery is unclaimed, and fan-outs that have stopped. */
export async function sweep(env: Env, now = Date.now()): Promise<Swept> {
  const db = openDatabase(env);
  const { heads, stopped } = await transaction(db, {
    heads: selectHeads(db, now),
    stopped: db
      .select({ id: fanOuts.id })
      .from(fanOuts)
      .where(
        and(lt(fanOuts.id, firstIdAt(now - graceMs)), ofActiveAccount(sql`${fanOuts.accountId}`)),
      )
      .limit(maxFanOuts),
  });
  const late = heads.flatMap(({ webhookId, late }) =>
    late ? [{ webhookId, deliveryId: late }] : [],
  );
  for (const one of late.slice(0, maxLateLogged))
    fault('error', 'An accident has not been delivered for 5 minutes', {
      ...one,
      webhooks: late.length,
    });
  const webhooks = heads.filter(({ waits }) => waits === 1);
  const oldest = Math.min(...webhooks.filter(({ limited }) => !limited).map(({ dueAt }) => dueAt));
  const woken = await send(env.DELIVERIES, [
    ...webhooks.map(({ accountId, webhookId }) => ({
      accountId,
      webhookId,
      worker: 1,
      swept: true,
    })),
    ...stopped.map(({ id }) => ({ fanOut: id, swept: true })),
  ]);
  return { woken, oldestDueAt: Number.isFinite(oldest) ? oldest : null };
}

/** A webhook's first due delivery; `limited` if for the calls a second. `late` is an accident's id. */
type Head = {
  webhookId: string;
  accountId: string;
  dueAt: number;
  waits: number;
  limited: number;
  late: string | null;
};

const selectHeads = (db: Database, now: number) => {
  const head = sql`json_array(claimed_until, next_attempt_at, account_id)`;
  const due = (which: 'accidents' | 'events') => dueDeliveries(sql`hooks.id`, now - graceMs, which);
  // Recursive CTEs, which name indexes.
  return db.all<Head>(sql`
    with ${pendingWebhooks},
    heads as (
      select id,
        coalesce(
          (select head from (select claimed_until, ${head} as head from ${due('accidents')} limit 1)
            where claimed_until <= ${now}),
          (select ${head} from ${due('events')} limit 1)) as head,
        (select d.id from deliveries d indexed by deliveries_due
          where d.webhook_id = hooks.id and d.status = 'pending' and d.priority = 0
            and d.id < ${firstIdAt(now - accidentLateMs)} limit 1) as late
      from hooks where id is not null),
    all_heads as (
      select id as webhookId, head->>1 as dueAt, head->>2 as accountId, late,
        coalesce(h.next_call_at > ${now - graceMs}, 0) as limited,
        head->>0 <= ${now}
          and not coalesce(h.failures >= ${circuitAfter} and h.open_until > ${now}, 0)
          and not exists (select 1 from webhooks w indexed by webhooks_paused
            where w.id = heads.id and w.paused_at is not null) as waits
      from heads left join webhook_health h on h.webhook_id = id)
    select * from all_heads where waits or late is not null
    order by waits desc limit ${maxWebhooks}`);
};

/** Fails what has been due for five days without an attempt. Returns how many deliveries. */
export function giveUp(env: Env, now = Date.now(), budget?: Budget): Promise<number> {
  // It has a recursive CTE, and names an index.
  const tooLate = sql`(
    with ${pendingWebhooks}
    select d.webhook_id, d.id from hooks cross join deliveries d indexed by deliveries_due
      on d.webhook_id = hooks.id and d.status = 'pending' and d.priority in (0, 1, 2, 3)
        and d.next_attempt_at <= ${now - giveUpAfterMs}
    where d.claimed_until <= ${now}
    limit ${rowsPerChunk})`;
  const db = openDatabase(env);
  const failed = db
    .update(deliveries)
    .set({ status: 'failed', finishedAt: now })
    .where(sql`(webhook_id, id) in ${tooLate}`);
  return changeInChunks(db, failed, budget, countFailed(db, tooLate, now));
}

const perChunk = 5000;

/** Deletes finished deliveries past retention, and their notifications. Returns how many. */
export async function prune(env: Env, now = Date.now(), budget = newBudget()): Promise<number> {
  const db = openDatabase(env);
  const before = firstIdAt(now - config(env).retentionMs);
  let deleted = 0;
  await inSteps(budget, async () => {
    // One seek per webhook that has rows, and then only old rows.
    const old = db.all<{ eventId: string; level: number }>(sql`
      with ${allWebhooks}
      delete from deliveries where (webhook_id, id) in (
        select d.webhook_id, d.id from all_hooks
        cross join deliveries d on d.webhook_id = all_hooks.id and d.id < ${before}
        where d.status <> 'pending' limit ${perChunk})
      returning event_id as eventId, level`);
    const gone = await transaction(db, old);
    deleted += gone.length;
    await transaction(db, deleteNotifications(db, gone));
    return gone.length === perChunk;
  });
  return deleted;
}
