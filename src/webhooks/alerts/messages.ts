import type { BatchItem } from 'drizzle-orm/batch';
import { config } from '../../platform/config.ts';
import { change, type Database, jsonList, statement, transaction } from '../../platform/db/database.ts';
import { newId } from '../../platform/db/ids.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { dayMs } from '../../platform/durations.ts';
import { fault } from '../../platform/log.ts';
import type { MailPart } from '../../platform/mail.ts';
import { send } from '../../platform/queue.ts';

/** The job that sends what `queueMessages` has queued. */
export const messageJob = 'alert messages';

/**
 * How many messages the service queues in a day (UTC), and how many the people and channels of one account get. Cloudflare
 * limits emails per day, and sign-in links need room.
 */
export const maxPerDay = 1_000;
export const maxPerAccountAndDay = 200;

export const maxChannels = 10;

/** How long a message is retried. */
export const retriedForMs = 3 * dayMs;

export const channelTimeoutMs = 5_000;

/** How many people of an account are emailed, those added first. */
export const maxPeople = 20;

/** A message about an account: its kind, and the subject and parts of an email. */
export type AlertMessage = {
  accountId: string;
  account: string;
  kind: string;
  subject: string;
  parts: MailPart[];
};

/** A message with its recipients: the ids of users and channels. */
export type Notice = AlertMessage & { recipients: string[] };

/** An alert about an account's webhooks or connections. */
export type Alert = Omit<AlertMessage, 'account'>;

/** The URL of the portal, for links in messages. @throws Error, when the origin is not configured */
export function portalOf(env: Env): string {
  const { origin } = config(env);
  if (!origin) throw new Error('ORIGIN is not set, so that emails have no links. Run npm run deploy again.');
  return `${origin}/portal`;
}

/**
 * Queues messages for `messageJob`, in one transaction with the statements of `alongside`, which gets the notices that
 * are beyond the limits of the day: these are logged, not queued. Returns how many messages were queued.
 */
export async function queueMessages<N extends Notice>(
  env: Env,
  notices: N[],
  now: number,
  alongside: (left: ReadonlySet<N>) => BatchItem<'sqlite'>[] = () => [],
): Promise<number> {
  const db = openDatabase(env);
  const day = Math.floor(now / dayMs);
  const counts = await statement<{ accountId: string; sent: number }>(db)`
    select account_id as accountId, sent from alert_emails where day = ${day}`;
  const sent = new Map(counts.map(({ accountId, sent }) => [accountId, sent]));
  let total = [...sent.values()].reduce((sum, count) => sum + count, 0);
  const queued: object[] = [];
  const left = new Set<N>();
  for (const notice of notices) {
    const { accountId, account, kind, subject, parts } = notice;
    for (const recipientId of notice.recipients) {
      const before = sent.get(accountId) ?? 0;
      if (total >= maxPerDay || before >= maxPerAccountAndDay) {
        left.add(notice);
        continue;
      }
      sent.set(accountId, before + 1);
      total++;
      const message: AlertMessage = { accountId, account, kind, subject, parts };
      queued.push({ accountId, recipientId, id: newId(), message });
    }
  }
  if (left.size > 0) fault('error', { message: 'Alerts are over the limit of the day', left: left.size });
  await transaction(
    db,
    [
      change(db)`delete from alert_emails where day < ${day}`,
      change(db)`insert into alert_emails (account_id, day, sent)
          select key, ${day}, value from json_each(${JSON.stringify(Object.fromEntries(sent))}) where true
          on conflict do update set sent = max(sent, excluded.sent)`,
      change(db)`
        insert into alert_messages (account_id, recipient_id, id, message, due_at)
        select value->>'accountId', value->>'recipientId', value->>'id', value->'message', ${now}
        from json_each(${JSON.stringify(queued)}) where true on conflict do nothing`,
      ...alongside(left),
    ],
    { repeatable: true },
  );
  if (queued.length > 0) await send(env.DELIVERIES, [{ job: messageJob }]);
  return queued.length;
}

/**
 * Queues alerts for people of active accounts who can sign in and have these emails on, if the deployment sends email,
 * and for the channels, in one transaction with `noted`. Returns how many messages were queued.
 */
export async function queueAlerts(
  env: Env,
  db: Database,
  alerts: Alert[],
  now: number,
  noted: BatchItem<'sqlite'>[],
): Promise<number> {
  const accountIds = [...new Set(alerts.map(({ accountId }) => accountId))];
  const rows = await statement<{ accountId: string; account: string; recipients: string }>(db)`
    select a.id as accountId, a.name as account, (
      select json_group_array(id) from (
        select * from (
          select id from portal_users indexed by portal_users_alerted
          where account_id = a.id and confirmed_at is not null and gets_alerts = 1
          order by created_at, id limit ${config(env).emailFrom ? maxPeople : 0})
        union all select id from alert_channels where account_id = a.id and gets_alerts = 1)) as recipients
    from accounts a where a.id in ${jsonList(accountIds)} and a.status = 'active'`;
  const known = new Map(rows.map((row) => [row.accountId, row]));
  const notices = alerts.flatMap((alert) => {
    const to = known.get(alert.accountId);
    return to ? [{ ...alert, account: to.account, recipients: JSON.parse(to.recipients) }] : [];
  });
  return queueMessages(env, notices, now, () => noted);
}
