import { config } from '../../platform/config.ts';
import { openDatabase, transaction } from '../../platform/db/database.ts';
import { described, fault } from '../../platform/log.ts';
import { noticeChanges } from '../deliveries/receiver-changes.ts';
import { type Alert, renderEmail } from './email.ts';
import { sendMails } from './mails.ts';
import { type AlertKind, decide } from './policy.ts';
import { asReport, type Recipients, selectRecipients, selectReports, type WebhookReport } from './report.ts';
import { claimAlerts, type Decided, selectDue, takeChanges } from './state.ts';

/** How many accounts a run tells something; the others are told in the next minutes, those due first before others. */
export const maxAccounts = 50;

/** How many webhooks an email names. */
export const maxNamed = 10;

/**
 * Tells accounts' people, by email, whose receivers have been paused, whose deliveries have failed and whose receivers
 * work again, once a minute: one email for each kind of thing and person, about all of the account's webhooks that are
 * due. What is told is noted before it is sent, so nobody is told twice, and not at all if the run is killed in
 * between. Never throws: what fails is logged, and stops nothing else. Returns how many emails it sent.
 */
export async function sendAlerts(env: Env, now = Date.now()): Promise<number> {
  try {
    const alerts = await claimDue(env, now);
    const { emailFrom, origin } = config(env);
    if (!emailFrom || alerts.length === 0) return 0;
    if (!origin)
      throw new Error('ORIGIN is not set, so that emails have no links. Run npm run deploy again.');
    const mails = await Promise.all(
      alerts.map(async (alert) => ({ ...alert, ...(await renderEmail(alert, origin)) })),
    );
    return await sendMails(env, mails);
  } catch (error) {
    fault('error', { message: 'Alerts were interrupted', ...described(error) });
    return 0;
  }
}

type Addressed = Alert & Pick<Recipients, 'accountId' | 'emails'>;

/** One round trip when there is nothing to tell, as nearly always. */
async function claimDue(env: Env, now: number): Promise<Addressed[]> {
  const db = openDatabase(env);
  const [, , , , , , due] = await transaction(
    db,
    [...takeChanges(env, db, now), ...noticeChanges(env, db, now), selectDue(env, db, now)],
    { repeatable: true },
  );
  const decided = withinBounds(due.map((alert) => ({ alert, ...decide(alert, now) })));
  if (decided.length === 0) return [];
  const telling = byAccountAndKind(decided);
  const named = telling.flatMap(({ about }) => about.slice(0, maxNamed).map(({ webhookId }) => webhookId));
  const [claimed, recipients, reports] = await transaction(
    db,
    [
      claimAlerts(db, decided, now),
      selectRecipients(db, [...new Set(telling.map(({ accountId }) => accountId))]),
      selectReports(db, [...new Set(named)]),
    ],
    { repeatable: true },
  );
  const ours = new Set(claimed.map(({ webhookId }) => webhookId));
  const people = new Map(
    recipients.map((row) => [row.accountId, { ...row, emails: JSON.parse(row.emails) }]),
  );
  const known = new Map(reports.map((row) => [row.webhookId, asReport(row)]));
  return telling.flatMap(({ about, ...rest }) =>
    address({ ...rest, about: about.filter(({ webhookId }) => ours.has(webhookId)) }, people, known),
  );
}

/** Leaves out what there is to tell to accounts beyond the first so many. */
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

/** The email about them, unless there is nobody to get it, or none of the webhooks is there any more. */
function address(
  { accountId, kind, about }: Telling,
  people: Map<string, Recipients>,
  known: Map<string, WebhookReport>,
): Addressed[] {
  const to = people.get(accountId);
  if (!to || to.emails.length === 0) return [];
  const named = about.flatMap((alert) => {
    const report = known.get(alert.webhookId);
    return report ? [{ ...alert, ...report }] : [];
  });
  const webhooks = named.slice(0, maxNamed);
  return webhooks.length > 0 ? [{ ...to, kind, webhooks, others: about.length - webhooks.length }] : [];
}
