import { sendMail } from '../../accounts/mail.ts';
import { change, type Database, openDatabase, statement, transaction } from '../../platform/db/database.ts';
import { dayMs } from '../../platform/durations.ts';
import { fault } from '../../platform/log.ts';
import type { MailPart } from '../../platform/mail.ts';
import { send } from '../../platform/queue.ts';
import { channelJob, queueMessage } from './channel-queue.ts';

/** An alert for people and channels of an account. */
export type AlertMail = {
  accountId: string;
  account: string;
  kind: string;
  emails: string[];
  channels: string[];
  subject: string;
  parts: MailPart[];
  text: string;
  html: string;
};

/**
 * How many alerts a home sends in a day (UTC), and how many the people and channels of one account get. Cloudflare
 * limits emails per day, and sign-in links need room.
 */
export const maxPerDay = 1_000;
export const maxPerAccountAndDay = 200;

/** One of an invocation's six connections is left to D1. */
const mailsAtOnce = 5;

/**
 * Sends emails one by one, so that a failing address affects no other, and queues messages for channels. Those beyond
 * the limits of the day are logged, not sent. Returns how many were sent; `after` runs after each.
 */
export async function sendMails<M extends AlertMail>(
  env: Env,
  mails: M[],
  now = Date.now(),
  after: (mail: M) => Promise<unknown> = async () => {},
): Promise<number> {
  let sent = 0;
  const waiting = await withinLimits(
    env,
    mails.flatMap((mail) => [
      ...mail.emails.map((email) => ({ mail, to: { email } })),
      ...mail.channels.map((channel) => ({ mail, to: { channel } })),
    ]),
    Math.floor(now / dayMs),
  );
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      if (await sendOne(env, next.mail, next.to)) {
        sent++;
        await after(next.mail);
      }
  };
  const toChannels = waiting.some(({ to }) => 'channel' in to);
  await Promise.all(Array.from({ length: mailsAtOnce }, worker));
  if (toChannels) await send(env.DELIVERIES, [{ job: channelJob }]);
  return sent;
}

/** How many emails and channel messages accounts have got on a day. */
export async function sentOn(db: Database, day: number): Promise<Map<string, number>> {
  const counts = await statement<{ accountId: string; sent: number }>(db)`
    select account_id as accountId, sent from alert_emails where day = ${day}`;
  return new Map(counts.map(({ accountId, sent }) => [accountId, sent]));
}

type Addressed<M> = { mail: M; to: To };
type To = { email: string } | { channel: string };

/** The emails within the limits of the day, which count them as sent. */
async function withinLimits<M extends AlertMail>(
  env: Env,
  mails: Addressed<M>[],
  day: number,
): Promise<Addressed<M>[]> {
  if (mails.length === 0) return mails;
  const db = openDatabase(env);
  const sent = await sentOn(db, day);
  let total = [...sent.values()].reduce((sum, count) => sum + count, 0);
  const allowed = mails.filter(({ mail: { accountId } }) => {
    const before = sent.get(accountId) ?? 0;
    if (total >= maxPerDay || before >= maxPerAccountAndDay) return false;
    sent.set(accountId, before + 1);
    total++;
    return true;
  });
  if (allowed.length < mails.length)
    fault('error', { message: 'Alerts are over the limit of the day', left: mails.length - allowed.length });
  await transaction(
    db,
    [
      change(db)`delete from alert_emails where day < ${day}`,
      change(db)`insert into alert_emails (account_id, day, sent)
          select key, ${day}, value from json_each(${JSON.stringify(Object.fromEntries(sent))}) where true
          on conflict do update set sent = max(sent, excluded.sent)`,
    ],
    { repeatable: true },
  );
  return allowed;
}

async function sendOne(env: Env, mail: AlertMail, to: To): Promise<boolean> {
  const { accountId, kind, subject, text, html } = mail;
  try {
    if ('channel' in to) await queueMessage(openDatabase(env), to.channel, mail);
    else await sendMail(env, { to: to.email, subject, text, html });
    return true;
  } catch (error) {
    // The error's message may contain the address.
    fault('error', { message: 'An alert could not be sent', accountId, alert: kind, code: codeOf(error) });
    return false;
  }
}

/** The email service's error code, such as E_SENDER_NOT_VERIFIED; null if there is none. */
function codeOf(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^[A-Z_]{1,60}$/.test(code) ? code : null;
}
