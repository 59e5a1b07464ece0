import { sendMail } from '../accounts/mail.ts';
import { createSignInLink } from '../accounts/sessions.ts';
import { config } from '../config.ts';
import { fault } from '../log.ts';

/**
 * Emails a new sign-in link to a person; does nothing if nobody has this address, or if this deployment sends no mail:
 * operators then hand out links. `origin` is the portal's. A failure goes to the log only: the sender of the request
 * must not learn from it who has an account.
 */
export async function emailSignInLink(env: Env, email: string, origin: string): Promise<void> {
  if (!config(env).emailFrom) return;
  try {
    const secret = await createSignInLink(env, email);
    if (secret) await send(env, email, `${origin}/portal/sign-in/${secret}`);
  } catch {
    fault('error', { message: 'A sign-in link could not be sent' });
  }
}

async function send(env: Env, to: string, url: string): Promise<void> {
  const request = 'Open this link to sign in to the Fleet Data Service:';
  const note = 'It works once and expires after 15 minutes. If you did not expect this email, ignore it.';
  await sendMail(env, {
    to,
    subject: 'Your sign-in link',
    text: `${request}\n\n${url}\n\n${note}`,
    html: `<p>${request}</p><p><a href="${url}">${url}</a></p><p>${note}</p>`,
  });
}
