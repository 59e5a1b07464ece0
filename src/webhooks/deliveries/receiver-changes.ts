import { type SQL, sql } from 'drizzle-orm';
import { change, type Database } from '../../platform/db/database.ts';
import { hasHomes } from '../../platform/homes/homes.ts';
import { circuitAfter } from './policy.ts';

/** How many changes of each kind are noticed per minute. */
export const maxNoticed = 1000;

const opensAt = sql.raw(String(circuitAfter)); // a literal, as in the partial indexes

/** Whether a webhook's account is not being moved. */
const ofOthers = (env: Env): SQL =>
  hasHomes(env)
    ? sql`and webhook_id not in (
        select w.id from moves m cross join webhooks w on w.account_id = m.account_id)`
    : sql.empty();

/** The `webhook_id` of webhooks whose circuit has opened since `noticeChanges` last ran. */
export const newlyPaused = (env: Env): SQL => sql`
  select webhook_id from webhook_health indexed by webhook_health_newly_paused
  where failures >= ${opensAt} and paused_since is null ${ofOthers(env)} order by webhook_id limit ${maxNoticed}`;

/** The `webhook_id` of those whose circuit has closed since then, which takes a delivered attempt. */
export const newlyWorking = (env: Env): SQL => sql`
  select webhook_id from webhook_health indexed by webhook_health_newly_working
  where failures < ${opensAt} and paused_since is not null ${ofOthers(env)} order by webhook_id limit ${maxNoticed}`;

/** The counters (`webhook_id`, `slot`, `failed`, `noticed`) of deliveries that have failed since then. */
export const newlyFailed = (env: Env): SQL => sql`
  select webhook_id, slot, failed, noticed from webhook_hours indexed by webhook_hours_newly_failed
  where failed > noticed ${ofOthers(env)} order by webhook_id, slot limit ${maxNoticed}`;

/** SQL for whether any of these three finds something. */
export const hasChanged = (env: Env): SQL =>
  sql`(exists (${newlyPaused(env)}) or exists (${newlyWorking(env)}) or exists (${newlyFailed(env)}))`;

/**
 * The statements that mark these three as noticed at `now`. Read them first, in the same transaction. A partial index
 * holds each, so that a minute without changes reads next to nothing, however many webhooks fail.
 */
export const noticeChanges = (env: Env, db: Database, now: number) =>
  [
    change(db)`update webhook_health set paused_since = ${now} where webhook_id in (${newlyPaused(env)})`,
    change(db)`update webhook_health set paused_since = null where webhook_id in (${newlyWorking(env)})`,
    change(db)`
      update webhook_hours set noticed = failed
      where (webhook_id, slot) in (select webhook_id, slot from (${newlyFailed(env)}))`,
  ] as const;
