import { config, originOf } from '../core/platform/config.ts';
import type { Caller } from '../core/platform/db/guard.ts';
import { startLook } from '../people/looks.ts';
import { renderMail } from '../people/mail/render.ts';
import { sendMail } from '../people/mail/send.ts';
import { minuteOf } from '../texts/words.ts';

/** Lets an operator look at an account's portal, and emails its admins about it. */
export async function look(env: Env, caller: Caller, reason: string) {
  const { url, until, account, admins } = await startLook(env, caller, reason);
  const text =
    `An operator of the Fleet Data Service can view the portal of ${account} until ${minuteOf(until)}. They see what a ` +
    `viewer sees, and cannot change anything. Their reason: ${reason}`;
  const link = { url: `${originOf(env)}/portal/settings/audit`, label: 'Audit log' };
  const footer = { text: `You get this email because you are an admin of ${account}.` };
  const { parts: _, ...mail } = await renderMail(
    'An operator is viewing your portal',
    [{ text, link }],
    footer,
  );
  const sent = config(env).emailFrom
    ? await Promise.allSettled(admins.map((to) => sendMail(env, { to, ...mail })))
    : [];
  const emailed = sent.filter(({ status }) => status === 'fulfilled').length;
  return { url, expiresAt: until, admins: admins.length, emailed };
}
