import { type SQL, sql } from 'drizzle-orm';
import { transaction } from '../../core/platform/db/database.ts';
import { ofActiveAccount } from '../../core/platform/db/guard.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { hourMs } from '../../core/platform/durations.ts';
import { inSteps, newBudget } from '../../core/platform/jobs/budget.ts';
import { pausedAfterMs } from '../../core/webhooks/deliveries/policy.ts';
import { type AlertKind, markNotified } from '../../core/webhooks/deliveries/receiver/store.ts';
import { addNews, alertedOf } from './pending.ts';
import { wakeSender } from './sending.ts';

export const quietMs = hourMs;

/** How many webhooks a step reads, as many as one account can have, and of how many accounts it notifies. */
const maxWebhooks = 1000;
const maxAccounts = 20;

const kinds = ['paused', 'failed', 'working'] as const satisfies AlertKind[];

/** As in the partial index: paused without people knowing, or working without that. */
const isNews = sql`(paused_since is null) = (paused_alert_at > working_alert_at)`;

/** The webhooks that an alert is due for, with how many deliveries have failed since the last one. */
const dueOf: { [kind in AlertKind]: (now: number) => SQL } = {
  paused: (now) => sql`(
    select webhook_id, null as failed from webhook_health indexed by webhook_health_news
    where ${isNews} and paused_since <= ${now - pausedAfterMs}
      and paused_alert_at <= ${now - quietMs})`,
  failed: (now) => sql`(
    select c.webhook_id, sum(c.failed - c.noticed) as failed
    from webhook_hours c indexed by webhook_hours_newly_failed
    left join webhook_health h on h.webhook_id = c.webhook_id
    where c.failed > c.noticed and coalesce(h.failed_alert_at, 0) <= ${now - quietMs}
    group by c.webhook_id)`,
  working: (now) => sql`(
    select webhook_id, null as failed from webhook_health indexed by webhook_health_news
    where ${isNews} and paused_since is null and working_alert_at <= ${now - quietMs})`,
};

const dueWebhooks = (kind: AlertKind, now: number): SQL => sql`(
  select w.id, w.account_id, w.name, w.url, d.failed
  from ${dueOf[kind](now)} d cross join webhooks w on w.id = d.webhook_id
  where ${ofActiveAccount(sql`w.account_id`)})`;

/** Those of a step: of the first that are due, all of some accounts. */
const ofStep = (kind: AlertKind, now: number): SQL => sql`(
  select * from (
    select *, dense_rank() over (order by account_id) as place
    from (select * from ${dueWebhooks(kind, now)} limit ${maxWebhooks}))
  where place <= ${maxAccounts})`;

/** SQL for whether `sendAlerts` has work. Partial indexes hold what people do not know. */
export const alertsAreDue = (now: number): SQL =>
  sql`(${sql.join(
    kinds.map((kind) => sql`exists ${dueWebhooks(kind, now)}`),
    sql` or `,
  )})`;

/** Notifies people and channels of paused receivers, failed deliveries and receivers that work again. */
export async function sendAlerts(env: Env, now = Date.now(), budget = newBudget()): Promise<void> {
  const db = openDatabase(env);
  for (const kind of kinds)
    await inSteps(budget, async () => {
      const news = sql`(
        select w.account_id, r.value as recipient_id, json_object('id', w.id, 'name', w.name,
          'url', iif(w.name is null, w.url, null), 'failed', w.failed,
          'pausedSince', h.paused_since, 'lastFailure', json(h.last_failure)) as item
        from ${ofStep(kind, now)} w
        cross join accounts a on a.id = w.account_id cross join ${alertedOf}
        left join webhook_health h on h.webhook_id = w.id)`;
      const statements = {
        added: addNews(env, db, kind, news, now),
        ...markNotified(db, kind, ofStep(kind, now), now),
      };
      const { added, marked } = await transaction(db, statements, { repeatable: true });
      await wakeSender(env, added);
      return marked.meta.changes > 0;
    });
}
