import { type SQL, sql } from 'drizzle-orm';
import { config } from '../../platform/config.ts';
import { openDatabase, transaction } from '../../platform/db/database.ts';
import { isLeft, newBudget } from '../../platform/jobs/budget.ts';
import { hasChanged, noticeChanges } from '../deliveries/receiver-changes.ts';
import { type Alert, renderEmail } from './email.ts';
import { sendMails } from './mails.ts';
import { type AlertKind, decide } from './policy.ts';
import {
  asRecipients,
  asReport,
  type Recipients,
  selectRecipients,
  selectReports,
  type WebhookReport,
} from './report.ts';
import { claimAlerts, type Decided, dueAlerts, selectDue, takeChanges } from './state.ts';

/** How many accounts are notified at a time, those due first before others: 20 s of emails at most. */
export const maxAccounts = 10;

/** How many webhooks an email names. */
export const maxNamed = 10;

/**
 * Notifies people and channels of paused receivers, failed deliveries and receivers that work again: one message per
 * kind and recipient, for all of the account's webhooks that are due. Alerts are recorded before they are sent, so
 * nobody is notified twice, and not at all if the run is killed in between. Returns how many messages it sent.
 */
export async function sendAlerts(env: Env, now = Date.now(), budget = newBudget()): Promise<number> {
  let sent = 0;
  while (isLeft(budget)) {
    const { alerts, more } = await claimDue(env, now);
    sent += await send(env, alerts, now);
    if (!more) break;
  }
  return sent;
}

/** SQL for whether `sendAlerts` has work. */
export const alertsAreDue = (env: Env, now: number): SQL =>
  sql`(${hasChanged(env)} or exists (${dueAlerts(env, now)}))`;

async function send(env: Env, alerts: Addressed[], now: number): Promise<number> {
  const { origin } = config(env);
  if (alerts.length === 0) return 0;
  if (!origin) throw new Error('ORIGIN is not set, so that emails have no links. Run npm run deploy again.');
  const mails = await Promise.all(
    alerts.map(async (alert) => ({ ...alert, ...(await renderEmail(alert, origin)) })),
  );
  return sendMails(env, mails, now);
}

type Addressed = Alert & Recipients;

/** The emails to send now, and whether more may follow. */
async function claimDue(env: Env, now: number): Promise<{ alerts: Addressed[]; more: boolean }> {
  const db = openDatabase(env);
  const [, , , , , , due] = await transaction(
    db,
    [...takeChanges(env, db, now), ...noticeChanges(env, db, now), selectDue(env, db, now)],
    { repeatable: true },
  );
  const decided = withinBounds(due.map((alert) => ({ alert, ...decide(alert, now) })));
  const more = decided.length < due.length;
  if (decided.length === 0) return { alerts: [], more: false };
  const telling = byAccountAndKind(decided);
  const named = telling.flatMap(({ about }) => about.slice(0, maxNamed).map(({ webhookId }) => webhookId));
  const [claimed, recipients, reports] = await transaction(
    db,
    [
      claimAlerts(db, decided, now),
      selectRecipients(env, db, [...new Set(telling.map(({ accountId }) => accountId))]),
      selectReports(db, [...new Set(named)]),
    ],
    { repeatable: true },
  );
  const ours = new Set(claimed.map(({ webhookId }) => webhookId));
  const people = new Map(recipients.map((row) => [row.accountId, asRecipients(row)]));
  const known = new Map(reports.map((row) => [row.webhookId, asReport(row)]));
  const alerts = telling.flatMap(({ about, ...rest }) =>
    address({ ...rest, about: about.filter(({ webhookId }) => ours.has(webhookId)) }, people, known),
  );
  return { alerts, more };
}

/** Limits the accounts to notify. */
function withinBounds(decided: Decided[]): Decided[] {
  const telling = decided.flatMap(({ alert, kinds }) => (kinds.length > 0 ? [alert.accountId] : []));
  const accounts = new Set([...new Set(telling)].slice(0, maxAccounts));
  return decided.filter(({ alert, kinds }) => kinds.length === 0 || accounts.has(alert.accountId));
}

type Telling = { accountId: string; kind: AlertKind; about: Decided['alert'][] };

function byAccountAndKind(decided: Decided[]): Telling[] {
  const groups = new Map<string, Telling>();
  for (const { alert, kinds } of decided)
    for (const kind of kinds) {
      const { accountId } = alert;
      const group = groups.get(`${accountId} ${kind}`) ?? { accountId, kind, about: [] };
      groups.set(`${accountId} ${kind}`, group);
      group.about.push(alert);
    }
  return [...groups.values()];
}

/** The email, unless it has no recipient or its webhooks no longer exist. */
function address(
  { accountId, kind, about }: Telling,
  people: Map<string, Recipients>,
  known: Map<string, WebhookReport>,
): Addressed[] {
  const to = people.get(accountId);
  if (!to || to.emails.length + to.channels.length === 0) return [];
  const named = about.flatMap((alert) => {
    const report = known.get(alert.webhookId);
    return report ? [{ ...alert, ...report }] : [];
  });
  const webhooks = named.slice(0, maxNamed);
  return webhooks.length > 0 ? [{ ...to, kind, webhooks, others: about.length - webhooks.length }] : [];
}
