import { Hono } from 'hono';
import * as v from 'valibot';
import { Email } from '../accounts/people.ts';
import { isSecret } from '../accounts/secrets.ts';
import { signIn, signOut } from '../accounts/sessions.ts';
import type { App, Context } from '../http/context.ts';
import { limit, limitByAddress, withinLimit } from '../http/limits.ts';
import { seeOther } from '../http/redirect.ts';
import { hashToken } from '../tokens/format.ts';
import { Field, Problem } from './components.tsx';
import { readForm } from './form.ts';
import { page } from './layout.tsx';
import { forgetSession, signedIn, startSession } from './session.ts';
import { emailSignInLinks } from './sign-in-email.ts';

/** Signing in with a link, and signing out. */
export const signInPages = new Hono<App>()
  .get('/sign-in', (c) => requestPage(c))
  .post('/sign-in', requestLink)
  .get('/sign-in/:link', (c) => page(c, 'Sign in', <SignInButton />))
  .post('/sign-in/:link', signInByLink)
  .post('/sign-out', signedIn, (c) => endSession(c, false))
  .post('/sign-out-everywhere', signedIn, (c) => endSession(c, true));

const requestPage = (c: Context, problem?: string) =>
  page(
    c,
    'Sign in',
    <>
      <Problem message={problem} />
      <form method="post" action="/portal/sign-in">
        <Field
          name="email"
          label="Email address"
          type="email"
          required
          autocomplete="email"
          hint="We email you a link that signs you in. You need no password."
        />
        <button type="submit">Send link</button>
      </form>
    </>,
    problem ? 'invalid' : undefined,
  );

/** The reply is the same, and takes as long, whether or not somebody has the address. */
async function requestLink(c: Context) {
  await limitByAddress(c, 'LINK_REQUEST_LIMIT');
  const form = await readForm(c);
  const email = v.safeParse(Email, form.value('email'));
  if (!email.success) return requestPage(c, 'Enter a valid email address');
  c.executionCtx.waitUntil(emailWithinLimit(c.env, email.output));
  return page(
    c,
    'Check your email',
    <p>
      If this address can sign in here, a link is on its way. It works once and expires after 15 minutes.
    </p>,
  );
}

async function emailWithinLimit(env: Env, email: string): Promise<void> {
  if (await withinLimit(env, 'SIGN_IN_LIMIT', email)) await emailSignInLinks(env, email);
}

/** Email scanners open links, so that only this button may use one up. */
const SignInButton = () => (
  <form method="post">
    <p>One more step:</p>
    <button type="submit">Sign in</button>
  </form>
);

/** Only a link that we made is looked up, and is limited by itself: it never depends on others at the address. */
async function signInByLink(c: Context) {
  const link = c.req.param('link') ?? '';
  if (await isSecret(c.env, 'sign-in link', link)) await limit(c.env, 'LINK_LIMIT', await hashToken(link));
  const secret = await signIn(c.env, link);
  if (!secret) return requestPage(c, 'This link has expired or was already used. Request a new one.');
  startSession(c, secret);
  return seeOther(c, '/portal');
}

async function endSession(c: Context, everywhere: boolean) {
  await signOut(c.env, c.get('session'), everywhere);
  forgetSession(c);
  return seeOther(c, '/portal/sign-in');
}
