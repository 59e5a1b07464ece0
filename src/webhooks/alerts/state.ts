import { type SQL, sql } from 'drizzle-orm';
import { change, type Database, statement } from '../../platform/db/database.ts';
import { andNotMoving } from '../../platform/db/moving.ts';
import { newlyFailed, newlyPaused, newlyWorking } from '../deliveries/receiver-changes.ts';
import type { AlertKind, AlertState } from './policy.ts';

export type DueAlert = AlertState & { webhookId: string; accountId: string; dueAt: number };

/** A decision: what to notify of now, and when to check again. */
export type Decided = { alert: DueAlert; kinds: AlertKind[]; nextAt: number | null };

/** How many webhooks a run checks; as many as one account can have. */
export const maxLookedAt = 1000;

/** The statements that copy receivers' changes to `alerts`, to be checked now. */
export const takeChanges = (env: Env, db: Database, now: number) =>
  [
    change(db)`
      insert into alerts (webhook_id, account_id, paused_from, due_at)
      select w.id, w.account_id, ${now}, ${now} from (${newlyPaused(env)}) p cross join webhooks w on w.id = p.webhook_id
      where true
      on conflict (webhook_id) do update set
        paused_from = excluded.paused_from, paused_to = null, due_at = excluded.due_at`,
    change(db)`
      update alerts set paused_to = ${now}, due_at = ${now} where webhook_id in (${newlyWorking(env)})`,
    change(db)`
      insert into alerts (webhook_id, account_id, failed, failed_from, due_at)
      select w.id, w.account_id, f.failed, ${now}, ${now}
      from (select webhook_id, sum(failed - noticed) as failed from (${newlyFailed(env)}) group by webhook_id) f
      cross join webhooks w on w.id = f.webhook_id
      where true
      on conflict (webhook_id) do update set
        failed = alerts.failed + excluded.failed,
        failed_from = iif(alerts.failed > 0, alerts.failed_from, excluded.failed_from),
        due_at = excluded.due_at`,
  ] as const;

/** The webhooks to check, those that have waited longest first. */
export const selectDue = (env: Env, db: Database, now: number) =>
  statement<DueAlert>(db)`${dueAlerts(env, now)}`;

export const dueAlerts = (env: Env, now: number): SQL => sql`
  select webhook_id as webhookId, account_id as accountId, paused_from as pausedFrom, paused_to as pausedTo, failed,
    failed_from as failedFrom, paused_notified_at as pausedNotifiedAt, failed_notified_at as failedNotifiedAt,
    working_notified_at as workingNotifiedAt, due_at as dueAt
  from alerts indexed by alerts_due where due_at <= ${now}
    ${andNotMoving(env, sql`alerts.account_id`)} order by due_at limit ${maxLookedAt}`;

/**
 * Records alerts before they are sent, so that nobody is notified twice. Returns those that this run may send: not
 * those that another run has recorded, or that have changed since they were read, which the next run handles.
 */
export function claimAlerts(db: Database, decided: Decided[], now: number) {
  const rows = decided.map(({ alert: { webhookId, dueAt, failed }, kinds, nextAt }) => ({
    webhookId,
    dueAt,
    failed,
    nextAt,
    notified: Object.fromEntries(kinds.map((kind) => [kind, now])),
  }));
  return statement<{ webhookId: string }>(db)`
    update alerts set
      paused_notified_at = coalesce(r.value->>'$.notified.paused', paused_notified_at),
      failed_notified_at = coalesce(r.value->>'$.notified.failed', failed_notified_at),
      working_notified_at = coalesce(r.value->>'$.notified.working', working_notified_at),
      failed = iif(r.value->>'$.notified.failed', 0, failed),
      due_at = r.value->>'nextAt'
    from json_each(${JSON.stringify(rows)}) r
    where webhook_id = r.value->>'webhookId' and due_at = r.value->>'dueAt' and failed = r.value->>'failed'
    returning webhook_id as webhookId`;
}
