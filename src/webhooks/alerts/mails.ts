import { sendMail } from '../../accounts/mail.ts';
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

/** Of the six connections that an invocation can have waiting, one is left to D1. */
const mailsAtOnce = 5;

/** Sends each email by itself, so that one address that fails stops no other. Returns how many were sent. */
export async function sendMails(env: Env, mails: AlertMail[]): Promise<number> {
  let sent = 0;
  const waiting = mails.flatMap((mail) => mail.emails.map((to) => ({ mail, to })));
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      if (await sendOne(env, next.mail, next.to)) sent++;
  };
  await Promise.all(Array.from({ length: mailsAtOnce }, worker));
  return sent;
}

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
