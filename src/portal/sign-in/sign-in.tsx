import { hashToken } from '../../core/accounts/tokens/format.ts';
import { config } from '../../core/platform/config.ts';
import { dayMs } from '../../core/platform/durations.ts';
import { Email } from '../../core/platform/fields.ts';
import { type Context, seeOther } from '../../core/platform/http/context.ts';
import { limit, limitByAddress, withinLimit } from '../../core/platform/http/limits.ts';
import { fault } from '../../core/platform/log.ts';
import { lookIn } from '../../people/looks.ts';
import { renderMail } from '../../people/mail/render.ts';
import { sendMail, whyNotSent } from '../../people/mail/send.ts';
import { isSecret, secretIn } from '../../people/secrets.ts';
import {
  createSignInLinks,
  invitationMs,
  linkMs,
  type SignInLink,
  signIn,
  signInUrl,
  signOut,
} from '../../people/sessions.ts';
import { added } from '../../ui/added.ts';
import { PostForm } from '../../ui/buttons.tsx';
import { drawn, handles, line } from '../../ui/forms/form-fields.tsx';
import { Form, FormError } from '../../ui/forms/forms.tsx';
import { page } from '../../ui/layout.tsx';
import { forgetSession, startSession } from '../../ui/session/signed-in.ts';
import { done, readForm } from '../../ui/submit.ts';

const linkMinutes = linkMs / 60_000;

const fields = {
  email: line('Email address', Email, { type: 'email', required: true, autocomplete: 'email' }),
};

/** The sign-in page; `problem` is what is wrong with a link. */
export function requestPage(c: Context, problem?: string) {
  return page(
    c,
    { title: 'Sign in to Fleet Data Service', lead: 'There is no password.' },
    <>
      <FormError message={problem} />
      <Form to="/portal/sign-in" look="grid gap-4">
        {drawn(fields)}
        <button class="btn btn-primary w-full" type="submit">
          Continue
        </button>
        <button class="btn btn-ghost w-full" type="submit" name="do" value="link">
          Email me a link
        </button>
      </Form>
      <p class="sub">
        A link works once, for {linkMinutes} minutes. {added(c, 'signIn')[0]?.byLink} No account
        yet? Ask an admin of your company to invite you.
      </p>
    </>,
    problem ? 'invalid' : undefined,
  );
}

/** The response and its timing depend on the domain alone, not on whether the address is known. */
export async function requestLink(c: Context) {
  await limitByAddress(c, 'LINK_REQUEST_LIMIT');
  return mail(c);
}

const mail = handles(fields, requestPage, async (c, { email }, form) => {
  const byLink = form.value('do') === 'link';
  // Also if a provider signs them in: they may be people of other accounts.
  c.executionCtx.waitUntil(emailWithinLimit(c, email, form.value('key')));
  const [signIn] = byLink ? [] : added(c, 'signIn');
  const elsewhere = await signIn?.begin(c, email);
  if (elsewhere) return elsewhere;
  return page(
    c,
    { title: 'Check your email' },
    <>
      <p>
        If this address can sign in here, a link is on its way. It works once and expires after{' '}
        {linkMinutes} minutes.
      </p>
      <p class="sub">
        Nothing there? Look in the spam folder, or <a href="/portal/sign-in">try again</a>.
      </p>
    </>,
  );
});

async function emailWithinLimit(c: Context, email: string, key: string): Promise<void> {
  const { env } = c;
  const form = { key, excluded: excludedIn(c) };
  if (await withinLimit(env, 'SIGN_IN_LIMIT', email)) await emailSignInLinks(env, email, form);
}

/** Whether somebody may not use links. */
const excludedIn = (c: Context) => added(c, 'signIn')[0]?.excluded;

/** Emails an invitation to an account, whose link works for a week. */
export const emailInvitation = (env: Env, email: string, accountId: string): Promise<void> =>
  sendLinks(env, email, `${invitationMs / dayMs} days`, () =>
    createSignInLinks(env, email, accountId, undefined, true),
  );

/** Emails sign-in links, for a form once. */
export function emailSignInLinks(
  env: Env,
  email: string,
  form?: Parameters<typeof createSignInLinks>[3],
): Promise<void> {
  return sendLinks(env, email, `${linkMinutes} minutes`, () =>
    createSignInLinks(env, email, undefined, form),
  );
}

/** Failures are only logged: nobody learns who has an account. */
async function sendLinks(
  env: Env,
  email: string,
  valid: string,
  create: () => Promise<SignInLink[]>,
): Promise<void> {
  if (!config(env).emailFrom) return;
  try {
    const links = await create();
    if (links.length > 0) await send(env, email, links, valid);
  } catch (error) {
    const { code, ours } = whyNotSent(error);
    fault('error', 'A sign-in link could not be sent', { code }, ours);
  }
}

async function send(env: Env, to: string, links: SignInLink[], valid: string): Promise<void> {
  const request =
    links.length > 1
      ? 'You can sign in to several accounts of the Fleet Data Service. Open the link of the one that you want:'
      : 'Open this link to sign in to the Fleet Data Service:';
  const parts = links.map((link) => ({
    text: link.pending
      ? `${link.account} invites you:`
      : links.length > 1
        ? `${link.account}:`
        : '',
    link: {
      url: signInUrl(env, link),
      label: link.pending ? `Join ${link.account}` : 'Sign in',
      button: true,
    },
  }));
  const note = `It works once and expires after ${valid}. If you did not expect this email, ignore it.`;
  await sendMail(env, {
    to,
    ...(await renderMail('Your sign-in link', [{ text: request }, ...parts], { text: note })),
  });
}

/** Email scanners open links, so only this button uses one up. */
export const confirm = (c: Context) =>
  page(
    c,
    { title: 'Sign in', lead: 'One more step.' },
    <PostForm>
      <button class="btn btn-primary w-full" type="submit">
        Sign in
      </button>
    </PostForm>,
  );

const expired =
  'This link has expired or was already used, or your company signs you in. Enter your address to continue.';

/** Only valid secrets are looked up, and each link has its own rate limit. */
export async function signInByLink(c: Context) {
  const link = secretIn(c.req.query('secret') ?? '');
  const look = await lookIn(c.env, link);
  if (look) {
    startSession(c, link, look.until - Date.now());
    return seeOther(c, '/portal');
  }
  if (await isSecret(c.env, 'sign-in link', link))
    await limit(c.env, 'LINK_LIMIT', await hashToken(link));
  const secret = await signIn(c.env, link, excludedIn(c), (await readForm(c)).value('key'));
  if (!secret) return requestPage(c, expired);
  startSession(c, secret);
  return seeOther(c, '/portal');
}

export async function endSession(c: Context, everywhere: boolean) {
  await signOut(c.env, c.get('session'), everywhere);
  forgetSession(c);
  return done(
    c,
    '/portal/sign-in',
    everywhere ? 'All of your sessions have ended.' : 'You are signed out.',
  );
}
