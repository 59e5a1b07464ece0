import { type SQL, sql } from 'drizzle-orm';
import { config } from '../../platform/config.ts';
import {
  change,
  type Database,
  jsonList,
  openDatabase,
  statement,
  transaction,
} from '../../platform/db/database.ts';
import { andNotMoving } from '../../platform/db/moving.ts';
import { isLeft, newBudget } from '../../platform/jobs/budget.ts';
import {
  hasChanged,
  newlyFailed,
  newlyPaused,
  newlyWorking,
  noticeChanges,
} from '../deliveries/receiver-changes.ts';
import { type AlertedWebhook, alertText } from './alert-text.ts';
import { findRecipients, queueMessages } from './messages.ts';
import { type AlertKind, type AlertState, decide } from './policy.ts';

/** How many webhooks a run checks; as many as one account can have. */
const maxLookedAt = 1000;

type DueAlert = AlertState & { webhookId: string; accountId: string; dueAt: number };

/** A decision: what to notify of now, and when to check again. */
type Decided = { alert: DueAlert; kinds: AlertKind[]; nextAt: number | null };

/**
 * Notifies people and channels of paused receivers, failed deliveries and receivers that work again: one message per
 * kind and recipient, for all of the account's webhooks that are due. Alerts are recorded before they are queued, so
 * nobody is notified twice, and not at all if the run is killed in between. Returns how many messages it queued.
 */
export async function sendAlerts(env: Env, now = Date.now(), budget = newBudget()): Promise<number> {
  const db = openDatabase(env);
  let queued = 0;
  for (let more = true; more && isLeft(budget); ) {
    const [, , , , , , due] = await transaction(
      db,
      [
        ...takeChanges(env, db, now),
        ...noticeChanges(env, db, now),
        statement<DueAlert>(db)`${dueAlerts(env, now)}`,
      ],
      { repeatable: true },
    );
    if (due.length > 0) queued += await queue(env, db, due, now);
    more = due.length === maxLookedAt;
  }
  return queued;
}

/** SQL for whether `sendAlerts` has work. */
export const alertsAreDue = (env: Env, now: number): SQL =>
  sql`(${hasChanged(env)} or exists (${dueAlerts(env, now)}))`;

async function queue(env: Env, db: Database, due: DueAlert[], now: number): Promise<number> {
  const decided = due.map((alert) => ({ alert, ...decide(alert, now) }));
  const wanted = decided.flatMap(({ alert, kinds }) => kinds.map((kind) => ({ ...alert, kind })));
  const { origin } = config(env);
  if (wanted.length > 0 && !origin)
    throw new Error('ORIGIN is not set, so that emails have no links. Run npm run deploy again.');
  const [claimed, webhooks] = await transaction(
    db,
    [
      claimAlerts(db, decided, now),
      selectWebhooks(db, [...new Set(wanted.map(({ webhookId }) => webhookId))]),
    ],
    { repeatable: true },
  );
  if (wanted.length === 0) return 0;
  const ours = new Set(claimed.map(({ webhookId }) => webhookId));
  const known = new Map(webhooks.map((row) => [row.webhookId, row]));
  const named = wanted.flatMap((alert): (AlertedWebhook & typeof alert)[] => {
    const webhook = ours.has(alert.webhookId) && known.get(alert.webhookId);
    if (!webhook) return [];
    return [{ ...alert, ...webhook, lastFailure: JSON.parse(webhook.lastFailure ?? 'null') }];
  });
  const recipients = await findRecipients(
    env,
    db,
    named.map(({ accountId }) => accountId),
  );
  const groups = Map.groupBy(named, ({ accountId, kind }) => `${accountId} ${kind}`);
  const notices = [...groups.values()].flatMap((about) => {
    const [{ accountId, kind } = { accountId: '', kind: 'failed' as const }] = about;
    const to = recipients.get(accountId);
    return to ? [{ ...to, kind, ...alertText(kind, about, `${origin}/portal`) }] : [];
  });
  return queueMessages(env, notices, now);
}

/** What is said of webhooks; deleted ones are left out. */
const selectWebhooks = (db: Database, ids: string[]) =>
  statement<Pick<AlertedWebhook, 'webhookId' | 'name' | 'url'> & { lastFailure: string | null }>(db)`
    select w.id as webhookId, w.name, w.url, h.last_failure as lastFailure
    from webhooks w left join webhook_health h on h.webhook_id = w.id where w.id in ${jsonList(ids)}`;

/** The statements that copy receivers' changes to `alerts`, to be checked now. */
const takeChanges = (env: Env, db: Database, now: number) =>
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
const dueAlerts = (env: Env, now: number): SQL => sql`
  select webhook_id as webhookId, account_id as accountId, paused_from as pausedFrom, paused_to as pausedTo, failed,
    failed_from as failedFrom, paused_notified_at as pausedNotifiedAt, failed_notified_at as failedNotifiedAt,
    working_notified_at as workingNotifiedAt, due_at as dueAt
  from alerts indexed by alerts_due where due_at <= ${now}
    ${andNotMoving(env, sql`alerts.account_id`)} order by due_at limit ${maxLookedAt}`;

/**
 * Records alerts before they are queued, so that nobody is notified twice. Returns those that this run may send: not
 * those that another run has recorded, or that have changed since they were read, which the next run handles.
 */
function claimAlerts(db: Database, decided: Decided[], now: number) {
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
