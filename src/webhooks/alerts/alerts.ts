import { type SQL, sql } from 'drizzle-orm';
import { statement } from '../../platform/db/database.ts';
import { notMoving } from '../../platform/db/guard.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { dayMs, hourMs, minuteMs } from '../../platform/durations.ts';
import { inSteps, newBudget } from '../../platform/jobs/budget.ts';
import type { MailPart } from '../../platform/mail.ts';
import { counted } from '../../platform/text.ts';
import { minuteOf } from '../../platform/times.ts';
import { circuitLongestMs, giveUpAfterMs } from '../deliveries/policy.ts';
import { type AlertKind, noteNotified } from '../deliveries/receiver/health.ts';
import { type Alert, portalOf, queueAlerts } from './messages.ts';
import { failureDescription } from './words.ts';

/** How long a receiver must be paused before people are notified. */
export const pausedAfterMs = 15 * minuteMs;

/** How long after an alert of a kind about a webhook the next one of that kind is sent. */
export const quietMs = hourMs;

/** How many alerts about webhooks a step covers; as many as one account can have webhooks. */
const maxAlerts = 1000;

/** How many webhooks a message names. */
export const maxNamed = 10;

/** An alert that is due about a webhook. Times are milliseconds since 1970. */
type Due = {
  kind: AlertKind;
  webhookId: string;
  accountId: string;
  name: string | null;
  url: string;
  pausedSince: number | null;
  /** Deliveries that failed since the last alert about such, and their counters as `[slot, failed]`. */
  failed: number | null;
  counters: string | null;
  lastFailure: string | null;
};

/** As in the partial index: paused without people knowing, or working without that. */
const isNews = sql.raw('(paused_since is null) = (paused_alert_at > working_alert_at)');

/** The `webhook_id` of the webhooks that an alert is due for, with how many deliveries have `failed`, and their counters. */
const dueOf: { [kind in AlertKind]: (quietSince: number, now: number) => SQL } = {
  paused: (quietSince, now) => sql`
    select webhook_id, null as failed, null as counters from webhook_health indexed by webhook_health_news
    where ${isNews} and paused_since <= ${now - pausedAfterMs} and paused_alert_at <= ${quietSince}`,
  failed: (quietSince) => sql`
    select c.webhook_id, sum(c.failed - c.noticed) as failed, json_group_array(json_array(c.slot, c.failed)) as counters
    from webhook_hours c indexed by webhook_hours_newly_failed
    left join webhook_health h on h.webhook_id = c.webhook_id
    where c.failed > c.noticed and coalesce(h.failed_alert_at, 0) <= ${quietSince} group by c.webhook_id`,
  working: (quietSince) => sql`
    select webhook_id, null as failed, null as counters from webhook_health indexed by webhook_health_news
    where ${isNews} and paused_since is null and working_alert_at <= ${quietSince}`,
};

const kinds = ['paused', 'failed', 'working'] as const satisfies AlertKind[];

const dueAlerts = (now: number): SQL => sql`
  select * from (${sql.join(
    kinds.map(
      (kind) => sql`
        select ${kind} as kind, w.id as webhookId, w.account_id as accountId, w.name, w.url, d.failed, d.counters,
          h.paused_since as pausedSince, h.last_failure as lastFailure
        from (${dueOf[kind](now - quietMs, now)}) d cross join webhooks w on w.id = d.webhook_id
        left join webhook_health h on h.webhook_id = w.id
        where true and ${notMoving(sql`w.account_id`)}`,
    ),
    sql` union all `,
  )}) limit ${maxAlerts}`;

/** SQL for whether `sendAlerts` has work. Partial indexes hold what people do not know. */
export const alertsAreDue = (now: number): SQL => sql`exists (${dueAlerts(now)})`;

/**
 * Notifies people and channels of paused receivers, failed deliveries and receivers that work again: one message per
 * kind and recipient, for all of the account's webhooks that are due. Returns how many messages it queued.
 */
export async function sendAlerts(env: Env, now = Date.now(), budget = newBudget()): Promise<number> {
  const db = openDatabase(env);
  let queued = 0;
  await inSteps(budget, async () => {
    const due = await statement<Due>(db)`${dueAlerts(now)}`;
    if (due.length === 0) return false;
    const groups = Map.groupBy(due, ({ accountId, kind }) => `${accountId} ${kind}`);
    const alerts = [...groups.values()].flatMap((group) => alertOf(group, portalOf(env)));
    queued += await queueAlerts(env, db, alerts, now, noteNotified(db, due, now, now - quietMs));
    return due.length === maxAlerts;
  });
  return queued;
}

/**
 * The alert of a kind about webhooks of an account. Those without a name are named by their host only, because paths and
 * queries can hold secrets.
 */
function alertOf(due: Due[], portal: string): Alert[] {
  const [first] = due;
  if (!first) return [];
  const { accountId, kind } = first;
  const { does, story, advice } = texts[kind];
  const what = due.length === 1 ? titleOf(first) : counted(due.length, 'webhook', 'webhooks');
  const parts: MailPart[] = due.slice(0, maxNamed).map((webhook) => ({
    name: titleOf(webhook),
    text: story(webhook),
    link: { url: `${portal}/webhooks/${webhook.webhookId}`, label: 'Open the webhook' },
  }));
  const others = due.length - parts.length;
  if (others > 0)
    parts.push({
      text: `And ${counted(others, 'other webhook', 'other webhooks')}:`,
      link: { url: `${portal}/webhooks`, label: 'All webhooks' },
    });
  return [{ accountId, kind, subject: `Deliveries to ${what} ${does}`, parts: [...parts, { text: advice }] }];
}

const titleOf = ({ name, url }: Due): string => name ?? new URL(url).host;

const lately = ({ lastFailure }: Due): string =>
  lastFailure === null ? '' : ` Your receiver ${failureDescription(JSON.parse(lastFailure))}.`;

const replay = 'open the webhook and choose “Replay deliveries”.';

/** The text of each kind of alert. `does` follows what it is about in the subject, and `story` its name. */
const texts: {
  [kind in AlertKind]: { does: string; story: (webhook: Due) => string; advice: string };
} = {
  paused: {
    does: 'are paused',
    story: (webhook) => `paused since ${minuteOf(webhook.pausedSince ?? 0)}.${lately(webhook)}`,
    advice: `We have paused deliveries, because calls keep failing. Please check your receiver. Every ${circuitLongestMs / minuteMs} minutes or sooner we try one delivery. When it succeeds, everything that waited is delivered. A delivery that has waited for ${giveUpAfterMs / dayMs} days has failed.`,
  },
  failed: {
    does: 'have failed',
    story: (webhook) =>
      `${counted(webhook.failed ?? 0, 'delivery', 'deliveries')} failed for good.${lately(webhook)}`,
    advice: `We do not retry them. Once your receiver works, ${replay}`,
  },
  working: {
    does: 'arrive again',
    story: () => 'works again.',
    advice: `Pending deliveries are sent automatically. If deliveries have failed in the meantime, ${replay}`,
  },
};
