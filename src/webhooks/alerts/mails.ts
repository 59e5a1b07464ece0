import { sql } from 'drizzle-orm';
import { sendMail } from '../../accounts/mail.ts';
import { change, openDatabase, statement, transaction } from '../../platform/db/database.ts';
import { type Remover, untilNone } from '../../platform/jobs/chunks.ts';
import { fault } from '../../platform/log.ts';

/** An email to people of an account, about what `kind` says. */
export type AlertMail = {
  accountId: string;
  kind: string;
  emails: string[];
  subject: string;
  text: string;
  html: string;
};

/**
 * How many alerts are emailed in a day (UTC), from a home in all and to the people of one account: Cloudflare limits
 * what is sent in a day, and sign-in links need room.
 */
export const maxPerDay = 1_000;
export const maxPerAccountAndDay = 200;

/** Of the six connections that an invocation can have waiting, one is left to D1. */
const mailsAtOnce = 5;

const dayMs = 86_400_000;

/**
 * Sends each email by itself, so that one address that fails stops no other. Those beyond the limits of the day are
 * not sent, and logged. Returns how many were sent.
 */
export async function sendMails(env: Env, mails: AlertMail[], now = Date.now()): Promise<number> {
  let sent = 0;
  const waiting = await withinLimits(
    env,
    mails.flatMap((mail) => mail.emails.map((to) => ({ mail, to }))),
    Math.floor(now / dayMs),
  );
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      if (await sendOne(env, next.mail, next.to)) sent++;
  };
  await Promise.all(Array.from({ length: mailsAtOnce }, worker));
  return sent;
}

type Addressed = { mail: AlertMail; to: string };

/** The emails that the limits of the day leave room for; they count as sent. */
async function withinLimits(env: Env, mails: Addressed[], day: number): Promise<Addressed[]> {
  if (mails.length === 0) return mails;
  const db = openDatabase(env);
  const counts = await statement<{ accountId: string; sent: number }>(db)`
    select account_id as accountId, sent from alert_emails where day = ${day}`;
  const sent = new Map(counts.map(({ accountId, sent }) => [accountId, sent]));
  let total = counts.reduce((sum, count) => sum + count.sent, 0);
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

/** Deletes how many emails the account's people have got. */
export const removeEmailCounts: Remover = (env, { accountId }) =>
  untilNone(openDatabase(env), [sql`delete from alert_emails where account_id = ${accountId}`]);

async function sendOne(env: Env, mail: AlertMail, to: string): Promise<boolean> {
  const { accountId, kind, subject, text, html } = mail;
  try {
    await sendMail(env, { to, subject, text, html });
    return true;
  } catch (error) {
    // Not the error's message, which can contain the address.
    fault('error', { message: 'An alert could not be sent', accountId, alert: kind, code: codeOf(error) });
    return false;
  }
}

/** The email service's own word for what went wrong, such as E_SENDER_NOT_VERIFIED; null if it has none. */
function codeOf(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^[A-Z_]{1,60}$/.test(code) ? code : null;
}
