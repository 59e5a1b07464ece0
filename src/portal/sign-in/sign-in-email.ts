import { sendMail } from '../../accounts/mail.ts';
import { createSignInLinks, linkMs, type SignInLink, signInUrl } from '../../accounts/sessions.ts';
import { config } from '../../platform/config.ts';
import { fault } from '../../platform/log.ts';
import { renderMail } from '../../platform/mail.ts';

/** How many minutes a sign-in link works. */
export const linkMinutes = linkMs / 60_000;

/**
 * Emails new sign-in links to a person, with `accountId` only one to that account; does nothing if nobody has this
 * address, or if this deployment sends no mail: operators then hand out links. A failure goes to the log only: the
 * sender of the request must not learn from it who has an account.
 */
export async function emailSignInLinks(env: Env, email: string, accountId?: string): Promise<void> {
  if (!config(env).emailFrom) return;
  try {
    const links = await createSignInLinks(env, email, accountId);
    if (links.length > 0) await send(env, email, links);
  } catch {
    fault('error', { message: 'A sign-in link could not be sent' });
  }
}

async function send(env: Env, to: string, links: SignInLink[]): Promise<void> {
  const request =
    links.length > 1
      ? 'Several accounts of the Fleet Data Service have invited you. Open the link of the one to join:'
      : 'Open this link to sign in to the Fleet Data Service:';
  const parts = links.map((link) => ({
    text: link.pending ? `${link.account} invites you:` : '',
    link: {
      url: signInUrl(env, link),
      label: link.pending ? `Join ${link.account}` : 'Sign in',
      button: true,
    },
  }));
  const note = 'It works once and expires after 15 minutes. If you did not expect this email, ignore it.';
  await sendMail(env, {
    to,
    ...(await renderMail('Your sign-in link', [{ text: request }, ...parts], { text: note })),
  });
}
