import { type SQL, sql } from 'drizzle-orm';
import { openDatabase, statement, transaction } from '../../platform/db/database.ts';
import { firstIdAt } from '../../platform/db/ids.ts';
import { andNotAway } from '../../platform/db/moving.ts';
import { dueDeliveries } from './claim.ts';
import { circuitAfter } from './policy.ts';
import { send, wakeOf } from './queue.ts';

const maxWebhooks = 5000;
const maxFanOuts = 100;

/** A message about new work is on its way for as long as this. */
const graceMs = 5_000;

/** `hooks`: each webhook that has pending deliveries, by one seek each. */
export const pendingWebhooks: SQL = sql`
  recursive hooks (id) as (
    select min(webhook_id) from deliveries indexed by deliveries_due where status = 'pending'
    union all
    select (select min(webhook_id) from deliveries indexed by deliveries_due
      where status = 'pending' and webhook_id > hooks.id)
    from hooks where hooks.id is not null)`;

/**
 * Finds what was lost: wakes webhooks whose first due delivery nobody has claimed, and fan-outs that have stopped. Stores since when the oldest of these deliveries has been due, for `/health`. Returns how many messages
 * it sent.
 */
export async function sweep(env: Env, now = Date.now()): Promise<number> {
  const db = openDatabase(env);
  const [webhooks, fanOuts] = await transaction(
    db,
    [
      statement<{ webhookId: string; accountId: string; dueAt: number }>(
        db,
        sql`
        with ${pendingWebhooks},
        heads as (
          select id, (select json_array(claimed_until, next_attempt_at, account_id)
            from ${dueDeliveries(sql`hooks.id`, now - graceMs)} limit 1) as head
          from hooks where id is not null)
        select id as webhookId, head->>1 as dueAt, head->>2 as accountId
        from heads left join webhook_health h on h.webhook_id = id
        where head->>0 <= ${now} and not coalesce(h.failures >= ${circuitAfter} and h.open_until > ${now}, 0)
          ${andNotAway(env, sql`head->>2`)}
        limit ${maxWebhooks}`,
      ),
      statement<{ id: string }>(
        db,
        sql`select id from fan_outs where id < ${firstIdAt(now - graceMs)}
          ${andNotAway(env, sql`account_id`)} limit ${maxFanOuts}`,
      ),
    ],
    { repeatable: true },
  );
  const oldest = webhooks.length > 0 ? Math.min(...webhooks.map(({ dueAt }) => dueAt)) : null;
  await db.run(sql`
    insert into sweeps (id, at, oldest_due_at) values (1, ${now}, ${oldest})
    on conflict (id) do update set at = excluded.at, oldest_due_at = excluded.oldest_due_at`);
  return send(env.DELIVERIES, [
    ...webhooks.flatMap(({ accountId, webhookId }) => wakeOf(accountId, [webhookId])),
    ...fanOuts.map(({ id }) => ({ fanOut: id })),
  ]);
}
