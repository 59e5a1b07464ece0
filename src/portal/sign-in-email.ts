import { html } from 'hono/html';
import { sendMail } from '../accounts/mail.ts';
import { createSignInLinks, type SignInLink, signInUrl } from '../accounts/sessions.ts';
import { config } from '../config.ts';
import { fault } from '../log.ts';

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
  const note = 'It works once and expires after 15 minutes. If you did not expect this email, ignore it.';
  const shown = links.map((link) => ({
    url: signInUrl(env, link),
    from: link.pending ? `${link.account} invites you: ` : '',
  }));
  await sendMail(env, {
    to,
    subject: 'Your sign-in link',
    text: [request, ...shown.map(({ from, url }) => from + url), note].join('\n\n'),
    html: String(
      await html`<p>${request}</p>${shown.map(({ from, url }) => html`<p>${from}<a href="${url}">${url}</a></p>`)}<p>${note}</p>`,
    ),
  });
}
